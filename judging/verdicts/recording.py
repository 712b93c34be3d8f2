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

from django.db import connection, transaction
from django.db.models import F

from judging.choices import PassState, PauseReason, SkipCode, VerdictState
from judging.llm.parsing import PARSER_VERSION
from judging.models import JudgePass, Verdict, VerdictAttempt
from judging.passes.progress import LATE_PREFIX
from judging.verdicts.claiming import Claimed, database_now
from judging.verdicts.locked_passes import LockedPass
from judging.verdicts.results import Result

ATTEMPT_COLUMNS = (
    "verdict_id",
    "token",
    "outcome",
    "http_status",
    "tokens_in",
    "tokens_out",
    "cost_micros",
    "latency_ms",
    "reply_text",
    "detail",
    "at",
)
# Raw SQL: one ORM update a row costs ten times as much, and `bulk_update` cannot carry the guard.
UPDATE_VERDICT = """
UPDATE judging_verdict SET state = %s, score = %s, jailbreak_score = %s, failure_code = %s, detail = %s,
    raw_text = %s, parser_version = %s, counters = %s, not_before = %s, settled_at = %s,
    worker = NULL, lease_until = NULL
WHERE id = %s AND token = %s AND state = 'RUNNING'
"""


@dataclass(frozen=True)
class Recorded:
    """A result whose attempt is new. `is_late`: its row had left the worker's hands before."""

    result: Result
    is_late: bool


def write_results(results: Sequence[Result], *, now: dt.datetime) -> list[Recorded]:
    """Write results and their attempts. Safe to repeat after a lost connection.

    Must run inside a transaction; locks the rows in the order of their ids.

    Returns:
        Those whose attempt is new: only these are to be settled.
    """
    if not results:
        return []
    ordered = sorted(results, key=lambda result: result.claimed.verdict_id)
    held = _lock_held(ordered)
    with connection.cursor() as cursor:
        cursor.executemany(UPDATE_VERDICT, [_verdict_values(result, now=now) for result in ordered])
    inserted = _insert_attempts(ordered, held=held, now=now)
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


def return_unsent(rows: Sequence[Claimed]) -> int:
    """Give claimed rows that were never sent back to the queue, with their reservation."""
    return sum(_give_back(row, state=VerdictState.PENDING) for row in rows)


def return_lost(*, worker: str, held: Sequence[int]) -> int:
    """Return rows that a loop has claimed and does not hold.

    Their claim was committed, and the connection broke before the loop knew. They were never sent.
    """
    rows = Verdict.objects.filter(worker=worker, state=VerdictState.RUNNING).exclude(pk__in=held)
    return return_unsent(
        [
            Claimed(
                verdict_id=row.pk,
                token=row.token,
                judge_pass_id=row.judge_pass_id,
                response_id=row.response_id,
                judge_id=row.judge_id,
                exemplars=None,
                counters={},
                reserved_micros=int(row.judge_pass.configuration.get("worst_call_micros") or 0),
            )
            for row in rows.select_related("judge_pass").order_by("pk")
        ]
    )


def return_and_pause(row: Claimed, *, note: str) -> None:
    """Return a row that must not be sent, and pause its pass: the budget could not be kept."""
    if _give_back(row, state=VerdictState.PENDING):
        JudgePass.objects.filter(pk=row.judge_pass_id, state=PassState.RUNNING).update(
            state=PassState.PAUSED, pause_reason=PauseReason.BUDGET, state_note=note
        )


def settle_leak(row: Claimed, *, detail: str) -> None:
    """Settle a row that must not be sent as SKIPPED, and give its reservation back."""
    _give_back(
        row,
        state=VerdictState.SKIPPED,
        skip_code=SkipCode.EXEMPLAR_LEAK,
        detail=detail,
        settled_at=database_now(),
    )


def settle_unbuilt(row: Claimed, *, detail: str) -> None:
    """Settle a row whose request could not be made as CALL_FAILED, and give its reservation back."""
    _give_back(
        row,
        state=VerdictState.CALL_FAILED,
        failure_code="bad_request",
        detail=detail,
        settled_at=database_now(),
    )


def _give_back(row: Claimed, **values: Any) -> bool:
    """Move a row that was not sent, unless it is no longer ours, and return its reservation."""
    with transaction.atomic():
        mine = Verdict.objects.filter(pk=row.verdict_id, token=row.token, state=VerdictState.RUNNING)
        changed = mine.update(worker=None, lease_until=None, **values)
        if changed:
            JudgePass.objects.filter(pk=row.judge_pass_id).update(
                n_calls_reserved=F("n_calls_reserved") - 1,
                cost_reserved_micros=F("cost_reserved_micros") - row.reserved_micros,
            )
    return bool(changed)


def _key(result: Result) -> tuple[int, int]:
    return result.claimed.verdict_id, result.claimed.token


def _lock_held(results: Sequence[Result]) -> set[tuple[int, int]]:
    """Which of the calls still hold their row; those rows are locked, in the order of their ids."""
    rows = Verdict.objects.filter(
        pk__in=[result.claimed.verdict_id for result in results], state=VerdictState.RUNNING
    ).order_by("pk")
    tokens = set(rows.select_for_update(of=("self",), no_key=True).values_list("pk", "token"))
    return tokens.intersection(_key(result) for result in results)


def _verdict_values(result: Result, *, now: dt.datetime) -> tuple[Any, ...]:
    is_settled = result.state != VerdictState.PENDING
    not_before = None if result.delay_s is None else now + dt.timedelta(seconds=result.delay_s)
    return (
        result.state,
        result.score,
        result.jailbreak_score,
        result.failure_code,
        result.detail,
        result.reply_text if is_settled else None,
        PARSER_VERSION if result.reply_text is not None and is_settled else None,
        json.dumps(result.counters),
        _adapt(not_before) if not_before else None,
        _adapt(now) if is_settled else None,
        result.claimed.verdict_id,
        result.claimed.token,
    )


def _adapt(moment: dt.datetime) -> Any:
    """A time as the database's driver takes it in raw SQL."""
    return connection.ops.adapt_datetimefield_value(moment)


def _insert_attempts(
    results: Sequence[Result], *, held: set[tuple[int, int]], now: dt.datetime
) -> set[tuple[int, int]]:
    table = connection.ops.quote_name(VerdictAttempt._meta.db_table)
    row = f"({', '.join(['%s'] * len(ATTEMPT_COLUMNS))})"
    sql = (
        f"INSERT INTO {table} ({', '.join(ATTEMPT_COLUMNS)}) VALUES {', '.join([row] * len(results))} "
        "ON CONFLICT (verdict_id, token) DO NOTHING RETURNING verdict_id, token"
    )
    values: list[Any] = []
    for result in results:
        values += (
            result.claimed.verdict_id,
            result.claimed.token,
            result.outcome,
            result.http_status,
            result.tokens_in,
            result.tokens_out,
            result.cost_micros,
            result.latency_ms,
            result.reply_text,
            result.attempt_detail if _key(result) in held else _late_detail(result),
            _adapt(now),
        )
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return set(cursor.fetchall())


def _late_detail(result: Result) -> str:
    return LATE_PREFIX + (result.attempt_detail or "the row had left this worker's hands")
