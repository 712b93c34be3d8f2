import random

import pytest

from judging.llm.calls import CallKind, CallOutcome
from judging.llm.parsing import FailureCode, ParsedReply, State
from judging.llm.retrying import Final, History, Retry, RetryPolicy, backoff_s, next_step

POLICY = RetryPolicy()


def step(
    outcome: CallOutcome,
    *,
    history: History | None = None,
    state: State | None = None,
    policy: RetryPolicy = POLICY,
    has_answered: bool = False,
) -> Final | Retry:
    code: FailureCode | None = None if outcome.is_ok else outcome.kind
    parsed = ParsedReply(state=state or "CALL_FAILED", code=code)
    return next_step(
        outcome,
        parsed,
        history=history or History(),
        policy=policy,
        rng=random.Random(1),
        has_answered=has_answered,
    )


def run_until_final(outcome: CallOutcome, *, state: State | None = None) -> tuple[Final, list[Retry]]:
    """Feed the same outcome again and again; fails the test by never ending."""
    history, retries = History(), list[Retry]()
    for _ in range(100):
        result = step(outcome, history=history, state=state)
        if isinstance(result, Final):
            return result, retries
        retries.append(result)
        history = History.from_dict(result.history.as_dict())
    raise AssertionError("the policy never ends")


@pytest.mark.parametrize(
    ("kind", "status", "n_calls"),
    [
        ("timeout", None, 5),
        ("timeout", 408, 5),
        ("network", None, 5),
        ("server", 409, 5),
        ("server", 500, 5),
        ("server", 503, 5),
        ("rate_limited", 429, 20),
        ("bad_reply", 200, 2),
        ("auth", 401, 2),
        ("auth", 402, 2),
        ("auth", 403, 2),
        ("bad_request", 400, 1),
        ("bad_request", 404, 1),
        ("bad_request", 422, 1),
        ("bad_request", 307, 1),
        ("encoding", None, 1),
    ],
)
def test_a_call_that_always_fails_ends_after_its_number_of_calls(
    kind: CallKind, status: int | None, n_calls: int
) -> None:
    final, retries = run_until_final(CallOutcome(kind=kind, http_status=status))

    assert len(retries) + 1 == n_calls
    assert (final.state, final.code, final.pauses_pass) == ("CALL_FAILED", kind, kind == "auth")


@pytest.mark.parametrize(
    ("state", "n_calls", "reason"),
    [
        ("SCORED", 1, None),
        ("REFUSED", 1, None),
        ("FILTERED", 1, None),
        ("PARSE_FAILED", 2, "repair"),
        ("OUT_OF_RANGE", 2, "repair"),
        ("TRUNCATED", 2, "truncated"),
    ],
)
def test_an_answer_that_always_reads_the_same_ends_in_its_state(
    state: State, n_calls: int, reason: str | None
) -> None:
    final, retries = run_until_final(CallOutcome(kind="ok", http_status=200), state=state)

    assert (final.state, final.code, len(retries) + 1) == (state, None, n_calls)
    assert [retry.reason for retry in retries] == [reason] * (n_calls - 1)
    assert all(retry.delay_s == 0 for retry in retries)


def test_a_429_is_not_an_attempt() -> None:
    result = step(CallOutcome(kind="rate_limited"), history=History(n_attempts=4, n_rate_limited=18))

    assert isinstance(result, Retry)
    assert (result.history.n_attempts, result.history.n_rate_limited) == (4, 19)


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (CallOutcome(kind="bad_reply"), None),
        (CallOutcome(kind="bad_request", rejected_parameter="temperature"), None),
        (CallOutcome(kind="ok"), "PARSE_FAILED"),
        (CallOutcome(kind="ok"), "TRUNCATED"),
    ],
)
def test_nothing_is_called_again_after_the_last_paid_attempt(
    outcome: CallOutcome, state: State | None
) -> None:
    assert isinstance(step(outcome, history=History(n_attempts=4), state=state), Final)


def test_repair_and_bad_reply_are_counted_apart() -> None:
    history = History(n_attempts=1, n_bad_replies=1)

    result = step(CallOutcome(kind="ok"), history=history, state="PARSE_FAILED")

    assert isinstance(result, Retry)
    assert result.history.is_repair


def test_a_parameter_is_left_out_once_and_each_for_itself() -> None:
    refusal = CallOutcome(kind="bad_request", http_status=400, rejected_parameter="temperature")
    other = CallOutcome(kind="bad_request", http_status=400, rejected_parameter="max_tokens")

    first = step(refusal)
    again = step(refusal, history=first.history)
    second = step(other, history=first.history)

    assert isinstance(first, Retry)
    assert isinstance(again, Final)
    assert isinstance(second, Retry)
    assert second.history.resent_without == ("temperature", "max_tokens")


def test_a_cut_answer_is_asked_again_with_a_larger_budget() -> None:
    result = step(CallOutcome(kind="ok"), state="TRUNCATED")

    assert History().max_tokens(300, POLICY) == 300
    assert result.history.max_tokens(300, POLICY) == 600


@pytest.mark.parametrize("kind", ["rate_limited", "server"])
@pytest.mark.parametrize("seconds", [30.0, 3_600.0])
def test_retry_after_defers_the_row_for_as_long(kind: CallKind, seconds: float) -> None:
    result = step(CallOutcome(kind=kind, retry_after_s=seconds))

    assert isinstance(result, Retry)
    assert result.delay_s == seconds


@pytest.mark.parametrize(
    ("outcome", "has_answered"),
    [
        (CallOutcome(kind="auth", http_status=401), True),
        (CallOutcome(kind="auth", http_status=402), True),
        (CallOutcome(kind="auth", http_status=403), True),
        (CallOutcome(kind="auth", http_status=403, is_forbidden=True), False),
    ],
    ids=["401", "402", "403 that names the key", "403 before any answer"],
)
def test_a_refused_key_returns_the_row_once_and_then_settles_it(
    outcome: CallOutcome, has_answered: bool
) -> None:
    first = step(outcome, has_answered=has_answered)
    second = step(outcome, has_answered=has_answered, history=first.history)

    assert isinstance(first, Retry)
    assert (first.pauses_pass, first.history) == (True, History(n_refused=1))
    assert isinstance(second, Final)
    assert (second.state, second.code, second.pauses_pass) == ("CALL_FAILED", "auth", True)


def test_a_403_that_may_mean_the_item_settles_the_row_where_others_are_answered() -> None:
    result = step(CallOutcome(kind="auth", http_status=403, is_forbidden=True), has_answered=True)

    assert isinstance(result, Final)
    assert (result.state, result.code, result.pauses_pass) == ("CALL_FAILED", "auth", False)


@pytest.mark.parametrize(("n_before", "ceiling"), [(0, 1), (1, 2), (5, 32), (6, 60), (19, 60), (10_000, 60)])
def test_backoff_is_spread_from_nothing_to_a_doubling_ceiling(n_before: int, ceiling: float) -> None:
    rng = random.Random(7)

    delays = [backoff_s(n_before, policy=POLICY, rng=rng) for _ in range(400)]

    assert 0 <= min(delays) < 0.1 * ceiling
    assert 0.9 * ceiling < max(delays) <= ceiling


def test_history_from_stored_values_of_another_version_keeps_what_it_knows() -> None:
    history = History.from_dict({"n_attempts": 2, "something_else": 1})

    assert history == History(n_attempts=2)
