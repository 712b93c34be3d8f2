"""The one gate: which rows a worker may send now.

A claim runs under the lock of the endpoint's gate, so that over all workers the calls in flight, the
request rate, `not_before` after a 429 and each pass's budget hold together.
"""

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db import connection
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from judging.choices import PassState, PauseReason, VerdictState
from judging.llm.endpoints import Endpoint
from judging.models import EndpointGate, Verdict, VerdictAttempt
from judging.verdicts.locked_passes import LockedPass

MAX_UNPROVEN_IN_FLIGHT = 5
SUSPECT_AFTER_DEATHS = 2
ALLOWANCE_BURST_S = 1.0
# An endpoint that was not asked for this long starts with an empty bucket again.
ALLOWANCE_REST_S = 5.0
IDLE_S = 0.5
NO_ANSWER = (
    "rate_limited",
    "timeout",
    "network",
    "auth",
    "bad_request",
    "server",
    "bad_reply",
    "encoding",
)


@dataclass(frozen=True)
class Claimed:
    """One row in this worker's hands: whoever writes its result must present the token."""

    verdict_id: int
    token: int
    judge_pass_id: int
    response_id: int
    judge_id: int
    exemplars: list[dict[str, object]] | None
    counters: dict[str, object]
    reserved_micros: int
    has_money_cap: bool = False
    is_suspect: bool = False


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A loop that asks for rows.

    Args:
        endpoint: its limits hold over all workers.
        worker: name of the loop, unique to it.
        lease_s: how long claimed rows are its own, unless extended.
        wanted: free slots.
        n_in_hand: calls in flight; a suspect row is claimed only at 0.
        answered_passes: passes in which the endpoint is known to have answered; added to here.
    """

    endpoint: Endpoint
    worker: str
    lease_s: float
    wanted: int
    n_in_hand: int = 0
    answered_passes: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Claim:
    """What a loop got, and when it is worth asking again if that was nothing.

    `is_drained`: no running pass has a row left here that is not in flight.
    """

    rows: tuple[Claimed, ...] = ()
    wait_s: float = 0.0
    is_drained: bool = False


def database_now() -> dt.datetime:
    """The one clock of all leases: the database's on PostgreSQL, this machine's on SQLite."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def lock_gate(name: str) -> EndpointGate:
    """The gate of an endpoint, under this transaction's lock."""
    # On SQLite the IMMEDIATE transaction is the lock.
    gate = EndpointGate.objects.select_for_update().filter(name=name).first()
    if gate is None:
        EndpointGate.objects.get_or_create(name=name)
        gate = EndpointGate.objects.select_for_update().get(name=name)
    return gate


def claim_rows(
    asking: Asking, *, gate: EndpointGate, passes: Iterable[LockedPass], now: dt.datetime
) -> Claim:
    """Claim up to `asking.wanted` due rows of running passes, oldest first.

    Gate and passes must be locked by this transaction; the caller writes the passes back.
    """
    open_passes = [
        judge_pass for judge_pass in passes if judge_pass.is_running and judge_pass.has_waiting_rows
    ]
    if not open_passes:
        return Claim(wait_s=IDLE_S, is_drained=True)
    if gate.not_before is not None and gate.not_before > now:
        return Claim(wait_s=(gate.not_before - now).total_seconds())
    endpoint = asking.endpoint
    running = Verdict.objects.filter(endpoint_name=endpoint.name, state=VerdictState.RUNNING)
    free = min(asking.wanted, endpoint.max_in_flight - running.count())
    if endpoint.requests_per_minute is not None:
        allowance = _allowance(gate, endpoint.requests_per_minute / 60, now)
        free = min(free, math.floor(allowance))
    rows: list[Claimed] = []
    for judge_pass in open_passes:
        if len(rows) < free:
            rows += _claim_from_pass(judge_pass, asking, most=free - len(rows), n_before=len(rows), now=now)
    if endpoint.requests_per_minute is not None:
        EndpointGate.objects.filter(pk=gate.pk).update(
            request_allowance=allowance - len(rows), allowance_at=now
        )
    if rows:
        return Claim(rows=tuple(rows))
    return Claim(wait_s=IDLE_S if free <= 0 else _seconds_until_due(endpoint.name, now))


