"""The judges of a pass: where each is called, and whether it answers."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from judging.choices import FailureCode
from judging.errors import EndpointError, PassError
from judging.llm.calls import CallOutcome
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.endpoints import Endpoint, EndpointModel, find_model, load_endpoints
from judging.models import Judge

PREFLIGHT_MOST_S = 60.0


@dataclass(frozen=True)
class JudgeSeat:
    """One judge of a pass: the endpoint and the model that it is called at."""

    endpoint: Endpoint
    model: EndpointModel

    @property
    def slug(self) -> str:
        return self.model.slug


def seat_judges(slugs: Sequence[str]) -> list[JudgeSeat]:
    """Find endpoint and model of each judge. Stores nothing.

    Raises:
        PassError: no judge, or one twice, or a model that is not offered as a judge.
        EndpointError: the endpoints file offers no such model.
    """
    if not slugs:
        raise PassError("A pass needs at least one judge. Name one with --judge.", code="no_judge")
    if len(set(slugs)) != len(slugs):
        raise PassError(f"A judge is named twice: {', '.join(slugs)}. Name each once.", code="judge_twice")
    endpoints = load_endpoints(settings.ENDPOINTS_FILE)
    seats = []
    for slug in sorted(slugs):
        endpoint, model = find_model(endpoints, slug)
        if "judge" not in model.roles:
            raise PassError(
                f"The endpoints file does not offer {slug!r} as a judge (roles: {', '.join(model.roles)}).",
                code="not_a_judge",
            )
        seats.append(JudgeSeat(endpoint=endpoint, model=model))
    return seats


def frozen_models(configuration: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The models that a pass calls, as it froze them, by slug: judges, or targets of a collection."""
    called: Mapping[str, Mapping[str, Any]] = configuration.get("judges") or configuration.get("targets", {})
    return called


def frozen_seats(configuration: Mapping[str, Any]) -> list[JudgeSeat]:
    """The models as a pass froze them: its endpoints and its model ids, whatever the file says now.

    Raises:
        PassError: an endpoint of that name is now at another address.
        EndpointError: the endpoints file no longer names the endpoint or the judge.
    """
    endpoints = load_endpoints(settings.ENDPOINTS_FILE)
    seats = []
    for slug, frozen in sorted(frozen_models(configuration).items()):
        endpoint = endpoints.get(frozen["endpoint"])
        if endpoint is None:
            raise EndpointError(
                f"The pass calls {slug!r} at the endpoint {frozen['endpoint']!r}, which the endpoints file "
                "no longer names. Name it again, or cancel the pass."
            )
        refuse_moved(slug, frozen, endpoint)
        model = replace(endpoint.model(slug), model_id=frozen["model_id"])
        seats.append(JudgeSeat(endpoint=endpoint, model=model))
    return seats


def refuse_moved(slug: str, frozen: Mapping[str, Any], endpoint: Endpoint) -> None:
    """Check that a judge would be called at the address that its pass froze.

    Raises:
        PassError: the endpoints file now gives another.
    """
    base_url = frozen.get("base_url", endpoint.base_url)
    if base_url != endpoint.base_url:
        raise PassError(
            f"The pass calls {slug!r} at {base_url}, and the endpoints file now puts the endpoint "
            f"{endpoint.name!r} at {endpoint.base_url}. Set the address back, or start a new pass.",
            code="endpoint_moved",
        )


def store_judges(seats: Sequence[JudgeSeat]) -> dict[str, Judge]:
    """Rows of the judges by slug; must run inside the transaction that starts a pass.

    What a judge learned about its model is forgotten when it is now called elsewhere.
    """
    judges = {}
    for seat in seats:
        model = seat.model
        judge, _ = Judge.objects.get_or_create(slug=seat.slug, defaults={"short_name": model.short_name[:50]})
        if (judge.endpoint_name, judge.model_id) != (seat.endpoint.name, model.model_id):
            judge.capabilities = {}
        judge.endpoint_name, judge.model_id = seat.endpoint.name, model.model_id
        judge.family = model.family or judge.family
        judge.save(update_fields=["family", "endpoint_name", "model_id", "capabilities"])
        judges[seat.slug] = judge
    return judges


@dataclass(frozen=True)
class SeatCheck:
    """What one tiny call to a model came to. `fault` says why no pass may start, None when one may."""

    seat: JudgeSeat
    fault: str | None
    latency_ms: int
    is_simulated: bool


def check_seats(seats: Sequence[JudgeSeat]) -> list[SeatCheck]:
    """Make one tiny call to each model, side by side. A busy provider is alive: a pass's back-off copes."""
    outcomes = asyncio.run(_preflight_all(seats))
    return [
        SeatCheck(
            seat=seat,
            fault=None if outcome.kind in ("ok", "rate_limited") else _fault_in_words(outcome),
            latency_ms=outcome.latency_ms,
            is_simulated=outcome.is_simulated,
        )
        for seat, outcome in zip(seats, outcomes, strict=True)
    ]


def preflight(seats: Sequence[JudgeSeat]) -> bool:
    """Make one tiny call to each model of a pass.

    Returns:
        True when any of them is the loopback provider, whose answers are simulated.

    Raises:
        PassError: one does not answer, with its reason; no pass may start.
    """
    checks = check_seats(seats)
    faults = [
        f"{check.seat.slug} at {check.seat.endpoint.name}: {check.fault}"
        for check in checks
        if check.fault is not None
    ]
    if faults:
        raise PassError(
            f"Nothing was started: {'; '.join(faults)}. "
            "Correct the endpoints file or the key, then try again.",
            code="preflight_failed",
        )
    return any(check.is_simulated for check in checks)


async def _preflight_all(seats: Sequence[JudgeSeat]) -> list[CallOutcome]:
    return await asyncio.gather(*(_preflight_one(seat) for seat in seats))


async def _preflight_one(seat: JudgeSeat) -> CallOutcome:
    deadlines = Deadlines(
        connect_s=settings.CALL_CONNECT_S,
        read_s=min(settings.CALL_READ_S, PREFLIGHT_MOST_S),
        total_s=min(settings.CALL_TOTAL_S, PREFLIGHT_MOST_S),
    )
    async with JudgeClient(
        seat.endpoint, deadlines=deadlines, uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES
    ) as client:
        return await client.preflight(seat.model.model_id)


def _fault_in_words(outcome: CallOutcome) -> str:
    return f"{FailureCode(outcome.kind).label} ({outcome.detail})"
