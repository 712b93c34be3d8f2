"""What can turn texts into vectors: TF-IDF on this machine, or a model of the endpoints file."""

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings

from judging.errors import PassError
from judging.llm.embedding import TFIDF
from judging.llm.endpoints import Endpoint, EndpointModel, TokenPrices, load_endpoints
from judging.llm.offers import OfferedModel, offered_models

ROLE = "embedder"
# Changes whenever the same case is embedded from another text.
TEXT_VERSION = "1"
# A token is at least one byte, so this much fits every model that takes 8,192 tokens.
MOST_TEXT_BYTES = 8_000


@dataclass(frozen=True)
class EmbedderSeat:
    """A model that gives vectors, and the endpoint where it is called."""

    endpoint: Endpoint
    model: EndpointModel

    @property
    def slug(self) -> str:
        return self.model.slug

    @property
    def version(self) -> str:
        return f"{TEXT_VERSION}; first {MOST_TEXT_BYTES} bytes"

    @property
    def prices(self) -> TokenPrices | None:
        """What texts cost; None when that is unknown. Nothing is answered, so nothing is paid for that."""
        if self.model.price_in is None:
            return None
        return TokenPrices(per_million_in=self.model.price_in, per_million_out=Decimal(0))

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that vectors depend on beside their texts. Frozen with each pass."""
        return {
            "embedder": self.slug,
            "embedder_endpoint": self.endpoint.name,
            "embedder_base_url": self.endpoint.base_url,
            "embedder_model_id": self.model.model_id,
            "embedder_dimensions": self.model.dimensions,
            "embedder_version": self.version,
        }

    @property
    def cache_name(self) -> str:
        """Under which its vectors are kept: another address, model or length is another embedder."""
        # The endpoint's own name may change without any effect on a vector.
        identity = self.identity | {"embedder_endpoint": None}
        digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
        return f"{self.slug}@{digest[:16]}"


def offered_embedders() -> list[OfferedModel]:
    """TF-IDF, then the embedders of the endpoints file and the presets, those with a key first.

    Raises:
        EndpointError: the endpoints file cannot be read.
    """
    offline = OfferedModel(slug=TFIDF, short_name="TF-IDF", endpoint_name=None, has_key=True)
    return [offline, *offered_models(load_endpoints(settings.ENDPOINTS_FILE), ROLE)]


def seat_embedder(slug: str) -> EmbedderSeat | None:
    """Endpoint and model of an embedder, None for TF-IDF.

    Raises:
        PassError: nothing of that name is offered as an embedder; the sentence lists what is.
        EndpointError: the endpoints file cannot be read.
    """
    if slug == TFIDF:
        return None
    for endpoint in load_endpoints(settings.ENDPOINTS_FILE).values():
        for model in endpoint.models:
            if model.slug == slug and ROLE in model.roles:
                return EmbedderSeat(endpoint=endpoint, model=model)
    known = ", ".join(embedder.slug for embedder in offered_embedders())
    raise PassError(
        f"The endpoints file offers no embedder {slug[:100]!r}. Known: {known}.", code="unknown_embedder"
    )


def cut_text(text: str) -> str:
    """As much of a text as is embedded, whole characters only."""
    encoded = text.encode()
    if len(encoded) <= MOST_TEXT_BYTES:
        return text
    return encoded[:MOST_TEXT_BYTES].decode(errors="ignore")
