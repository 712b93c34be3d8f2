"""Results: guarded by the token, stored once, settled once."""

import json
from typing import Any

import pytest

from judging.choices import PassState
from judging.models import Verdict, VerdictAttempt
from judging.passes.control import cancel_pass
from judging.passes.progress import measure_progress
from judging.queue.claiming import Asking
from judging.queue.recording import settle_not_sent
from judging.queue.turns import VALUE_ERRORS, record_each
from judging.queue.work import NotSent
from judging.verdicts.work import JUDGING
from tests.verdicts.waiting import ask, make_endpoint, make_queue, record, result, row

pytestmark = pytest.mark.django_db


def test_a_result_settles_its_row_and_stores_its_attempt() -> None:
    make_queue(1)
    (claimed,) = ask(1).rows

    sent = {"temperature": 0.0, "max_tokens": 1024}
    counts = {"http_status": 200, "tokens_in": 7, "tokens_out": 3, "latency_ms": 20}
    record(result(claimed, jailbreak_score=4, parameters=sent, **counts))

    verdict, attempt = row(claimed), VerdictAttempt.objects.get()
    assert (verdict.state, verdict.score, verdict.jailbreak_score) == ("SCORED", 2, 4)
    assert (verdict.raw_text, verdict.worker, verdict.lease_until) == (
        "Policy Compliance Risk: 2",
        None,
        None,
    )
    assert verdict.parser_version
    assert attempt.detail is None
    assert verdict.settled_at is not None
    assert (attempt.token, attempt.outcome, attempt.http_status, attempt.latency_ms) == (1, "ok", 200, 20)
    assert (attempt.tokens_in, attempt.tokens_out, attempt.reply_text) == (7, 3, verdict.raw_text)
    assert attempt.parameters == sent


def test_a_retry_returns_the_row_with_its_history() -> None:
    make_queue(1)
    (claimed,) = ask(1).rows

    record(result(claimed, state="PENDING", score=None, outcome="server", delay_s=30.0, reply_text=None))

    verdict = row(claimed)
    assert (verdict.state, verdict.settled_at, verdict.counters) == ("PENDING", None, {"n_attempts": 1})
    assert verdict.not_before is not None
    assert ask(1).rows == ()


def test_a_stale_token_changes_no_verdict_but_its_attempt_is_kept() -> None:
    make_queue(1)
    (stale,) = ask(1).rows
    Verdict.objects.update(state="PENDING", worker=None, lease_until=None)
    (fresh,) = ask(1, worker="worker-2").rows

    record(result(stale, score=5))

    verdict = row(fresh)
    assert (verdict.state, verdict.score, verdict.worker, verdict.token) == ("RUNNING", None, "worker-2", 2)
    assert VerdictAttempt.objects.get().token == 1


def test_a_repeated_batch_changes_nothing() -> None:
    judge_pass = make_queue(3, worst_call_micros=100)
    results = [result(claimed, cost_micros=40) for claimed in ask(3).rows]
    record(*results)
    rows = list(Verdict.objects.order_by("pk").values())

    record(*results)

    judge_pass.refresh_from_db()
    assert list(Verdict.objects.order_by("pk").values()) == rows
    assert VerdictAttempt.objects.count() == 3
    assert (judge_pass.cost_settled_micros, judge_pass.cost_reserved_micros) == (120, 120)


def test_an_unknown_cost_settles_at_the_worst_case() -> None:
    judge_pass = make_queue(1, worst_call_micros=100)
    (claimed,) = ask(1).rows

    record(result(claimed, state="PENDING", score=None, outcome="timeout", cost_micros=None, delay_s=0.0))

    judge_pass.refresh_from_db()
    assert (judge_pass.cost_settled_micros, judge_pass.cost_reserved_micros) == (100, 100)


def test_a_refused_key_pauses_the_pass_and_keeps_the_row() -> None:
    judge_pass = make_queue(3)
    first, second = ask(2).rows

    refused = {"n_refused": 1}
    record(result(first, state="PENDING", score=None, outcome="auth", pauses_pass=True, counters=refused))
    record(result(second))

    judge_pass.refresh_from_db()
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, "auth")
    assert judge_pass.state_note
    assert (row(first).state, row(first).counters) == ("PENDING", refused)
    assert row(second).state == "SCORED"
    assert ask(5).rows == ()


