"""What a running pass waits for: a provider's pause, or the calls of a worker that is gone."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Count, Min, Q

from judging.choices import UNSETTLED_STATES, PassState, VerdictState
from judging.models import EndpointGate, JudgePass, row_class_of
from judging.monitoring.loops import Loop, loops_at
from judging.queue.gate import database_now

# Back-off of a second or two is the ordinary course of things and not worth a word.
WORTH_SAYING_S = 5.0


class Cause(StrEnum):
    """Why nothing is called at an endpoint."""

    PROVIDER = "provider"
    DEAD_WORKER = "dead worker"


@dataclass(frozen=True)
class Wait:
    """A pass calls nothing at an endpoint before `until`."""

    endpoint_name: str
    until: dt.datetime
    cause: Cause


def waits_of(judge_pass: JudgePass) -> list[Wait]:
    """What a pass waits for at each of its endpoints, the longest wait last. Four queries at most.

    Empty unless the pass is running. An endpoint at which one of its calls is under way, or could be made
    now, is not waited for.
    """
    if judge_pass.state != PassState.RUNNING:
        return []
    now = database_now()
    open_rows = _open_rows(judge_pass, now=now)
    names = list(open_rows)
    holds = dict(
        EndpointGate.objects.filter(name__in=names, not_before__gt=now).values_list("name", "not_before")
    )
    loops = loops_at(names, now=now)
    waits = []
    for name, rows in open_rows.items():
        wait = _wait_at(name, rows, held_until=holds.get(name), loops=loops)
        if wait is not None and wait.until > now + dt.timedelta(seconds=WORTH_SAYING_S):
            waits.append(wait)
    return sorted(waits, key=lambda wait: wait.until)


def waiting_words(wait: Wait, waits: Sequence[Wait]) -> str:
    """One of a pass's waits, as it goes before "until ...". The endpoint is named where there are several."""
    if wait.cause == Cause.DEAD_WORKER:
        words = "Waiting for a dead worker's slots"
        return f"{words} at {wait.endpoint_name}" if len(waits) > 1 else words
    return f"Waiting for the provider {wait.endpoint_name}" if len(waits) > 1 else "Waiting for the provider"


def _open_rows(judge_pass: JudgePass, *, now: dt.datetime) -> dict[str, dict[str, Any]]:
    """Of each endpoint: rows that are due or in flight, and when the first deferred one is due."""
    is_waiting = Q(state=VerdictState.PENDING)
    rows = row_class_of(judge_pass.kind).objects.filter(
        judge_pass=judge_pass, state__in=UNSETTLED_STATES, endpoint_name__isnull=False
    )
    counts = (
        rows.order_by("endpoint_name")
        .values("endpoint_name")
        .annotate(
            n_due=Count("pk", filter=is_waiting & (Q(not_before=None) | Q(not_before__lte=now))),
            n_in_flight=Count("pk", filter=Q(state=VerdictState.RUNNING)),
            due_at=Min("not_before", filter=is_waiting),
        )
    )
    return {str(entry["endpoint_name"]): dict(entry) for entry in counts}


def _wait_at(
    name: str, rows: Mapping[str, Any], *, held_until: dt.datetime | None, loops: Sequence[Loop]
) -> Wait | None:
    here = [loop for loop in loops if loop.endpoint_name == name and loop.slots > 0]
    if held_until is not None:
        return Wait(name, held_until, Cause.PROVIDER)
    if not rows["n_due"] and not rows["n_in_flight"]:
        return Wait(name, rows["due_at"], Cause.PROVIDER)
    if here and not any(loop.is_alive for loop in here):
        return Wait(name, min(loop.lease_until for loop in here), Cause.DEAD_WORKER)
    return None
