"""Writing results: one transaction a batch, guarded by each row's token.

A call is recorded once whatever happens: its attempt is unique by (verdict, token), and only a
first insertion settles its cost. A result whose row was meanwhile claimed again or cancelled
changes no verdict; its attempt still stands in the ledger.
"""

import datetime as dt
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from judging.choices import PassState, PauseReason, SkipCode, VerdictState
from judging.llm.calls import Capabilities
from judging.llm.parsing import PARSER_VERSION
from judging.models import JudgePass, Verdict, VerdictAttempt
from judging.verdicts.claiming import Claimed, database_now

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
UPDATE_VERDICT = """
UPDATE judging_verdict SET state = %s, score = %s, jailbreak_score = %s, failure_code = %s, detail = %s,
    raw_text = %s, parser_version = %s, counters = %s, not_before = %s, settled_at = %s,
    worker = NULL, lease_until = NULL
WHERE id = %s AND token = %s AND state = 'RUNNING'
"""


@dataclass(frozen=True)
class Result:
    """What one sent call came to: the attempt, and where its row goes.

    `state` PENDING returns the row to the queue, due after `delay_s`. `endpoint_delay_s` is how long
    the provider asked every call to wait; `learned` is what the model accepts after a refusal.
    """

    claimed: Claimed
    outcome: str
    http_status: int | None
    tokens_in: int | None
    tokens_out: int | None
    cost_micros: int | None
    latency_ms: int
    reply_text: str | None
    attempt_detail: str | None
    state: str
    score: int | None
    jailbreak_score: int | None
    failure_code: str | None
    detail: str | None
    counters: dict[str, object]
    delay_s: float | None
    endpoint_delay_s: float
    learned: Capabilities | None
    pauses_pass: bool


def record_results(results: Sequence[Result]) -> int:
    """Store a batch of results and their attempts, settle their cost, pause passes whose key was refused.

    Safe to repeat after a lost connection.

    Returns:
        How many attempts were new.
    """
    if not results:
        return 0
    with transaction.atomic():
        now = database_now()
        ordered = sorted(results, key=lambda result: result.claimed.verdict_id)
        with connection.cursor() as cursor:
            cursor.executemany(UPDATE_VERDICT, [_verdict_values(result, now=now) for result in ordered])
        inserted = _insert_attempts(ordered, now=now)
        _settle(
            [result for result in ordered if (result.claimed.verdict_id, result.claimed.token) in inserted]
        )
        refused = {result.claimed.judge_pass_id for result in ordered if result.pauses_pass}
        if refused:
            JudgePass.objects.filter(pk__in=refused, state=PassState.RUNNING).update(
                state=PassState.PAUSED,
                pause_reason=PauseReason.AUTH,
                state_note="The provider refused the key. Correct it, then resume.",
            )
        return len(inserted)


def return_unsent(rows: Sequence[Claimed]) -> int:
    """Give claimed rows that were never sent back to the queue, with their reservation."""
    n_returned = 0
    with transaction.atomic():
        for row in rows:
            changed = Verdict.objects.filter(
                pk=row.verdict_id, token=row.token, state=VerdictState.RUNNING
            ).update(state=VerdictState.PENDING, worker=None, lease_until=None)
            if changed:
                n_returned += 1
                _give_back(row)
    return n_returned


def settle_leak(row: Claimed, *, detail: str) -> None:
    """Settle a row that must not be sent as SKIPPED, and give its reservation back."""
    with transaction.atomic():
        changed = Verdict.objects.filter(
            pk=row.verdict_id, token=row.token, state=VerdictState.RUNNING
        ).update(
            state=VerdictState.SKIPPED,
            skip_code=SkipCode.EXEMPLAR_LEAK,
            detail=detail,
            worker=None,
            lease_until=None,
            settled_at=database_now(),
        )
        if changed:
            _give_back(row)


def _give_back(row: Claimed) -> None:
    JudgePass.objects.filter(pk=row.judge_pass_id).update(
        n_calls_reserved=F("n_calls_reserved") - 1,
        cost_reserved_micros=F("cost_reserved_micros") - row.reserved_micros,
    )


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


def _insert_attempts(results: Sequence[Result], *, now: dt.datetime) -> set[tuple[int, int]]:
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
            result.attempt_detail,
            _adapt(now),
        )
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return set(cursor.fetchall())


def _settle(results: Sequence[Result]) -> None:
    """Replace the worst-case reservation of each call by what it cost; unknown stays at the worst case."""
    surplus: dict[int, int] = defaultdict(int)
    spent: dict[int, int] = defaultdict(int)
    for result in results:
        cost = result.cost_micros if result.cost_micros is not None else result.claimed.reserved_micros
        surplus[result.claimed.judge_pass_id] += result.claimed.reserved_micros - cost
        spent[result.claimed.judge_pass_id] += cost
    for pass_id in sorted(spent):
        JudgePass.objects.filter(pk=pass_id).update(
            cost_reserved_micros=F("cost_reserved_micros") - surplus[pass_id],
            cost_settled_micros=F("cost_settled_micros") + spent[pass_id],
        )
