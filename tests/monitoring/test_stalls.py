"""A running pass is stalled when its rows are due and nobody touches them; waiting is no stall."""

from typing import Any

import pytest

from annotation.audit import record_event
from judging.choices import PassState
from judging.models import EndpointGate, JudgePass
from judging.monitoring.stalls import find_stalls, stalled_endpoints
from tests.factories import make_attempt, make_generation, make_generation_attempt
from tests.monitoring.running_passes import (
    ENDPOINT,
    in_seconds,
    make_loop,
    make_row,
    make_running_collection,
    make_running_pass,
)

pytestmark = pytest.mark.django_db


def test_a_pass_that_no_worker_takes_up_is_stalled() -> None:
    judge_pass = make_running_pass(n_pending=2)

    found = find_stalls()

    assert [(stall.judge_pass, stall.endpoint_name) for stall in found] == [(judge_pass, ENDPOINT)]


def test_a_collection_that_no_worker_takes_up_is_stalled() -> None:
    judge_pass = make_running_collection(n_pending=2)

    assert [stall.judge_pass for stall in find_stalls()] == [judge_pass]


def test_rows_of_a_dead_worker_that_nobody_takes_back_are_a_stall() -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, state="RUNNING", lease_until=in_seconds(-61))

    assert stalled_endpoints(judge_pass) == [ENDPOINT]


def test_a_dead_worker_that_holds_all_slots_is_a_stall() -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_row(judge_pass, state="RUNNING", lease_until=in_seconds(100))
    make_loop(silent_s=90)

    assert stalled_endpoints(judge_pass) == [ENDPOINT]


@pytest.mark.parametrize("state", [PassState.PAUSED, PassState.FINISHED, PassState.CANCELLED])
def test_a_pass_that_is_not_running_is_no_stall(state: PassState) -> None:
    judge_pass = make_running_pass(n_pending=1)
    reason = "user" if state == PassState.PAUSED else None
    JudgePass.objects.update(state=state, pause_reason=reason)
    judge_pass.refresh_from_db()

    assert find_stalls() == []
    assert stalled_endpoints(judge_pass) == []


def test_a_pass_that_was_started_a_moment_ago_is_no_stall() -> None:
    make_running_pass(n_pending=1, started_at=in_seconds(-30))

    assert find_stalls() == []


def test_a_pass_that_was_resumed_a_moment_ago_is_no_stall() -> None:
    judge_pass = make_running_pass(n_pending=1)
    record_event(actor=None, action="pass.running", subject=f"pass:{judge_pass.public_id}")

    assert find_stalls() == []


def test_rows_that_fell_due_a_moment_ago_are_no_stall() -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=in_seconds(-20))

    assert find_stalls() == []


def test_rows_deferred_by_retry_after_are_no_stall() -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=in_seconds(3600))

    assert find_stalls() == []


@pytest.mark.parametrize("seconds", [3600, -20], ids=["held", "held until a moment ago"])
def test_a_provider_that_asked_for_a_pause_is_no_stall(seconds: float) -> None:
    make_running_pass(n_pending=1)
    EndpointGate.objects.create(name=ENDPOINT, not_before=in_seconds(seconds))

    assert find_stalls() == []


def test_a_loop_that_counts_its_rate_limit_is_no_stall() -> None:
    make_running_pass(n_pending=1)
    EndpointGate.objects.create(name=ENDPOINT, allowance_at=in_seconds(-5))

    assert find_stalls() == []


def test_long_calls_of_a_living_worker_are_no_stall() -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_row(judge_pass, state="RUNNING", lease_until=in_seconds(141))
    make_loop(silent_s=4)

    assert find_stalls() == []


def test_a_living_worker_that_calls_nothing_is_a_stall() -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_loop(silent_s=4, slots=0)

    assert stalled_endpoints(judge_pass) == [ENDPOINT]


def test_a_call_of_the_last_minute_is_progress() -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_attempt(verdict=make_row(judge_pass), at=in_seconds(-59))

    assert find_stalls() == []


def test_a_call_before_the_last_minute_is_none() -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_attempt(verdict=make_row(judge_pass), at=in_seconds(-61))

    assert stalled_endpoints(judge_pass) == [ENDPOINT]


def test_a_pass_whose_turn_has_not_come_is_no_stall() -> None:
    make_running_pass(n_pending=1)
    before = make_running_pass(n_pending=1)
    make_attempt(verdict=make_row(before), at=in_seconds(-5))

    assert find_stalls() == []


def test_progress_of_another_kind_or_endpoint_is_not_ones_own() -> None:
    judge_pass = make_running_pass(n_pending=1)
    collection = make_running_collection()
    make_generation_attempt(
        generation=make_generation(judge_pass=collection, endpoint_name=ENDPOINT), at=in_seconds(-5)
    )
    elsewhere = make_running_pass(endpoint="elsewhere")
    make_attempt(verdict=make_row(elsewhere, endpoint_name="elsewhere"), at=in_seconds(-5))

    assert stalled_endpoints(judge_pass) == [ENDPOINT]


def test_an_endpoint_needs_seven_queries_at_most(django_assert_max_num_queries: Any) -> None:
    make_running_pass(n_pending=30)

    with django_assert_max_num_queries(8):
        assert len(find_stalls()) == 1
