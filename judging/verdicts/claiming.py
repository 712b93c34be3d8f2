"""The one gate: which rows a worker may send now.

A claim is one short transaction. It locks the endpoint, so that over all workers the calls in
flight, the request rate, `not_before` after a 429 and each pass's budget hold together.
"""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from judging.choices import PassState, PauseReason, VerdictState
from judging.llm.endpoints import Endpoint
from judging.models import EndpointGate, JudgePass, Verdict, VerdictAttempt

MAX_UNPROVEN_IN_FLIGHT = 5
SUSPECT_AFTER_DEATHS = 2
ALLOWANCE_BURST_S = 1.0
NOT_BEFORE_IDLE_S = 0.5


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


@dataclass(frozen=True)
class Claim:
    """What a worker got, and when it is worth asking again if that was nothing."""

    rows: tuple[Claimed, ...]
    retry_at: dt.datetime | None = None
    is_drained: bool = False


def database_now() -> dt.datetime:
    """The one clock of all leases: the database's on PostgreSQL, this machine's on SQLite."""
    if connection.vendor != "postgresql":
        return timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def claim_rows(endpoint: Endpoint, *, worker: str, wanted: int, lease_s: float, n_in_hand: int) -> Claim:
    """Claim up to `wanted` due rows of running passes at an endpoint.

    Locks the endpoint's gate row for the length of the transaction.

    Args:
        endpoint: its limits hold over all workers.
        worker: name of the claiming loop, unique to it.
        wanted: free slots of this loop.
        lease_s: how long the rows are this worker's, unless extended.
        n_in_hand: calls this loop has in flight; a suspect row is claimed only at 0.

    Returns:
        The claimed rows, oldest first. Empty with `retry_at` when a limit binds, and with
        `is_drained` when no running pass has a row left here that is not in flight.
    """
    with transaction.atomic():
        now = database_now()
        gate = _lock_gate(endpoint.name)
        if gate.not_before is not None and gate.not_before > now:
            return Claim(rows=(), retry_at=gate.not_before)
        running = Verdict.objects.filter(endpoint_name=endpoint.name, state=VerdictState.RUNNING)
        free = min(wanted, endpoint.max_in_flight - running.count())
        allowance = _allowance(gate, endpoint, now)
        free = min(free, math.floor(allowance))
        if free <= 0:
            return Claim(rows=(), retry_at=now + dt.timedelta(seconds=NOT_BEFORE_IDLE_S))
        passes = _passes_with_rows(endpoint.name)
        rows: list[Claimed] = []
        for judge_pass in passes:
            rows += _claim_from_pass(
                judge_pass,
                endpoint,
                worker=worker,
                most=free - len(rows),
                lease_until=now + dt.timedelta(seconds=lease_s),
                now=now,
                n_in_hand=n_in_hand + len(rows),
            )
            if len(rows) >= free:
                break
        _spend(gate, allowance - len(rows), now)
        if rows:
            return Claim(rows=tuple(rows))
        return Claim(rows=(), retry_at=_next_due(endpoint.name, now), is_drained=not passes)


def extend_leases(*, worker: str, lease_s: float) -> int:
    """Extend all leases of a worker; the heartbeat of a loop that may be waiting for slow calls."""
    until = database_now() + dt.timedelta(seconds=lease_s)
    return Verdict.objects.filter(worker=worker, state=VerdictState.RUNNING).update(lease_until=until)


def defer_endpoint(name: str, *, until: dt.datetime) -> None:
    """Let no worker claim at an endpoint before `until` (a 429 with Retry-After). Locks the gate."""
    with transaction.atomic():
        gate = _lock_gate(name)
        if gate.not_before is None or gate.not_before < until:
            EndpointGate.objects.filter(pk=gate.pk).update(not_before=until)


def release_overdue() -> int:
    """Return rows of dead workers to the queue. Called by every worker's sweeper each second.

    A row whose lease ends for the third time was alone in its worker's hands (see `claim_rows`):
    it is settled as CALL_FAILED with code `poison`, and the rest go on.

    Returns:
        How many rows were overdue.
    """
    with transaction.atomic():
        now = database_now()
        overdue = Verdict.objects.filter(state=VerdictState.RUNNING, lease_until__lt=now).order_by("pk")
        if connection.features.has_select_for_update_skip_locked:
            overdue = overdue.select_for_update(skip_locked=True, of=("self",))
        deaths = dict(overdue.values_list("pk", "n_deaths"))
        poison = [pk for pk, n_deaths in deaths.items() if n_deaths >= SUSPECT_AFTER_DEATHS]
        again = [pk for pk in deaths if pk not in set(poison)]
        Verdict.objects.filter(pk__in=again).update(
            state=VerdictState.PENDING, worker=None, lease_until=None, n_deaths=F("n_deaths") + 1
        )
        Verdict.objects.filter(pk__in=poison).update(
            state=VerdictState.CALL_FAILED,
            failure_code="poison",
            detail="three workers died while this row was being sent",
            worker=None,
            lease_until=None,
            n_deaths=F("n_deaths") + 1,
            settled_at=now,
        )
        return len(deaths)


def _lock_gate(name: str) -> EndpointGate:
    # On SQLite the IMMEDIATE transaction is the lock.
    EndpointGate.objects.get_or_create(name=name)
    return EndpointGate.objects.select_for_update().get(name=name)


