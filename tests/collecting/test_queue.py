"""Collection rows in the queue: leases, late results, poison, and answers that no row can hold."""

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Response
from judging.choices import GenerationState
from judging.collecting.reading import CollectedAnswer, read_answer
from judging.collecting.work import COLLECTING
from judging.llm.calls import CallOutcome, CallRequest
from judging.llm.retrying import Final, History
from judging.models import EndpointGate, Generation, GenerationAttempt, JudgePass
from judging.queue.claiming import Asking
from judging.queue.leases import release_overdue
from judging.queue.results import Result, result_of
from judging.queue.turns import record_each, take_turn
from judging.queue.work import Claimed, Prepared
from tests.factories import make_generation, make_pass, make_response
from tests.verdicts.waiting import ENDPOINT_NAME, make_endpoint

pytestmark = pytest.mark.django_db

ANSWER = "Talk with your child about it, calmly and often."


def make_queue(n: int, **values: Any) -> JudgePass:
    """A running collection with `n` waiting rows at the endpoint."""
    target = {
        "endpoint": ENDPOINT_NAME,
        "base_url": "http://127.0.0.1:9/v1",
        "model_id": "m",
        "parameters": {},
    }
    judge_pass = make_pass(kind="COLLECTION", scale="TEXT", state="RUNNING", **values)
    rows = [make_generation(judge_pass=judge_pass, endpoint_name=ENDPOINT_NAME) for _ in range(n)]
    judge_pass.configuration = {
        "targets": {row.target_model.slug: target for row in rows},
        "system_prompt_sha256": None,
        "worst_call_micros": 10,
    }
    judge_pass.save(update_fields=["configuration"])
    EndpointGate.objects.get_or_create(name=ENDPOINT_NAME)
    return judge_pass


def asking(wanted: int) -> Asking:
    """A loop whose endpoint has answered in every pass."""
    answered = set(JudgePass.objects.values_list("pk", flat=True))
    return Asking(
        work=COLLECTING,
        endpoint=make_endpoint(),
        worker="worker-1",
        lease_s=60.0,
        wanted=wanted,
        answered_passes=answered,
    )


def claim(wanted: int = 8) -> list[Claimed]:
    return list(take_turn(asking(wanted)).rows)


def record(*results: Result) -> None:
    take_turn(asking(0), results)


def result(claimed: Claimed, *, text: str = ANSWER, **values: Any) -> Result:
    """A complete answer that cost 3 millionths."""
    defaults: dict[str, Any] = {
        "outcome": "ok",
        "state": GenerationState.COLLECTED,
        "reading": CollectedAnswer(state=GenerationState.COLLECTED, text=text, finish_reason="stop"),
        "parameters": {"max_tokens": 10},
        "reply_text": text,
        "cost_micros": 3,
        "counters": {"n_attempts": 1},
    }
    return Result(claimed=claimed, **(defaults | values))


def expire_leases() -> None:
    Generation.objects.filter(state="RUNNING").update(lease_until=timezone.now() - dt.timedelta(seconds=1))
    release_overdue(COLLECTING)


def only_row() -> Generation:
    return Generation.objects.get()


def test_response_row_and_attempt_are_stored_together() -> None:
    judge_pass = make_queue(2)
    first, _ = claim()

    record(result(first))

    row = Generation.objects.get(pk=first.row_id)
    assert row.response is not None
    assert (row.state, row.response.text) == ("COLLECTED", ANSWER)
    assert GenerationAttempt.objects.get().generation == row
    judge_pass.refresh_from_db()
    assert (judge_pass.cost_settled_micros, judge_pass.cost_reserved_micros) == (3, 13)


def test_the_same_result_twice_is_one_response() -> None:
    judge_pass = make_queue(1)
    [claimed] = claim()

    record(result(claimed))
    record(result(claimed, text="Another text."))

    judge_pass.refresh_from_db()
    assert Response.objects.get().text == ANSWER
    assert GenerationAttempt.objects.count() == 1
    assert judge_pass.cost_settled_micros == 3