def test_a_result_that_comes_after_the_cancellation_stands_only_in_the_ledger() -> None:
    judge_pass = make_queue(3, worst_call_micros=100)
    late, _ = ask(2).rows
    cancel_pass(judge_pass)
    before = judge_pass.cost_settled_micros

    record(result(late, cost_micros=30))

    judge_pass.refresh_from_db()
    attempt = VerdictAttempt.objects.get()
    assert (row(late).state, row(late).score) == ("CANCELLED", None)
    assert attempt.reply_text == "Policy Compliance Risk: 2"
    assert attempt.detail == "late: the row had left this worker's hands"
    assert (before, judge_pass.cost_settled_micros) == (200, 130)


def test_a_late_result_keeps_what_it_says_of_itself_and_is_counted() -> None:
    judge_pass = make_queue(1)
    (claimed,) = ask(1).rows
    cancel_pass(judge_pass)

    record(result(claimed, outcome="server", attempt_detail="HTTP 503"))

    progress = measure_progress(judge_pass)
    assert VerdictAttempt.objects.get().detail == "late: HTTP 503"
    assert (progress.n_attempts, progress.n_late) == (1, 1)


@pytest.mark.parametrize("is_simulated", [True, False])
def test_one_simulated_answer_marks_the_pass(is_simulated: bool) -> None:
    judge_pass = make_queue(2)
    first, second = ask(2).rows
    record(result(first))

    record(result(second, is_simulated=is_simulated))

    judge_pass.refresh_from_db()
    assert judge_pass.is_simulated == is_simulated


def test_a_leak_is_skipped_and_costs_nothing() -> None:
    judge_pass = make_queue(1, worst_call_micros=100)
    (claimed,) = ask(1).rows

    values = {"state": "SKIPPED", "skip_code": "EXEMPLAR_LEAK"}
    settle_not_sent(JUDGING, NotSent(claimed=claimed, detail="same case", values=values))

    judge_pass.refresh_from_db()
    verdict = row(claimed)
    assert (verdict.state, verdict.skip_code, verdict.detail) == ("SKIPPED", "EXEMPLAR_LEAK", "same case")
    assert (judge_pass.n_calls_reserved, judge_pass.cost_reserved_micros) == (0, 0)


def test_a_row_that_cannot_be_built_fails_and_costs_nothing() -> None:
    judge_pass = make_queue(1, worst_call_micros=100)
    (claimed,) = ask(1).rows

    settle_not_sent(JUDGING, NotSent(claimed=claimed, detail="KeyError"))

    judge_pass.refresh_from_db()
    assert (row(claimed).state, row(claimed).failure_code) == ("CALL_FAILED", "bad_request")
    assert judge_pass.n_calls_reserved == 0


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"reply_text": "a \ud800 b"}, id="lone surrogate"),
        pytest.param({"score": 9}, id="score out of scale"),
        pytest.param({"state": "NOWHERE", "score": None}, id="unknown state"),
    ],
)
def test_a_result_that_cannot_be_stored_costs_no_other_result(values: dict[str, Any]) -> None:
    make_queue(3)
    first, second, third = ask(3).rows
    results = [result(first), result(second, **values), result(third)]
    with pytest.raises(VALUE_ERRORS):
        record(*results)

    asking = Asking(work=JUDGING, endpoint=make_endpoint(), worker="worker-1", lease_s=60, wanted=5)
    refused = record_each(asking, results)

    assert [one.claimed for one in refused] == [second]
    assert [row(one).state for one in (first, second, third)] == ["SCORED", "CALL_FAILED", "SCORED"]
    assert row(second).failure_code == "bad_reply"
    assert row(second).raw_text is None
    assert VerdictAttempt.objects.count() == 3


def test_the_history_is_stored_as_json() -> None:
    make_queue(1)
    (claimed,) = ask(1).rows

    record(result(claimed, counters={"resent_without": ["temperature"]}))

    assert json.loads(json.dumps(row(claimed).counters)) == {"resent_without": ["temperature"]}
