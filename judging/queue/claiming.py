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

from judging.choices import PassState, PauseReason, VerdictState
from judging.llm.endpoints import Endpoint
from judging.models import EndpointGate, Generation, Verdict
from judging.queue.gate import request_allowance
from judging.queue.locked_passes import LockedPass
from judging.queue.work import Claimed, Row, Work

MAX_UNPROVEN_IN_FLIGHT = 5
SUSPECT_AFTER_DEATHS = 2
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


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A loop that asks for rows.

    Args:
        work: the kind of rows.
        endpoint: its limits hold over all workers and kinds.
        worker: name of the loop, unique to it.
        lease_s: how long claimed rows are its own, unless extended.
        wanted: free slots.
        n_in_hand: calls in flight; a suspect row is claimed only at 0.
        answered_passes: passes in which the endpoint is known to have answered; added to here.
    """

    work: Work
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
    free = min(asking.wanted, endpoint.max_in_flight - _count_running(endpoint.name))
    if endpoint.requests_per_minute is not None:
        allowance = request_allowance(gate, endpoint.requests_per_minute / 60, now)
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
    return Claim(wait_s=IDLE_S if free <= 0 else _seconds_until_due(asking, now))


def _count_running(endpoint_name: str) -> int:
    """Rows of every kind that are in flight at an endpoint."""
    return sum(
        rows.objects.filter(endpoint_name=endpoint_name, state=VerdictState.RUNNING).count()
        for rows in (Verdict, Generation)
    )


def _claim_from_pass(
    judge_pass: LockedPass, asking: Asking, *, most: int, n_before: int, now: dt.datetime
) -> list[Claimed]:
    left = judge_pass.calls_left()
    if left is not None and left <= 0:
        # Calls in flight may still give back a part of what they reserved.
        rows = asking.work.row_class.objects.filter(judge_pass=judge_pass.row, state=VerdictState.RUNNING)
        if not rows.exists():
            judge_pass.pause(PauseReason.BUDGET, note="The next call could go beyond the cap.")
        return []
    most = min(most, _most_unproven(judge_pass, asking), most if left is None else left)
    if most <= 0:
        return []
    chosen = _due_rows(judge_pass, asking, now=now, most=most, n_in_hand=asking.n_in_hand + n_before)
    if not chosen:
        return []
    asking.work.row_class.objects.filter(pk__in=[row.pk for row in chosen]).update(
        state=VerdictState.RUNNING,
        token=F("token") + 1,
        worker=asking.worker,
        lease_until=now + dt.timedelta(seconds=asking.lease_s),
        not_before=None,
    )
    judge_pass.reserve(len(chosen))
    return [
        Claimed(
            row_id=row.pk,
            token=row.token + 1,
            judge_pass_id=judge_pass.row.pk,
            counters=row.counters,
            reserved_micros=judge_pass.worst_micros,
            has_money_cap=judge_pass.row.max_cost_micros is not None,
            is_suspect=row.n_deaths >= SUSPECT_AFTER_DEATHS,
        )
        for row in chosen
    ]


def _due_rows(
    judge_pass: LockedPass, asking: Asking, *, now: dt.datetime, most: int, n_in_hand: int
) -> Sequence[Row]:
    due = asking.work.row_class.objects.filter(
        Q(not_before=None) | Q(not_before__lte=now),
        judge_pass=judge_pass.row,
        endpoint_name=asking.endpoint.name,
        state=VerdictState.PENDING,
    ).order_by("pk")
    due = due.only("pk", "token", "counters", "n_deaths")
    rows = list(_lockable(due.filter(n_deaths__lt=SUSPECT_AFTER_DEATHS))[:most])
    if rows or n_in_hand:
        return rows
    # Rows that two workers died with go alone, also over all endpoints, so that an innocent one is
    # never condemned together with the one that kills.
    is_beside_one = any(
        rows.objects.filter(state=VerdictState.RUNNING, n_deaths__gte=SUSPECT_AFTER_DEATHS).exists()
        for rows in (Verdict, Generation)
    )
    return [] if is_beside_one else list(_lockable(due)[:1])


def _lockable(rows: QuerySet) -> QuerySet:
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True, of=("self",))
    return rows


def _most_unproven(judge_pass: LockedPass, asking: Asking) -> int:
    """Until the endpoint has answered once in this pass, few calls may be in flight."""
    pk = judge_pass.row.pk
    if pk not in asking.answered_passes:
        name = asking.work.row_name
        rows = {f"{name}__judge_pass": pk, f"{name}__endpoint_name": asking.endpoint.name}
        if asking.work.attempt_class.objects.filter(**rows).exclude(outcome__in=NO_ANSWER).exists():
            asking.answered_passes.add(pk)
    if pk in asking.answered_passes:
        return asking.wanted
    running = asking.work.row_class.objects.filter(
        judge_pass=pk, endpoint_name=asking.endpoint.name, state=VerdictState.RUNNING
    )
    return MAX_UNPROVEN_IN_FLIGHT - running.count()


def _seconds_until_due(asking: Asking, now: dt.datetime) -> float:
    waiting = asking.work.row_class.objects.filter(
        endpoint_name=asking.endpoint.name,
        state=VerdictState.PENDING,
        judge_pass__kind=asking.work.kind,
        judge_pass__state=PassState.RUNNING,
        not_before__gt=now,
    )
    due = waiting.order_by("not_before").values_list("not_before", flat=True).first()
    return max((due - now).total_seconds(), IDLE_S) if due is not None else IDLE_S
