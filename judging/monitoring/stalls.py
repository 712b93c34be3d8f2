"""Running passes that make no progress although their rows are due: no worker, or one that hangs."""

import datetime as dt
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import AuditEvent
from judging.choices import PassState, VerdictState
from judging.models import EndpointGate, JudgePass, row_class_of
from judging.monitoring.loops import loops_at
from judging.passes.seats import frozen_models
from judging.queue.gate import database_now

STALLED_AFTER_S = 60.0


@dataclass(frozen=True)
class Stall:
    """A running pass whose due rows at an endpoint nobody has touched for a minute."""

    judge_pass: JudgePass
    endpoint_name: str


def find_stalls() -> list[Stall]:
    """Running passes that are stalled somewhere. One query, and seven at most for each of their endpoints."""
    running = JudgePass.objects.filter(state=PassState.RUNNING).order_by("pk")
    return [Stall(judge_pass, name) for judge_pass in running for name in stalled_endpoints(judge_pass)]


def stalled_endpoints(judge_pass: JudgePass) -> list[str]:
    """Endpoints at which a running pass made no progress for 60 s while its rows were due all along.

    A provider's pause and a rate limit are waited for and no stall, nor are long calls of a living worker.
    Passes of one kind at one endpoint take turns, so that progress of one is progress of all.
    """
    if judge_pass.state != PassState.RUNNING:
        return []
    now = database_now()
    called = {model["endpoint"] for model in frozen_models(judge_pass.configuration).values()}
    return [name for name in sorted(called) if _is_stalled(judge_pass, name, now=now)]


def _is_stalled(judge_pass: JudgePass, endpoint_name: str, *, now: dt.datetime) -> bool:
    since = now - dt.timedelta(seconds=STALLED_AFTER_S)
    return (
        _has_rows_due(judge_pass, endpoint_name, since=since)
        and not _is_held(endpoint_name, since=since)
        and not _has_attempts(judge_pass, endpoint_name, since=since)
        and not _has_live_calls(judge_pass, endpoint_name, now=now)
        and not _has_just_begun(judge_pass, since=since)
    )


def _has_rows_due(judge_pass: JudgePass, endpoint_name: str, *, since: dt.datetime) -> bool:
    """Whether a row could have been claimed, or taken from a dead worker, ever since."""
    is_waiting = Q(state=VerdictState.PENDING) & (Q(not_before=None) | Q(not_before__lte=since))
    is_lost = Q(state=VerdictState.RUNNING, lease_until__lte=since)
    rows = row_class_of(judge_pass.kind).objects.filter(judge_pass=judge_pass, endpoint_name=endpoint_name)
    return rows.filter(is_waiting | is_lost).exists()


def _is_held(endpoint_name: str, *, since: dt.datetime) -> bool:
    """Whether the provider asked for a pause, or a loop counts its rate limit, and not long ago."""
    gates = EndpointGate.objects.filter(name=endpoint_name)
    return gates.filter(Q(not_before__gt=since) | Q(allowance_at__gt=since)).exists()


def _has_live_calls(judge_pass: JudgePass, endpoint_name: str, *, now: dt.datetime) -> bool:
    """Whether a worker that gives signs of life has calls of this kind under way there."""
    living = [loop.worker for loop in loops_at([endpoint_name], now=now) if loop.is_alive]
    rows = row_class_of(judge_pass.kind).objects.filter(
        endpoint_name=endpoint_name,
        judge_pass__kind=judge_pass.kind,
        state=VerdictState.RUNNING,
        worker__in=living,
    )
    return bool(living) and rows.exists()


def _has_attempts(judge_pass: JudgePass, endpoint_name: str, *, since: dt.datetime) -> bool:
    rows = row_class_of(judge_pass.kind).objects.filter(
        endpoint_name=endpoint_name, judge_pass__kind=judge_pass.kind, attempts__at__gt=since
    )
    return rows.exists()


def _has_just_begun(judge_pass: JudgePass, *, since: dt.datetime) -> bool:
    """Whether it was started or resumed not long ago."""
    if judge_pass.started_at is not None and judge_pass.started_at > since:
        return True
    resumed = AuditEvent.objects.filter(
        action="pass.running", subject=f"pass:{judge_pass.public_id}", at__gt=since
    )
    return resumed.exists()
