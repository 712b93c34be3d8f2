"""Writing results, guarded by each row's token.

A call is recorded once whatever happens: its attempt is unique by (verdict, token), and only a
first insertion settles its cost. A result whose row was meanwhile claimed again or cancelled is late:
it changes no verdict, and its attempt stands in the ledger with a detail that says so.
"""

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from judging.choices import FailureCode, PassState, PauseReason, VerdictState
from judging.models import JudgePass
from judging.passes.progress import LATE_PREFIX
from judging.queue.gate import database_now
from judging.queue.locked_passes import LockedPass, lock_passes
from judging.queue.results import Result
from judging.queue.statements import adapted, insert_attempts, lock_running, update_rows
from judging.queue.work import Claimed, NotSent, Unbounded, Work

ROW_COLUMNS = ("state", "failure_code", "detail", "counters", "not_before", "settled_at")
ATTEMPT_COLUMNS = (
    "token",
    "outcome",
    "http_status",
    "parameters",
    "tokens_in",
    "tokens_out",
    "cost_micros",
    "latency_ms",
    "reply_text",
    "detail",
    "at",
)


@dataclass(frozen=True)
class Recorded:
    """A result whose attempt is new. `is_late`: its row had left the worker's hands before."""

    result: Result
    is_late: bool


def write_results(work: Work, results: Sequence[Result], *, now: dt.datetime) -> list[Recorded]:
    """Write results and their attempts. Safe to repeat after a lost connection.

    Must run inside a transaction; locks the rows in the order of their ids.

    Returns:
        Those whose attempt is new: only these are to be settled.
    """
    if not results:
        return []
    ordered = sorted(results, key=lambda result: result.claimed.row_id)
    held = lock_running(work, [result.claimed.row_id for result in ordered])
    _update_rows(work, [result for result in ordered if _key(result) in held], now=now)
    inserted = _insert_attempts(work, ordered, held=held, now=now)
    return [
        Recorded(result, is_late=_key(result) not in held) for result in ordered if _key(result) in inserted
    ]


def settle_results(recorded: Sequence[Recorded], passes: Mapping[int, LockedPass]) -> None:
    """Settle the cost of newly stored calls, and pause passes whose key was refused.

    A call whose cost is unknown settles at its worst case. Whoever took a late result's row from its
    worker (`release_overdue`, `cancel_pass`) counted the call at its worst case; that is taken back here.
    """
    for one in recorded:
        result = one.result
        judge_pass, reserved = passes[result.claimed.judge_pass_id], result.claimed.reserved_micros
        if one.is_late:
            judge_pass.undo_lost(reserved_micros=reserved)
        cost = reserved if result.cost_micros is None else result.cost_micros
        judge_pass.settle(reserved_micros=reserved, cost_micros=cost)
        if result.is_simulated:
            judge_pass.mark_simulated()
        if result.pauses_pass:
            judge_pass.pause(PauseReason.AUTH, note="The provider refused the key. Correct it, then resume.")


def return_unsent(work: Work, rows: Sequence[Claimed]) -> int:
    """Give claimed rows that were never sent back to the queue, with their reservation.

    Of a row that was taken from this worker meanwhile, by a sweep or a cancellation, the call that was
    counted as lost is taken back; where the row stands is left as it is.

    Returns:
        How many went back to the queue.
    """
    if not rows:
        return 0
    tokens = {row.row_id: row.token for row in rows}
    with transaction.atomic():
        rows_by_id = work.row_class.objects.filter(pk__in=tokens).order_by("pk")
        locked = rows_by_id.select_for_update(of=("self",), no_key=True)
        states = locked.values_list("pk", "token", "state")
        mine = {pk: state for pk, token, state in states if token == tokens[pk]}
        # The next token: if this transaction is repeated, it finds nothing of its own any more.
        passed = {"worker": None, "lease_until": None, "is_ahead": False, "token": F("token") + 1}
        waiting = {pk for pk, state in mine.items() if state == VerdictState.RUNNING}
        work.row_class.objects.filter(pk__in=waiting).update(state=VerdictState.PENDING, **passed)
        work.row_class.objects.filter(pk__in=mine.keys() - waiting).update(**passed)
        unsent = [row for row in rows if row.row_id in mine]
        passes = lock_passes({row.judge_pass_id for row in unsent})
        for row in unsent:
            judge_pass = passes[row.judge_pass_id]
            judge_pass.give_back(1, reserved_micros=row.reserved_micros)
            if row.row_id not in waiting:
                judge_pass.undo_lost(reserved_micros=row.reserved_micros)
        for judge_pass in passes.values():
            judge_pass.write()
    return len(waiting)


