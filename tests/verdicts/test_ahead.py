"""Rows claimed ahead of a free slot: how many, and what a death or a stop makes of them."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from judging.models import EndpointGate, JudgePass, Verdict
from judging.passes.control import cancel_pass
from judging.queue.claiming import Claim
from judging.queue.leases import release_overdue
from judging.queue.recording import return_unsent
from judging.verdicts.work import JUDGING
from tests.verdicts.waiting import ask, make_endpoint, make_queue, record, result, row

pytestmark = pytest.mark.django_db


def ask_ahead(more: int, *, ahead: int, **values: Any) -> Claim:
    return ask(more, endpoint=values.pop("endpoint", make_endpoint(max_in_flight=4)), ahead=ahead, **values)


def kill_workers() -> None:
    Verdict.objects.filter(state="RUNNING").update(lease_until=timezone.now() - timedelta(seconds=1))
    release_overdue(JUDGING)


def ahead() -> list[bool]:
    return [one.is_ahead for one in Verdict.objects.filter(state="RUNNING").order_by("pk")]


def test_slots_are_filled_first_and_some_rows_are_held_ready() -> None:
    make_queue(20)

    claim = ask_ahead(4, ahead=2)

    assert claim.slots == 4
    assert ahead() == [False] * 4 + [True] * 2


def test_rows_held_ready_take_the_next_slots_and_are_replaced() -> None:
    make_queue(20)
    rows = ask_ahead(4, ahead=2).rows

    claim = ask_ahead(2, ahead=2, n_in_flight=2, n_ready=2, results=[result(one) for one in rows[:2]])

    assert len(claim.rows) == 2
    assert ahead() == [False] * 2 + [True] * 4


def test_nothing_is_claimed_ahead_without_a_slot() -> None:
    make_queue(20)
    ask_ahead(4, ahead=0)

    claim = ask_ahead(4, ahead=2, worker="worker-2")

    assert (claim.rows, claim.slots) == ((), 0)


@pytest.mark.parametrize(
    ("max_calls", "n_claimed"),
    [pytest.param(100, 6, id="far from the cap"), pytest.param(15, 4, id="near the cap")],
)
def test_near_a_cap_nothing_is_claimed_ahead(max_calls: int, n_claimed: int) -> None:
    make_queue(30, max_calls=max_calls)

    assert len(ask_ahead(4, ahead=2).rows) == n_claimed


def test_under_a_rate_that_binds_nothing_is_claimed_ahead() -> None:
    make_queue(20)
    endpoint = make_endpoint(max_in_flight=4, requests_per_minute=300)
    ask_ahead(4, ahead=2, endpoint=endpoint)
    EndpointGate.objects.update(allowance_at=timezone.now() - timedelta(seconds=4))

    assert len(ask_ahead(4, ahead=2, endpoint=endpoint).rows) == 4


def test_before_the_first_answer_one_loop_holds_ready_what_it_may_not_yet_send() -> None:
    make_queue(40)
    endpoint = make_endpoint(max_in_flight=24)

    first = ask_ahead(16, ahead=2, endpoint=endpoint, proven=False)
    marks = ahead()
    second = ask_ahead(8, ahead=4, endpoint=endpoint, proven=False, worker="worker-2")

    assert marks == [False] * 5 + [True] * 13
    assert (len(first.rows), second.rows) == (18, ())


def test_before_the_first_answer_nothing_is_held_beside_another_workers_calls() -> None:
    make_queue(40)
    endpoint = make_endpoint(max_in_flight=24)
    ask_ahead(2, ahead=0, endpoint=endpoint, proven=False)

    assert len(ask_ahead(8, ahead=4, endpoint=endpoint, proven=False, worker="worker-2").rows) == 3


def test_a_death_counts_for_rows_that_were_sent_and_not_for_those_held_ready() -> None:
    make_queue(6)
    sent_and_ready = ask_ahead(4, ahead=2).rows

    kill_workers()

    assert [row(one).n_deaths for one in sent_and_ready] == [1, 1, 1, 1, 0, 0]
    assert {row(one).state for one in sent_and_ready} == {"PENDING"}


def test_a_row_that_a_death_left_in_doubt_is_claimed_for_a_free_slot_only() -> None:
    make_queue(6)
    sent_and_ready = ask_ahead(4, ahead=2).rows
    in_doubt = [one.row_id for one in sent_and_ready[4:]]
    kill_workers()
    record(*(result(one) for one in ask_ahead(4, ahead=0).rows))

    none_free = ask_ahead(4, ahead=2, n_in_flight=4)
    free = ask_ahead(4, ahead=2)
    kill_workers()

    assert none_free.rows == ()
    assert [one.row_id for one in free.rows] == in_doubt
    assert list(Verdict.objects.filter(pk__in=in_doubt).values_list("n_deaths", flat=True)) == [1, 1]


def test_a_poison_row_is_found_and_no_row_beside_it_is_condemned() -> None:
    """Each worker sends what it claimed, also the rows held ready, until it meets the poison and dies."""
    make_queue(12)
    poison = Verdict.objects.order_by("pk")[5].pk
    n_kills = 0
    while Verdict.objects.filter(settled_at=None).exists():
        rows = ask_ahead(4, ahead=2).rows
        assert rows
        if poison in [one.row_id for one in rows]:
            n_kills += 1
            kill_workers()
        else:
            record(*(result(one) for one in rows))

    states = dict(Verdict.objects.values_list("pk", "state"))
    assert states.pop(poison) == "CALL_FAILED"
    assert set(states.values()) == {"SCORED"}
    # Once it may have been held ready only; then three deaths are counted.
    assert n_kills == 4


@pytest.mark.django_db(transaction=True)
def test_suspects_of_two_endpoints_asked_for_at_once_go_one_at_a_time() -> None:
    make_queue(2)
    Verdict.objects.update(n_deaths=2)
    Verdict.objects.filter(pk=Verdict.objects.order_by("pk")[0].pk).update(endpoint_name="other")
    barrier, claims = threading.Barrier(2), []

    def work(name: str) -> None:
        barrier.wait()
        try:
            claims.append(ask(4, endpoint=make_endpoint(name=name), worker=f"worker-{name}"))
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[name]) for name in ("local", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(len(claim.rows) for claim in claims) == [0, 1]


def test_rows_held_ready_through_a_cancellation_cost_nothing_in_the_end() -> None:
    judge_pass = make_queue(6, worst_call_micros=100)
    rows = ask_ahead(4, ahead=2).rows
    cancel_pass(judge_pass)

    claim = ask_ahead(4, ahead=2, n_in_flight=4, n_ready=2, ready_passes=frozenset({judge_pass.pk}))
    return_unsent(JUDGING, rows[4:])
    return_unsent(JUDGING, rows[4:])

    judge_pass.refresh_from_db()
    assert claim.ended_passes == {judge_pass.pk}
    assert {row(one).state for one in rows} == {"CANCELLED"}
    assert judge_pass.n_calls_reserved == 4
    assert judge_pass.cost_settled_micros == judge_pass.cost_reserved_micros == 400


def test_rows_held_ready_longer_than_their_lease_cost_nothing_twice() -> None:
    judge_pass = make_queue(6, worst_call_micros=100)
    rows = ask_ahead(4, ahead=2).rows
    kill_workers()

    return_unsent(JUDGING, rows[4:])

    judge_pass.refresh_from_db()
    assert {row(one).state for one in rows[4:]} == {"PENDING"}
    assert judge_pass.n_calls_reserved == 4
    assert judge_pass.cost_settled_micros == judge_pass.cost_reserved_micros == 400


def test_a_paused_pass_says_so_to_the_loop_that_holds_its_rows_ready() -> None:
    judge_pass = make_queue(6)
    ask_ahead(4, ahead=2)
    JudgePass.objects.update(state="PAUSED", pause_reason="user")

    claim = ask_ahead(4, ahead=2, n_in_flight=4, n_ready=2, ready_passes=frozenset({judge_pass.pk}))

    assert claim.ended_passes == {judge_pass.pk}
    assert claim.slots == 4
