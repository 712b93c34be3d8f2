"""What must hold at the end of every pass, whatever broke meanwhile."""

from dataclasses import dataclass

from tests.chaos.processes import CONCURRENCY, Installation, Provider

# Whatever else a row may be at the end, it is one of these.
NAMED = {
    "SCORED",
    "PARSE_FAILED",
    "OUT_OF_RANGE",
    "REFUSED",
    "FILTERED",
    "TRUNCATED",
    "CALL_FAILED",
    "SKIPPED",
    "CANCELLED",
}
NEWEST = "(SELECT max(id) FROM judging_judgepass)"
OF_PASS = f"judge_pass_id = {NEWEST}"
ATTEMPTS = f"""
    FROM judging_verdictattempt AS attempt JOIN judging_verdict AS verdict ON verdict.id = attempt.verdict_id
    WHERE verdict.{OF_PASS}
"""


@dataclass(frozen=True)
class Totals:
    """The newest pass at its end."""

    states: dict[str, int]
    n_rows: int
    n_attempts: int
    n_reserved: int


def assert_one_honest_result_a_row(
    site: Installation, *providers: Provider, n_rows: int, n_kills: int = 0
) -> Totals:
    """One result a row, each backed by its attempt, a ledger without a gap, few extra calls.

    Args:
        site: its newest pass is looked at; nothing of it may be in flight.
        providers: all that the pass called, and nothing else did.
        n_rows: responses times judges.
        n_kills: workers killed meanwhile; each may cost 1.5 times the concurrency in extra calls.
    """
    states = dict(site.query(f"SELECT state, count(*) FROM judging_verdict WHERE {OF_PASS} GROUP BY state"))
    n_attempts = int(site.query(f"SELECT count(*) {ATTEMPTS}")[0][0])
    n_calls = sum(provider.n_calls for provider in providers)
    print(f"{states}; {n_calls} calls, {n_attempts} attempts after {n_kills} kills")

    assert sum(states.values()) == n_rows
    assert set(states) <= NAMED
    assert 0 <= n_calls - n_attempts <= n_kills * 1.5 * CONCURRENCY
    _assert_no_half_row(site)
    n_reserved = _assert_ledger(site, n_attempts=n_attempts)
    assert n_reserved >= n_calls
    return Totals(states=states, n_rows=n_rows, n_attempts=n_attempts, n_reserved=n_reserved)


def _assert_no_half_row(site: Installation) -> None:
    """Every score has the one attempt of its token with the very reply, and nobody holds a row."""
    half = f"""{OF_PASS} AND state = 'SCORED' AND NOT EXISTS (
        SELECT 1 FROM judging_verdictattempt AS attempt WHERE attempt.verdict_id = judging_verdict.id
        AND attempt.token = judging_verdict.token AND attempt.outcome = 'ok'
        AND attempt.reply_text = judging_verdict.raw_text)"""
    assert site.count(half) == 0
    assert site.count(f"{OF_PASS} AND (settled_at IS NULL OR worker IS NOT NULL)") == 0
    twice = f"SELECT verdict.id {ATTEMPTS} GROUP BY verdict.id, attempt.token HAVING count(*) > 1"
    assert site.query(twice) == []


def _assert_ledger(site: Installation, *, n_attempts: int) -> int:
    """What was reserved is what was spent: each attempt at its cost, each lost call at its worst case."""
    reserved, spent, n_reserved, worst = site.query(
        "SELECT cost_reserved_micros, cost_settled_micros, n_calls_reserved, "
        f"{site.database.json_field('configuration', 'worst_call_micros')} "
        f"FROM judging_judgepass WHERE id = {NEWEST}"
    )[0]
    known = int(site.query(f"SELECT coalesce(sum(coalesce(cost_micros, {worst})), 0) {ATTEMPTS}")[0][0])
    assert reserved == spent == known + (n_reserved - n_attempts) * int(worst)
    return int(n_reserved)
