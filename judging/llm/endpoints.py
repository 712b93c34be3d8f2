"""Providers that may be called: presets that ship, and the deployer's own file. Never a web form.

A file is TOML:

    [[endpoint]]
    name = "local"
    base_url = "http://127.0.0.1:9900/v1"
    key_variable = "LOCAL_KEY"       # name of the environment variable; leave out if no key is needed
    allow_private = true             # needed for loopback, private and link-local addresses
    max_in_flight = 32
    requests_per_minute = 600        # leave out for no limit
    tokens_per_minute = 200000       # sent and answered together; leave out for no limit

      [[endpoint.model]]
      slug = "gpt-5.4"
      model_id = "gpt-5.4"
      short_name = "GPT"
      family = "OpenAI"
      roles = ["judge", "target"]
      price_in = "1.25"              # per million tokens; leave out if unknown
      price_out = "10"

      [[endpoint.model]]
      slug = "text-embedding-3-small"
      roles = ["embedder"]             # finds exemplars; answers nothing, so it has no price_out
      dimensions = 512                 # leave out for the model's own number
      price_in = "0.02"
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from judging.errors import EndpointError
from judging.llm.addresses import check_base_url
from judging.llm.endpoint_fields import read_fields

ROLES = ("judge", "target", "classifier", "embedder")

_LIMITS = ("max_in_flight", "requests_per_minute", "tokens_per_minute")
_ENDPOINT_KEYS = frozenset(["name", "base_url", "key_variable", "allow_private", "model", *_LIMITS])
_MODEL_KEYS = frozenset(
    ["slug", "model_id", "short_name", "family", "roles", "price_in", "price_out", "dimensions"]
)


@dataclass(frozen=True, kw_only=True)
class TokenPrices:
    """What a million tokens cost, those sent and those answered."""

    per_million_in: Decimal
    per_million_out: Decimal

    def cost_micros(self, *, tokens_in: int, tokens_out: int) -> int:
        """Cost of a call in millionths of the prices' unit, rounded up."""
        exact = tokens_in * self.per_million_in + tokens_out * self.per_million_out
        return int(exact.to_integral_value(rounding=ROUND_CEILING))


@dataclass(frozen=True, kw_only=True)
class EndpointModel:
    """One model at an endpoint. Prices are per million tokens; None is unknown, never free.

    `dimensions` is the length of an embedder's vectors; None leaves it to the model.
    """

    slug: str
    model_id: str
    short_name: str
    family: str
    roles: tuple[str, ...]
    price_in: Decimal | None
    price_out: Decimal | None
    dimensions: int | None = None

    @property
    def prices(self) -> TokenPrices | None:
        """Both prices, or None when one is unknown."""
        if self.price_in is None or self.price_out is None:
            return None
        return TokenPrices(per_million_in=self.price_in, per_million_out=self.price_out)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where and how fast a provider may be called. Holds the name of the key's variable, never the key."""

    name: str
    base_url: str
    key_variable: str | None
    max_in_flight: int
    requests_per_minute: int | None
    tokens_per_minute: int | None = None
    allow_private: bool
    models: tuple[EndpointModel, ...]

    def model(self, slug: str) -> EndpointModel:
        """The model with this slug.

        Raises:
            EndpointError: the endpoint has no such model.
        """
        for model in self.models:
            if model.slug == slug:
                return model
        known = ", ".join(model.slug for model in self.models) or "none"
        raise EndpointError(f"The endpoint {self.name!r} has no model {slug!r}. It has: {known}.")


def load_endpoints(path: Path | None) -> Mapping[str, Endpoint]:
    """The presets, with the deployer's file on top, by name.

    An endpoint of the file replaces a preset of the same name, and a model of the file replaces the
    presets' model of the same slug, so that each slug leads to one endpoint.

    Args:
        path: the deployer's TOML file, or None for the presets alone.

    Raises:
        EndpointError: the file is missing, unreadable, no TOML, or says something that cannot be used.
    """
    shipped = resources.files("judging.llm").joinpath("presets.toml").read_text("utf-8")
    presets = _read(shipped, source="presets")
    if path is None:
        return MappingProxyType(presets)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EndpointError(
            f"The endpoints file {path} cannot be read ({type(error).__name__}). "
            "Give the path of a UTF-8 TOML file."
        ) from error
    own = _read(text, source=str(path))
    taken = {model.slug for endpoint in own.values() for model in endpoint.models}
    kept = {name: _without(preset, taken) for name, preset in presets.items() if name not in own}
    return MappingProxyType({**kept, **own})


