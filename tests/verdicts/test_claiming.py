"""The one gate: slots, rate, budget, suspects, leases."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from judging.choices import PassState
from judging.models import EndpointGate, JudgePass, Verdict, VerdictAttempt
from judging.queue import leases
from judging.queue.leases import beat
from judging.queue.recording import return_lost, return_unsent
from judging.queue.results import MAX_UNPROVEN_IN_FLIGHT
from judging.queue.work import Claimed
from judging.verdicts.work import JUDGING
from tests.factories import make_attempt
from tests.verdicts.waiting import ask, make_endpoint, make_queue, record, result, row

pytestmark = pytest.mark.django_db


def let_leases_end() -> None:
    Verdict.objects.filter(state="RUNNING").update(lease_until=timezone.now() - timedelta(seconds=1))


def release_overdue() -> int:
    return leases.release_overdue(JUDGING)


def test_a_claim_takes_the_oldest_rows_with_a_lease_and_a_token() -> None:
    make_queue(3)

    claim = ask(2)

    assert [claimed.row_id for claimed in claim.rows] == list(
        Verdict.objects.order_by("pk").values_list("pk", flat=True)[:2]
    )
    first = row(claim.rows[0])
    assert (first.state, first.token, first.worker) == ("RUNNING", 1, "worker-1")
    assert first.lease_until > timezone.now() + timedelta(seconds=50)


def test_max_in_flight_holds_over_two_workers() -> None:
    make_queue(20)

    first, second, third = ask(6), ask(6, worker="worker-2"), ask(6, worker="worker-3")

    assert [len(claim.rows) for claim in (first, second, third)] == [6, 2, 0]


@pytest.mark.django_db(transaction=True)
def test_workers_claiming_at_once_share_the_slots_and_no_row() -> None:
    make_queue(40)
    endpoint, barrier = make_endpoint(max_in_flight=16), threading.Barrier(4)
    claimed: list[Claimed] = []

    def work(worker: str) -> None:
        barrier.wait()
        try:
            for _ in range(3):
                claimed.extend(ask(4, endpoint=endpoint, worker=worker).rows)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[f"worker-{n}"]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(claimed) == 16
    assert len({claim.row_id for claim in claimed}) == 16


def test_a_row_that_is_not_due_is_left() -> None:
    make_queue(2)
    later = Verdict.objects.order_by("pk")[0]
    Verdict.objects.filter(pk=later.pk).update(not_before=timezone.now() + timedelta(seconds=20))

    claim, empty = ask(5), ask(5)

    assert [claimed.row_id for claimed in claim.rows] == [later.pk + 1]
    assert 15 < empty.wait_s <= 20
    assert not empty.is_drained


def test_not_before_of_the_endpoint_holds_every_claim() -> None:
    make_queue(2)
    EndpointGate.objects.update(not_before=timezone.now() + timedelta(seconds=9))

    claim = ask(5)

    assert claim.rows == ()
    assert 8 < claim.wait_s <= 9


def test_a_hold_is_only_ever_lengthened() -> None:
    make_queue(1)
    ask(1, hold_s=30.0)

    claim = ask(1, hold_s=2.0)

    assert claim.rows == ()
    left = EndpointGate.objects.get().not_before - timezone.now()
    assert 28 < left.total_seconds() <= 30


@pytest.mark.parametrize("state", ["READY", "PAUSED", "CANCELLED", "FINISHED"])
def test_rows_of_a_pass_that_is_not_running_are_left(state: str) -> None:
    make_queue(2)
    JudgePass.objects.update(state=state, pause_reason="user" if state == "PAUSED" else None)

    claim = ask(5)

    assert claim.rows == ()
    assert claim.is_drained


def test_the_rate_limit_starts_empty_and_lets_one_second_through() -> None:
    make_queue(30)
    endpoint = make_endpoint(max_in_flight=64, requests_per_minute=600)
    assert ask(30, endpoint=endpoint).rows == ()

    EndpointGate.objects.update(allowance_at=timezone.now() - timedelta(seconds=4))
    after_four_seconds, at_once = ask(30, endpoint=endpoint), ask(30, endpoint=endpoint)

    assert len(after_four_seconds.rows) == 10
    assert at_once.rows == ()


def test_the_rate_limit_starts_empty_again_after_a_rest() -> None:
    make_queue(30)
    EndpointGate.objects.update(allowance_at=timezone.now() - timedelta(hours=1), request_allowance=10)

    claim = ask(30, endpoint=make_endpoint(max_in_flight=64, requests_per_minute=600))

    assert claim.rows == ()


def test_a_rate_of_one_a_minute_is_reached() -> None:
    make_queue(3)
    endpoint = make_endpoint(requests_per_minute=1)
    ask(3, endpoint=endpoint)

    EndpointGate.objects.update(allowance_at=timezone.now() - timedelta(seconds=59), request_allowance=0.1)

    assert len(ask(3, endpoint=endpoint).rows) == 1


def test_an_unproven_endpoint_gets_few_calls_over_all_workers() -> None:
    make_queue(20)
    endpoint = make_endpoint(max_in_flight=64)

    first = ask(3, endpoint=endpoint, proven=False)
    second = ask(64, endpoint=endpoint, proven=False, worker="worker-2")

    assert len(first.rows) == 3
    assert len(second.rows) == MAX_UNPROVEN_IN_FLIGHT - 3


@pytest.mark.parametrize(
    ("outcome", "n_claimed"),
    [("ok", 9), ("parse_failed", 9), ("refused", 9), ("rate_limited", 4), ("server", 4), ("bad_reply", 4)],
)
def test_only_an_answer_proves_an_endpoint(outcome: str, n_claimed: int) -> None:
    make_queue(10)
    first = ask(1, proven=False).rows[0]
    make_attempt(verdict=row(first), token=1, outcome=outcome)

    claim = ask(60, endpoint=make_endpoint(max_in_flight=64), proven=False)

    assert len(claim.rows) == n_claimed


def test_ten_calls_for_two_workers_with_32_slots_are_ten() -> None:
    judge_pass = make_queue(40, max_calls=10)
    endpoint = make_endpoint(max_in_flight=64)

    rows = [*ask(32, endpoint=endpoint).rows, *ask(32, endpoint=endpoint, worker="worker-2").rows]
    record(*(result(claimed) for claimed in rows))
    ask(32, endpoint=endpoint)

    judge_pass.refresh_from_db()
    assert len(rows) == 10
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, "budget")
    assert judge_pass.n_calls_reserved == 10


def test_a_money_cap_reserves_the_worst_case_and_gives_the_rest_back() -> None:
    judge_pass = make_queue(40, max_cost_micros=1_000, worst_call_micros=300)
    rows = ask(8).rows
    assert len(rows) == 3

    nothing_left = ask(8)
    record(*(result(claimed, cost_micros=50) for claimed in rows))
    again = ask(8)

    judge_pass.refresh_from_db()
    assert nothing_left.rows == ()
    assert judge_pass.state == PassState.RUNNING
    assert len(again.rows) == 2
    assert (judge_pass.cost_settled_micros, judge_pass.cost_reserved_micros) == (150, 750)


def test_a_row_of_two_deaths_is_claimed_alone() -> None:
    make_queue(3)
    suspect = Verdict.objects.order_by("pk")[0]
    Verdict.objects.filter(pk=suspect.pk).update(n_deaths=2)

    others, beside = ask(8), ask(8, n_in_flight=2)
    record(*(result(claimed) for claimed in others.rows))
    alone = ask(8)

    assert suspect.pk not in [claimed.row_id for claimed in others.rows]
    assert beside.rows == ()
    assert [claimed.row_id for claimed in alone.rows] == [suspect.pk]
    assert alone.rows[0].is_suspect


def test_suspects_go_one_at_a_time_over_all_endpoints() -> None:
    make_queue(2)
    Verdict.objects.update(n_deaths=2)
    other = Verdict.objects.order_by("pk")[0]
    Verdict.objects.filter(pk=other.pk).update(endpoint_name="other")

    first, second = ask(8), ask(8, endpoint=make_endpoint(name="other"), worker="worker-2")

    assert len(first.rows) == 1
    assert second.rows == ()


def test_rows_of_a_dead_worker_return_and_count_the_death() -> None:
    make_queue(2)
    claimed = ask(2).rows
    assert release_overdue() == 0

    let_leases_end()

    assert release_overdue() == 2
    assert [(row(one).state, row(one).n_deaths, row(one).worker) for one in claimed] == [
        ("PENDING", 1, None)
    ] * 2


def test_the_third_death_is_poison_and_the_others_go_on() -> None:
    make_queue(3)
    poison = Verdict.objects.order_by("pk")[0]
    for _ in range(3):
        claim = ask(8)
        record(*(result(claimed) for claimed in claim.rows if claimed.row_id != poison.pk))
        let_leases_end()
        release_overdue()

    poison.refresh_from_db()
    assert (poison.state, poison.failure_code, poison.n_deaths) == ("CALL_FAILED", "poison", 3)
    assert poison.settled_at is not None
    assert Verdict.objects.filter(state="SCORED").count() == 2


def test_calls_lost_with_their_worker_count_as_spent_at_their_worst_case() -> None:
    judge_pass = make_queue(3, worst_call_micros=100)
    answered, *_ = ask(3).rows
    record(result(answered, cost_micros=30))
    let_leases_end()

    release_overdue()
    release_overdue()

    judge_pass.refresh_from_db()
    assert (judge_pass.cost_settled_micros, judge_pass.cost_reserved_micros) == (230, 230)


def test_a_lost_call_whose_result_comes_in_after_all_counts_at_its_cost_once() -> None:
    judge_pass = make_queue(2, worst_call_micros=100)
    late, lost = (result(claimed, cost_micros=30) for claimed in ask(2).rows)
    let_leases_end()
    release_overdue()
    again = [result(claimed, cost_micros=7) for claimed in ask(2, worker="worker-2").rows]

    record(late)
    record(late)
    record(*again)

    judge_pass.refresh_from_db()
    ledger = VerdictAttempt.objects.aggregate(total=Sum("cost_micros"))["total"]
    assert ledger == 30 + 7 + 7
    assert judge_pass.cost_settled_micros == judge_pass.cost_reserved_micros == ledger + 100
    assert row(lost.claimed).score == 2


@pytest.mark.django_db(transaction=True)
def test_a_sweep_and_a_late_result_at_once_count_a_call_once() -> None:
    judge_pass = make_queue(12, worst_call_micros=100)
    results = [result(claimed, cost_micros=30) for claimed in ask(8).rows]
    let_leases_end()
    barrier = threading.Barrier(4)

    def work(act: Callable[[], object]) -> None:
        barrier.wait()
        try:
            act()
        finally:
            connection.close()

    acts = [release_overdue, release_overdue, lambda: record(*results[:4]), lambda: record(*results[4:])]
    threads = [threading.Thread(target=work, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    judge_pass.refresh_from_db()
    assert judge_pass.cost_settled_micros == judge_pass.cost_reserved_micros == 8 * 30


def test_the_heartbeat_extends_only_rows_in_hand() -> None:
    make_queue(2)
    held, lost = ask(2).rows
    let_leases_end()

    n_extended = beat(JUDGING, worker="worker-1", held=[held.row_id], lease_s=60)
    release_overdue()

    assert n_extended == 1
    assert row(held).state == "RUNNING"
    assert row(lost).state == "PENDING"


def test_rows_lost_with_a_connection_return_unpunished() -> None:
    judge_pass = make_queue(3, worst_call_micros=100)
    held, *_ = ask(3).rows

    n_returned = return_lost(JUDGING, worker="worker-1", held=[held.row_id])

    judge_pass.refresh_from_db()
    assert n_returned == 2
    assert (judge_pass.n_calls_reserved, judge_pass.cost_reserved_micros) == (1, 100)
    assert Verdict.objects.filter(state="PENDING", n_deaths=0).count() == 2


def test_unsent_rows_return_with_their_reservation() -> None:
    judge_pass = make_queue(2, worst_call_micros=100)
    claimed = ask(2).rows

    assert return_unsent(JUDGING, claimed) == 2
    assert return_unsent(JUDGING, claimed) == 0

    judge_pass.refresh_from_db()
    assert (judge_pass.n_calls_reserved, judge_pass.cost_reserved_micros) == (0, 0)


def test_a_turn_needs_few_queries(django_assert_max_num_queries: Any) -> None:
    make_queue(8)
    first = ask(4)

    with django_assert_max_num_queries(14):
        ask(4, results=[result(claimed) for claimed in first.rows])