def _allowance(gate: EndpointGate, rate_per_s: float, now: dt.datetime) -> float:
    """Requests that the rate limit allows now: a bucket of one second's worth that starts empty."""
    if gate.allowance_at is None:
        return 0.0
    elapsed_s = (now - gate.allowance_at).total_seconds()
    if elapsed_s > ALLOWANCE_REST_S and elapsed_s * rate_per_s > 1:
        return 0.0
    size = max(rate_per_s * ALLOWANCE_BURST_S, 1.0)
    return min(size, gate.request_allowance + max(elapsed_s, 0.0) * rate_per_s)


def _claim_from_pass(
    judge_pass: LockedPass, asking: Asking, *, most: int, n_before: int, now: dt.datetime
) -> list[Claimed]:
    left = judge_pass.calls_left()
    if left is not None and left <= 0:
        # Calls in flight may still give back a part of what they reserved.
        if not Verdict.objects.filter(judge_pass=judge_pass.row, state=VerdictState.RUNNING).exists():
            judge_pass.pause(PauseReason.BUDGET, note="The next call could go beyond the cap.")
        return []
    most = min(most, _most_unproven(judge_pass, asking), most if left is None else left)
    if most <= 0:
        return []
    chosen = _due_rows(
        judge_pass, asking.endpoint.name, now=now, most=most, n_in_hand=asking.n_in_hand + n_before
    )
    if not chosen:
        return []
    Verdict.objects.filter(pk__in=[row.pk for row in chosen]).update(
        state=VerdictState.RUNNING,
        token=F("token") + 1,
        worker=asking.worker,
        lease_until=now + dt.timedelta(seconds=asking.lease_s),
        not_before=None,
    )
    judge_pass.reserve(len(chosen))
    return [
        Claimed(
            verdict_id=row.pk,
            token=row.token + 1,
            judge_pass_id=judge_pass.row.pk,
            response_id=row.response_id,
            judge_id=row.judge_id,
            exemplars=row.exemplars,
            counters=row.counters,
            reserved_micros=judge_pass.worst_micros,
            has_money_cap=judge_pass.row.max_cost_micros is not None,
            is_suspect=row.n_deaths >= SUSPECT_AFTER_DEATHS,
        )
        for row in chosen
    ]


def _due_rows(
    judge_pass: LockedPass, endpoint_name: str, *, now: dt.datetime, most: int, n_in_hand: int
) -> Sequence[Verdict]:
    due = Verdict.objects.filter(
        Q(not_before=None) | Q(not_before__lte=now),
        judge_pass=judge_pass.row,
        endpoint_name=endpoint_name,
        state=VerdictState.PENDING,
    ).order_by("pk")
    due = due.only("pk", "token", "response_id", "judge_id", "exemplars", "counters", "n_deaths")
    rows = list(_lockable(due.filter(n_deaths__lt=SUSPECT_AFTER_DEATHS))[:most])
    if rows or n_in_hand:
        return rows
    # Rows that two workers died with go alone, also over all endpoints, so that an innocent one is
    # never condemned together with the one that kills.
    suspects = Verdict.objects.filter(state=VerdictState.RUNNING, n_deaths__gte=SUSPECT_AFTER_DEATHS)
    return [] if suspects.exists() else list(_lockable(due)[:1])


def _lockable(rows: QuerySet[Verdict]) -> QuerySet[Verdict]:
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True, of=("self",))
    return rows


def _most_unproven(judge_pass: LockedPass, asking: Asking) -> int:
    """Until the endpoint has answered once in this pass, few calls may be in flight."""
    pk = judge_pass.row.pk
    if pk not in asking.answered_passes:
        rows = {"verdict__judge_pass": pk, "verdict__endpoint_name": asking.endpoint.name}
        if VerdictAttempt.objects.filter(**rows).exclude(outcome__in=NO_ANSWER).exists():
            asking.answered_passes.add(pk)
    if pk in asking.answered_passes:
        return asking.wanted
    running = Verdict.objects.filter(
        judge_pass=pk, endpoint_name=asking.endpoint.name, state=VerdictState.RUNNING
    )
    return MAX_UNPROVEN_IN_FLIGHT - running.count()


def _seconds_until_due(endpoint_name: str, now: dt.datetime) -> float:
    waiting = Verdict.objects.filter(
        endpoint_name=endpoint_name,
        state=VerdictState.PENDING,
        judge_pass__state=PassState.RUNNING,
        not_before__gt=now,
    )
    due = waiting.order_by("not_before").values_list("not_before", flat=True).first()
    return max((due - now).total_seconds(), IDLE_S) if due is not None else IDLE_S
