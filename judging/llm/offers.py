"""What the endpoints file offers for a role, and whether it could be called now."""

from collections.abc import Mapping
from dataclasses import dataclass

from judging.llm.endpoints import Endpoint
from judging.llm.keys import has_key


@dataclass(frozen=True, kw_only=True)
class OfferedModel:
    """A model that may be chosen, and whether its key is at hand. What runs here has no endpoint."""

    slug: str
    short_name: str
    endpoint_name: str | None
    has_key: bool


def offered_models(endpoints: Mapping[str, Endpoint], role: str) -> list[OfferedModel]:
    """The models that have a role, those with a key first, then by slug.

    Args:
        endpoints: from `endpoints.load_endpoints`.
        role: one of `endpoints.ROLES`.
    """
    offered = [
        OfferedModel(
            slug=model.slug,
            short_name=model.short_name,
            endpoint_name=endpoint.name,
            has_key=endpoint.key_variable is None or has_key(endpoint.key_variable),
        )
        for endpoint in endpoints.values()
        for model in endpoint.models
        if role in model.roles
    ]
    return sorted(offered, key=lambda model: (not model.has_key, model.slug))