def return_lost(work: Work, *, worker: str, held: Sequence[int]) -> int:
    """Return rows that a loop has claimed and does not hold.

    Their claim was committed, and the connection broke before the loop knew. They were never sent.
    """
    rows = work.row_class.objects.filter(worker=worker, state=VerdictState.RUNNING).exclude(pk__in=held)
    return return_unsent(
        work,
        [
            Claimed(
                row_id=row.pk,
                token=row.token,
                judge_pass_id=row.judge_pass_id,
                counters={},
                reserved_micros=int(row.judge_pass.configuration.get("worst_call_micros") or 0),
            )
            for row in rows.select_related("judge_pass").order_by("pk")
        ],
    )


def return_and_pause(work: Work, row: Unbounded) -> None:
    """Return a row that must not be sent, and pause its pass: the budget could not be kept."""
    if _give_back(work, row.claimed, {"state": VerdictState.PENDING}):
        JudgePass.objects.filter(pk=row.claimed.judge_pass_id, state=PassState.RUNNING).update(
            state=PassState.PAUSED, pause_reason=PauseReason.BUDGET, state_note=row.detail
        )


def settle_not_sent(work: Work, row: NotSent) -> None:
    """Settle a row that was never sent, and give its reservation back."""
    now, claimed = database_now(), row.claimed
    values: dict[str, Any] = {"detail": row.detail, "settled_at": now}
    with transaction.atomic():
        if not _lock_mine(work, claimed):
            return
        if row.values is not None:
            values |= row.values
        else:
            code = FailureCode.BAD_REQUEST
            own = work.failed_values([claimed.row_id], code=code, detail=row.detail, now=now)
            values |= {"state": VerdictState.CALL_FAILED, "failure_code": code, **own.get(claimed.row_id, {})}
        _give_back(work, claimed, values)


def _give_back(work: Work, row: Claimed, values: Mapping[str, Any]) -> bool:
    """Move a row that was not sent, unless it is no longer ours, and return its reservation."""
    with transaction.atomic():
        changed = _mine(work, row).update(worker=None, lease_until=None, is_ahead=False, **values)
        if changed:
            JudgePass.objects.filter(pk=row.judge_pass_id).update(
                n_calls_reserved=F("n_calls_reserved") - 1,
                cost_reserved_micros=F("cost_reserved_micros") - row.reserved_micros,
            )
    return bool(changed)


def _lock_mine(work: Work, row: Claimed) -> bool:
    return _mine(work, row).select_for_update(of=("self",), no_key=True).exists()


def _mine(work: Work, row: Claimed) -> QuerySet:
    return work.row_class.objects.filter(pk=row.row_id, token=row.token, state=VerdictState.RUNNING)


def _key(result: Result) -> tuple[int, int]:
    return result.claimed.row_id, result.claimed.token


def _update_rows(work: Work, results: Sequence[Result], *, now: dt.datetime) -> None:
    values = [
        (*_row_values(result, now=now), *own, *_key(result))
        for result, own in zip(results, work.own_values(results, now=now), strict=True)
    ]
    update_rows(work, (*ROW_COLUMNS, *work.own_columns), values)


def _row_values(result: Result, *, now: dt.datetime) -> tuple[Any, ...]:
    not_before = None if result.delay_s is None else now + dt.timedelta(seconds=result.delay_s)
    return (
        result.state,
        result.failure_code,
        result.detail,
        json.dumps(result.counters),
        adapted(not_before) if not_before else None,
        adapted(now) if result.state != VerdictState.PENDING else None,
    )


def _insert_attempts(
    work: Work, results: Sequence[Result], *, held: set[tuple[int, int]], now: dt.datetime
) -> set[tuple[int, int]]:
    at = adapted(now)
    rows = [
        (
            *_key(result),
            result.outcome,
            result.http_status,
            None if result.parameters is None else json.dumps(result.parameters),
            result.tokens_in,
            result.tokens_out,
            result.cost_micros,
            result.latency_ms,
            result.reply_text,
            result.attempt_detail if _key(result) in held else _late_detail(result),
            at,
        )
        for result in results
    ]
    return insert_attempts(work, (f"{work.row_name}_id", *ATTEMPT_COLUMNS), rows)


def _late_detail(result: Result) -> str:
    return LATE_PREFIX + (result.attempt_detail or "the row had left this worker's hands")
