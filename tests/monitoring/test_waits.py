"""What a running pass waits for, in the order in which the waits end."""

from typing import Any

import pytest

from judging.choices import PassState
from judging.models import EndpointGate, JudgePass
from judging.monitoring.waits import Cause, Wait, waiting_words, waits_of
from tests.monitoring.running_passes import (
    ENDPOINT,
    in_seconds,
    make_loop,
    make_row,
    make_running_collection,
    make_running_pass,
)

pytestmark = pytest.mark.django_db


def summary(judge_pass: JudgePass) -> list[tuple[str, Any, Cause]]:
    return [(wait.endpoint_name, wait.until, wait.cause) for wait in waits_of(judge_pass)]


def test_a_hold_of_the_endpoint_is_waited_for() -> None:
    until = in_seconds(600)
    EndpointGate.objects.create(name=ENDPOINT, not_before=until)

    assert summary(make_running_pass(n_pending=2)) == [(ENDPOINT, until, Cause.PROVIDER)]
    assert summary(make_running_collection(n_pending=2)) == [(ENDPOINT, until, Cause.PROVIDER)]


def test_rows_that_are_all_deferred_are_waited_for_until_the_first_is_due() -> None:
    judge_pass, first = make_running_pass(), in_seconds(1800)
    make_row(judge_pass, not_before=in_seconds(3600))
    make_row(judge_pass, not_before=first)

    assert summary(judge_pass) == [(ENDPOINT, first, Cause.PROVIDER)]


@pytest.mark.parametrize("state", ["PENDING", "RUNNING"], ids=["one row is due", "one call is under way"])
def test_deferred_rows_beside_work_are_not_waited_for(state: str) -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=in_seconds(3600))
    make_row(judge_pass, state=state)
    make_loop()

    assert summary(judge_pass) == []


def test_a_moment_of_back_off_is_not_worth_a_word() -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=in_seconds(3))

    assert summary(judge_pass) == []


@pytest.mark.parametrize("n_pending", [0, 1], ids=["its calls alone", "rows due beside them"])
def test_a_dead_workers_slots_are_waited_for_until_the_first_lease_ends(n_pending: int) -> None:
    judge_pass = make_running_pass(n_pending=n_pending)
    make_row(judge_pass, state="RUNNING", lease_until=in_seconds(60))
    first = make_loop(silent_s=90)
    make_loop(silent_s=30, worker="worker-2")

    assert summary(judge_pass) == [(ENDPOINT, first.lease_until, Cause.DEAD_WORKER)]


def test_one_living_loop_with_slots_and_nothing_is_waited_for() -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_loop(silent_s=90)
    make_loop(worker="worker-2")

    assert summary(judge_pass) == []


def test_a_living_loop_without_a_slot_waits_for_the_dead_one() -> None:
    judge_pass = make_running_pass(n_pending=1)
    dead = make_loop(silent_s=90)
    make_loop(worker="worker-2", slots=0)

    assert summary(judge_pass) == [(ENDPOINT, dead.lease_until, Cause.DEAD_WORKER)]


def test_each_endpoint_is_told_apart_and_the_longest_wait_comes_last() -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, endpoint_name="late", not_before=in_seconds(3600))
    make_row(judge_pass, endpoint_name="early", not_before=in_seconds(600))
    make_row(judge_pass, endpoint_name="at once")

    assert [wait.endpoint_name for wait in waits_of(judge_pass)] == ["early", "late"]


def test_a_pass_that_is_not_running_waits_for_nothing() -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=in_seconds(3600))
    judge_pass.state = PassState.PAUSED

    assert summary(judge_pass) == []


def test_waits_need_four_queries_at_most(django_assert_max_num_queries: Any) -> None:
    judge_pass = make_running_pass()
    for n in range(6):
        make_row(judge_pass, endpoint_name=f"endpoint-{n}", not_before=in_seconds(600))

    with django_assert_max_num_queries(4):
        assert len(waits_of(judge_pass)) == 6


@pytest.mark.parametrize(
    ("cause", "alone", "among_others"),
    [
        (Cause.PROVIDER, "Waiting for the provider", "Waiting for the provider local"),
        (
            Cause.DEAD_WORKER,
            "Waiting for a dead worker's slots",
            "Waiting for a dead worker's slots at local",
        ),
    ],
)
def test_a_wait_names_its_endpoint_only_beside_others(cause: Cause, alone: str, among_others: str) -> None:
    wait = Wait(ENDPOINT, in_seconds(60), cause)

    assert waiting_words(wait, [wait]) == alone
    assert waiting_words(wait, [wait, wait]) == among_others
