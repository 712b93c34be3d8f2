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
from judging.queue.work import Work

POISON_DETAIL = "three workers died while this row was being sent"


def extend_leases(work: Work, *, worker: str, held: Collection[int], lease_s: float) -> int:
    """Extend the leases of the rows that a loop really has in flight; returns how many.

    A row that bears the worker's name without being in its hands is left to expire.
    """
    rows = work.row_class.objects.filter(pk__in=held, worker=worker, state=VerdictState.RUNNING)
    return rows.update(lease_until=database_now() + dt.timedelta(seconds=lease_s))


def release_overdue(work: Work) -> int:
    """Return rows of dead workers to the queue. Called by every worker's sweep each second.

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
        rows = list(overdue.only("pk", "n_deaths", "judge_pass_id"))
        if not rows:
            return 0
        poison = [row.pk for row in rows if row.n_deaths >= SUSPECT_AFTER_DEATHS]
        again = [row.pk for row in rows if row.n_deaths < SUSPECT_AFTER_DEATHS]
        all_rows.filter(pk__in=again).update(
            state=VerdictState.PENDING, worker=None, lease_until=None, n_deaths=F("n_deaths") + 1
        )
        own = work.failed_values(poison, code=FailureCode.POISON, detail=POISON_DETAIL, now=now)
        for pk in poison:
            all_rows.filter(pk=pk).update(
                state=VerdictState.CALL_FAILED,
                failure_code=FailureCode.POISON,
                detail=POISON_DETAIL,
                worker=None,
                lease_until=None,
                n_deaths=F("n_deaths") + 1,
                settled_at=now,
                **own.get(pk, {}),
            )
        n_lost = Counter(row.judge_pass_id for row in rows)
        for pk, judge_pass in lock_passes(n_lost).items():
            judge_pass.settle_lost(n_lost[pk])
            judge_pass.write()
        return len(rows)