def _allowance(gate: EndpointGate, endpoint: Endpoint, now: dt.datetime) -> float:
    """Requests that the rate limit allows now. The bucket holds one second's worth and starts empty."""
    if endpoint.requests_per_minute is None:
        return float(endpoint.max_in_flight)
    rate = endpoint.requests_per_minute / 60
    size = max(rate * ALLOWANCE_BURST_S, 1.0)
    if gate.allowance_at is None:
        return 0.0
    return min(size, gate.request_allowance + (now - gate.allowance_at).total_seconds() * rate)


def _spend(gate: EndpointGate, allowance: float, now: dt.datetime) -> None:
    EndpointGate.objects.filter(pk=gate.pk).update(request_allowance=max(allowance, 0.0), allowance_at=now)


def _passes_with_rows(endpoint_name: str) -> list[JudgePass]:
    pending = Verdict.objects.filter(endpoint_name=endpoint_name, state=VerdictState.PENDING)
    ids = (
        pending.filter(judge_pass__state=PassState.RUNNING).values_list("judge_pass_id", flat=True).distinct()
    )
    passes = JudgePass.objects.filter(pk__in=list(ids), state=PassState.RUNNING).order_by("pk")
    return list(passes.select_for_update())


def _claim_from_pass(
    judge_pass: JudgePass,
    endpoint: Endpoint,
    *,
    worker: str,
    most: int,
    lease_until: dt.datetime,
    now: dt.datetime,
    n_in_hand: int,
) -> list[Claimed]:
    most = min(most, _proven_limit(judge_pass, endpoint.name))
    worst = int(judge_pass.configuration.get("worst_call_micros") or 0)
    budget = _budget_left(judge_pass, worst)
    if budget is not None and budget <= 0:
        JudgePass.objects.filter(pk=judge_pass.pk, state=PassState.RUNNING).update(
            state=PassState.PAUSED, pause_reason=PauseReason.BUDGET
        )
        return []
    if budget is not None:
        most = min(most, budget)
    if most <= 0:
        return []
    chosen = _due_rows(judge_pass, endpoint.name, now=now, most=most, n_in_hand=n_in_hand)
    if not chosen:
        return []
    Verdict.objects.filter(pk__in=[row.pk for row in chosen]).update(
        state=VerdictState.RUNNING,
        token=F("token") + 1,
        worker=worker,
        lease_until=lease_until,
        not_before=None,
    )
    JudgePass.objects.filter(pk=judge_pass.pk).update(
        n_calls_reserved=F("n_calls_reserved") + len(chosen),
        cost_reserved_micros=F("cost_reserved_micros") + worst * len(chosen),
    )
    return [
        Claimed(
            verdict_id=row.pk,
            token=row.token + 1,
            judge_pass_id=judge_pass.pk,
            response_id=row.response_id,
            judge_id=row.judge_id,
            exemplars=row.exemplars,
            counters=row.counters,
            reserved_micros=worst,
        )
        for row in chosen
    ]


def _due_rows(
    judge_pass: JudgePass, endpoint_name: str, *, now: dt.datetime, most: int, n_in_hand: int
) -> Sequence[Verdict]:
    due = Verdict.objects.filter(
        Q(not_before=None) | Q(not_before__lte=now),
        judge_pass=judge_pass,
        endpoint_name=endpoint_name,
        state=VerdictState.PENDING,
    ).order_by("pk")
    due = due.only("pk", "token", "response_id", "judge_id", "exemplars", "counters", "judge_pass_id")
    rows = list(_lockable(due.filter(n_deaths__lt=SUSPECT_AFTER_DEATHS))[:most])
    if rows or n_in_hand:
        return rows
    # Rows that two workers died with go alone, so that an innocent one is never condemned with them.
    return list(_lockable(due)[:1])


def _lockable(rows: QuerySet[Verdict]) -> QuerySet[Verdict]:
    if connection.features.has_select_for_update_skip_locked:
        return rows.select_for_update(skip_locked=True, of=("self",))
    return rows


def _proven_limit(judge_pass: JudgePass, endpoint_name: str) -> int:
    """Until the endpoint has answered once in this pass, few calls may be in flight."""
    answered = VerdictAttempt.objects.filter(
        verdict__judge_pass=judge_pass, verdict__endpoint_name=endpoint_name, outcome="ok"
    )
    if answered.exists():
        return 1_000_000
    in_flight = Verdict.objects.filter(
        judge_pass=judge_pass, endpoint_name=endpoint_name, state=VerdictState.RUNNING
    ).count()
    return MAX_UNPROVEN_IN_FLIGHT - in_flight


def _budget_left(judge_pass: JudgePass, worst_micros: int) -> int | None:
    """How many more calls the pass may reserve; None without a cap."""
    limits = []
    if judge_pass.max_calls is not None:
        limits.append(judge_pass.max_calls - judge_pass.n_calls_reserved)
    if judge_pass.max_cost_micros is not None:
        left = judge_pass.max_cost_micros - judge_pass.cost_reserved_micros
        limits.append(left // worst_micros if worst_micros else 0)
    return min(limits) if limits else None


def _next_due(endpoint_name: str, now: dt.datetime) -> dt.datetime:
    pending = Verdict.objects.filter(
        endpoint_name=endpoint_name, state=VerdictState.PENDING, judge_pass__state=PassState.RUNNING
    )
    due = (
        pending.filter(not_before__gt=now).order_by("not_before").values_list("not_before", flat=True).first()
    )
    soon = now + dt.timedelta(seconds=NOT_BEFORE_IDLE_S)
    return max(due, soon) if due is not None else soon
