"""The target models of a collection: which there are, and what calling them is frozen as."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from judging.errors import PassError
from judging.llm.endpoints import find_model, load_endpoints
from judging.llm.offers import OfferedModel, offered_models
from judging.passes.seats import JudgeSeat

TARGET_ROLE = "target"


def offered_targets() -> list[OfferedModel]:
    """Target models of the endpoints file and the presets, those with a key first.

    Raises:
        EndpointError: the endpoints file cannot be read.
    """
    return offered_models(load_endpoints(settings.ENDPOINTS_FILE), TARGET_ROLE)


def seat_targets(slugs: Sequence[str]) -> list[JudgeSeat]:
    """Find endpoint and model of each target model, by slug. Stores nothing.

    Raises:
        PassError: no model, one twice, or one that is not offered as a target.
        EndpointError: the endpoints file offers no such model.
    """
    if not slugs:
        raise PassError(
            "A collection needs at least one target model. Name one with --model.", code="no_target"
        )
    if len(set(slugs)) != len(slugs):
        raise PassError(f"A model is named twice: {', '.join(slugs)}. Name each once.", code="target_twice")
    endpoints = load_endpoints(settings.ENDPOINTS_FILE)
    seats = []
    for slug in sorted(slugs):
        endpoint, model = find_model(endpoints, slug)
        if TARGET_ROLE not in model.roles:
            raise PassError(
                f"The endpoints file does not offer {slug!r} as a target model "
                f"(roles: {', '.join(model.roles)}). Add the role {TARGET_ROLE!r} to it, or name another.",
                code="not_a_target",
            )
        seats.append(JudgeSeat(endpoint=endpoint, model=model))
    return seats


def freeze_targets(seats: Sequence[JudgeSeat], *, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Where each target model is called and with what, as plain JSON by slug."""
    return {
        seat.slug: {
            "endpoint": seat.endpoint.name,
            "base_url": seat.endpoint.base_url,
            "model_id": seat.model.model_id,
            "parameters": dict(parameters),
        }
        for seat in seats
    }