def test_a_retry_stores_no_response() -> None:
    make_queue(1)
    [claimed] = claim()

    record(result(claimed, outcome="server", state=GenerationState.PENDING, reading=None, delay_s=1.0))

    assert only_row().state == "PENDING"
    assert not Response.objects.exists()


def test_a_late_answer_is_in_the_ledger_and_stores_no_response() -> None:
    judge_pass = make_queue(1)
    [claimed] = claim()
    expire_leases()
    lost = JudgePass.objects.get().cost_settled_micros

    record(result(claimed))

    judge_pass.refresh_from_db()
    assert only_row().state == "PENDING"
    assert not Response.objects.exists()
    assert (GenerationAttempt.objects.get().detail or "").startswith("late: ")
    assert (lost, judge_pass.cost_settled_micros) == (10, 3)


@pytest.mark.parametrize("content", [None, "", " "], ids=["no content", "empty content", "blank content"])
def test_a_late_refusal_given_apart_from_the_answer_is_in_the_ledger(content: str | None) -> None:
    make_queue(1)
    [claimed] = claim()
    outcome = CallOutcome(kind="ok", http_status=200, text=content, refusal="I had rather not say.")
    prepared = Prepared(
        claimed=claimed,
        request=CallRequest(model="m", messages=[]),
        prices=None,
        history=History(),
        model_pk=1,
        read=read_answer,
    )
    declined = Final(state=GenerationState.COLLECTED, code=None, history=History(n_attempts=1))
    expire_leases()

    record(result_of(prepared, outcome, read_answer(outcome), declined))

    assert not Response.objects.exists()
    assert GenerationAttempt.objects.get().reply_text == "I had rather not say."


def test_three_deaths_make_a_failed_response_and_never_an_empty_one() -> None:
    make_queue(1)
    for _ in range(3):
        assert len(claim(1)) == 1
        expire_leases()

    row = only_row()
    assert (row.state, row.failure_code) == ("CALL_FAILED", "poison")
    assert row.response is not None
    assert (row.response.state, row.response.text) == ("ERROR", "")
    assert (row.response.error or "").startswith("poison: ")


def test_three_deaths_at_a_place_that_was_taken_meanwhile_are_no_failure() -> None:
    make_queue(1)
    for _ in range(2):
        assert len(claim(1)) == 1
        expire_leases()
    assert len(claim(1)) == 1
    row = only_row()
    make_response(prompt=row.prompt, target_model=row.target_model, rollout=0, text="Mine.")

    expire_leases()

    row = only_row()
    assert (row.state, row.failure_code, row.response) == ("CANCELLED", None, None)
    assert (row.worker, row.lease_until, row.n_deaths) == (None, None, 3)
    assert Response.objects.get().text == "Mine."


def test_an_answer_to_a_place_that_was_taken_meanwhile_changes_nothing_there() -> None:
    make_queue(1)
    [claimed] = claim()
    row = only_row()
    mine = make_response(prompt=row.prompt, target_model=row.target_model, rollout=0, text="Mine.")

    record(result(claimed))

    row.refresh_from_db()
    mine.refresh_from_db()
    assert mine.text == "Mine."
    assert (row.state, row.response) == ("CANCELLED", None)
    assert GenerationAttempt.objects.get().reply_text == ANSWER


def test_an_answer_that_no_row_can_hold_is_a_failure_and_the_others_are_stored() -> None:
    make_queue(2)
    good, bad = claim()
    both = [result(good), result(bad, text="a\ud800b", reply_text="a\ud800b")]

    with pytest.raises(ValueError, match="surrogates"):
        record(*both)
    refused = record_each(asking(0), both)

    assert [one.claimed for one in refused] == [bad]
    assert sorted(Response.objects.values_list("state", "text")) == [("ERROR", ""), ("OK", ANSWER)]


def test_an_attempt_for_each_claim() -> None:
    make_queue(1)
    [claimed] = claim()
    record(result(claimed, outcome="server", state=GenerationState.PENDING, reading=None, delay_s=0.0))
    [again] = claim()

    record(result(again))

    assert list(GenerationAttempt.objects.order_by("token").values_list("token", "outcome")) == [
        (1, "server"),
        (2, "ok"),
    ]
