"""Leases: extended by a heartbeat while a call is in flight, and ended for the rows of dead workers."""

import datetime as dt
from collections import Counter
from collections.abc import Collection

from django.db import connection, transaction
from django.db.models import F

from judging.choices import FailureCode, VerdictState
from judging.queue.claiming import SUSPECT_AFTER_DEATHS
from judging.queue.gate import database_now
from judging.queue.locked_passes import lock_passes
from judging.queue.slots import extend_slots, slot_lease_s
from judging.queue.work import Row, Work

POISON_DETAIL = "three workers died while this row was being sent"


def beat(work: Work, *, worker: str, held: Collection[int], lease_s: float) -> int:
    """Say that a loop lives: extend the lease of its slots, and those of the rows that it really holds.

    A row that bears the worker's name without being in its hands is left to expire.

    Returns:
        How many rows were extended.
    """
    now = database_now()
    extend_slots(worker=worker, lease_until=now + dt.timedelta(seconds=slot_lease_s(lease_s)))
    if not held:
        return 0
    rows = work.row_class.objects.filter(pk__in=held, worker=worker, state=VerdictState.RUNNING)
    return rows.update(lease_until=now + dt.timedelta(seconds=lease_s))


def release_overdue(work: Work) -> int:
    """Return rows of dead workers to the queue. Called by every worker's sweep each second.

    A death counts for the rows that were being sent. One that was claimed ahead of a free slot may have
    been sent since or not: its death is not counted, and from then on it is claimed for a free slot only,
    so that a row which kills its workers escapes once at most and an innocent one is never counted.

    A row whose lease ends for the third time was alone in its worker's hands (see `claiming`): it is
    settled as CALL_FAILED with code `poison`, and the rest go on. Each call counts as spent at its
    worst case, until its result comes in after all (`recording.settle_results`).

    Args:
        work: any kind of pass whose rows are in the table to be swept.

    Returns:
        How many rows were overdue.
    """
    with transaction.atomic():
        now = database_now()
        all_rows = work.row_class.objects
        overdue = all_rows.filter(state=VerdictState.RUNNING, lease_until__lt=now).order_by("pk")
        if connection.features.has_select_for_update_skip_locked:
            overdue = overdue.select_for_update(skip_locked=True, of=("self",))
        rows: list[Row] = list(overdue.only("pk", "n_deaths", "is_ahead", "judge_pass_id"))
        if not rows:
            return 0
        ahead = [row.pk for row in rows if row.is_ahead]
        poison = [row.pk for row in rows if not row.is_ahead and row.n_deaths >= SUSPECT_AFTER_DEATHS]
        again = [row.pk for row in rows if not row.is_ahead and row.n_deaths < SUSPECT_AFTER_DEATHS]
        returned = {"state": VerdictState.PENDING, "worker": None, "lease_until": None}
        # `is_ahead` stays: whether these were sent is not known, and the next claim shall make it known.
        all_rows.filter(pk__in=ahead).update(**returned)
        all_rows.filter(pk__in=again).update(n_deaths=F("n_deaths") + 1, **returned)
        own = work.failed_values(poison, code=FailureCode.POISON, detail=POISON_DETAIL, now=now)
        for pk in poison:
            given_up = {
                "state": VerdictState.CALL_FAILED,
                "failure_code": FailureCode.POISON,
                "detail": POISON_DETAIL,
                "worker": None,
                "lease_until": None,
                "n_deaths": F("n_deaths") + 1,
                "settled_at": now,
            }
            all_rows.filter(pk=pk).update(**(given_up | dict(own.get(pk, {}))))
        n_lost = Counter(row.judge_pass_id for row in rows)
        for pk, judge_pass in lock_passes(n_lost).items():
            judge_pass.settle_lost(n_lost[pk])
            judge_pass.write()
        return len(rows)