def find_model(endpoints: Mapping[str, Endpoint], slug: str) -> tuple[Endpoint, EndpointModel]:
    """The endpoint and the model for a slug.

    Raises:
        EndpointError: no endpoint has it; the sentence lists what there is.
    """
    for endpoint in endpoints.values():
        for model in endpoint.models:
            if model.slug == slug:
                return endpoint, model
    known = sorted(model.slug for endpoint in endpoints.values() for model in endpoint.models)
    raise EndpointError(f"No endpoint offers the model {slug!r}. Known are: {', '.join(known)}.")


def _read(text: str, *, source: str) -> dict[str, Endpoint]:
    try:
        document = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise EndpointError(f"The endpoints file {source} is not valid TOML: {error}.") from error
    unknown = sorted(set(document) - {"endpoint"})
    if unknown:
        raise EndpointError(
            f"The endpoints file {source} has the unknown key {unknown[0]!r}; "
            "expected only [[endpoint]] tables."
        )
    tables = document.get("endpoint", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise EndpointError(f"The endpoints file {source} must list its endpoints as [[endpoint]] tables.")
    endpoints: dict[str, Endpoint] = {}
    slugs: dict[str, str] = {}
    for table in tables:
        endpoint = _read_endpoint(table, source=source)
        if endpoint.name in endpoints:
            raise EndpointError(f"The endpoints file {source} names the endpoint {endpoint.name!r} twice.")
        endpoints[endpoint.name] = endpoint
        for model in endpoint.models:
            if model.slug in slugs:
                raise EndpointError(
                    f"The endpoints file {source} offers the model {model.slug!r} twice "
                    f"(at {slugs[model.slug]!r} and {endpoint.name!r}). Give each slug once."
                )
            slugs[model.slug] = endpoint.name
    return endpoints


def _read_endpoint(table: Mapping[str, Any], *, source: str) -> Endpoint:
    name = table.get("name")
    place = f"endpoint {name!r} of {source}" if isinstance(name, str) else f"an endpoint of {source}"
    fields = read_fields(table, place=place, allowed=_ENDPOINT_KEYS)
    models = table.get("model", [])
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in models):
        raise EndpointError(f"The models of {place} must be [[endpoint.model]] tables.")
    allow_private = fields.flag("allow_private", default=False)
    return Endpoint(
        name=fields.slug("name"),
        base_url=check_base_url(fields.text("base_url"), place=place, allow_private=allow_private),
        key_variable=fields.variable("key_variable"),
        max_in_flight=fields.whole("max_in_flight", default=8, most=1024),
        requests_per_minute=fields.optional_whole("requests_per_minute"),
        tokens_per_minute=fields.optional_whole("tokens_per_minute"),
        allow_private=allow_private,
        models=tuple(_read_model(model, place=place) for model in models),
    )


def _read_model(table: Mapping[str, Any], *, place: str) -> EndpointModel:
    fields = read_fields(table, place=f"a model of {place}", allowed=_MODEL_KEYS)
    slug = fields.slug("slug")
    return EndpointModel(
        slug=slug,
        model_id=fields.text("model_id", default=slug),
        short_name=fields.text("short_name", default=slug),
        family=fields.text("family", default=""),
        roles=fields.words("roles", known=ROLES, default=("judge", "target")),
        price_in=fields.price("price_in"),
        price_out=fields.price("price_out"),
        dimensions=fields.optional_whole("dimensions", most=8_192),
    )


def _without(endpoint: Endpoint, slugs: set[str]) -> Endpoint:
    return replace(endpoint, models=tuple(model for model in endpoint.models if model.slug not in slugs))
