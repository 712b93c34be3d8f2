"""Slots leased by loops: never more than the endpoint's, and fairly shared."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from judging.choices import PassKind
from judging.models import EndpointGate, SlotLease
from judging.queue.gate import lock_gate
from judging.queue.slots import Grant, fair_shares, lease_slots, release_slots
from tests.verdicts.waiting import ENDPOINT_NAME


def lease(worker: str, wanted: int, *, in_use: int = 0, most: int = 8, **values: Any) -> Grant:
    now = timezone.now()
    with transaction.atomic():
        lock_gate(ENDPOINT_NAME)
        return lease_slots(
            ENDPOINT_NAME,
            worker=worker,
            kind=values.get("kind", PassKind.JUDGING),
            wanted=wanted,
            in_use=in_use,
            most=most,
            lease_until=now + timedelta(seconds=60),
            now=now,
        )


@pytest.mark.parametrize(
    ("wanted", "most", "shares"),
    [
        pytest.param({}, 8, {}, id="nobody"),
        pytest.param({"a": 64}, 8, {"a": 8}, id="alone"),
        pytest.param({"a": 64, "b": 64}, 8, {"a": 4, "b": 4}, id="two alike"),
        pytest.param({"a": 64, "b": 1}, 8, {"a": 7, "b": 1}, id="what one does not want"),
        pytest.param({"a": 64, "b": 3, "c": 64}, 8, {"a": 3, "b": 2, "c": 3}, id="three"),
        pytest.param({"a": 64, "b": 64}, 1, {"a": 0, "b": 1}, id="fewer slots than loops"),
    ],
)
def test_shares(wanted: dict[str, int], most: int, shares: dict[str, int]) -> None:
    assert fair_shares(wanted, most=most) == shares


def test_loops_that_cannot_all_have_a_slot_have_it_by_turns() -> None:
    wanted = {"a": 5, "b": 5, "c": 5}

    owners = [
        max(shares, key=shares.__getitem__)
        for shares in (fair_shares(wanted, most=1, turn=n) for n in range(3))
    ]

    assert sorted(owners) == ["a", "b", "c"]


@given(
    wanted=st.dictionaries(st.text(max_size=3), st.integers(0, 200), max_size=6),
    most=st.integers(0, 256),
    turn=st.integers(0, 1_000_000),
)
def test_shares_use_what_is_wanted_and_no_more(wanted: dict[str, int], most: int, turn: int) -> None:
    shares = fair_shares(wanted, most=most, turn=turn)

    assert sum(shares.values()) == min(most, sum(wanted.values()))
    assert all(0 <= shares[name] <= wanted[name] for name in wanted)
    unmet = [shares[name] for name in wanted if shares[name] < wanted[name]]
    assert not unmet or max(shares.values()) <= min(unmet) + 1


@pytest.mark.django_db
def test_a_second_loop_gets_its_share_only_as_the_first_lets_go() -> None:
    EndpointGate.objects.create(name=ENDPOINT_NAME)
    assert lease("first", 64) == Grant(slots=8, held=8)

    second = lease("second", 64)
    first = lease("first", 64, in_use=8)
    half_way = lease("first", 64, in_use=6)
    grown = lease("second", 64)

    assert second.slots == 0
    assert (first.slots, first.held) == (4, 8)
    assert (half_way.slots, half_way.held) == (4, 6)
    assert grown.slots == 2


@pytest.mark.django_db
def test_slots_hold_over_all_kinds_of_passes() -> None:
    EndpointGate.objects.create(name=ENDPOINT_NAME)
    lease("judging", 6)

    assert lease("collecting", 6, kind=PassKind.COLLECTION).slots == 2


@pytest.mark.django_db
def test_slots_of_a_dead_worker_are_free_when_its_lease_ends() -> None:
    EndpointGate.objects.create(name=ENDPOINT_NAME)
    lease("dead", 8)
    assert lease("alive", 8).slots == 0

    SlotLease.objects.filter(worker="dead").update(lease_until=timezone.now() - timedelta(seconds=1))

    assert lease("alive", 8).slots == 8
    assert not SlotLease.objects.filter(worker="dead").exists()


@pytest.mark.django_db
def test_a_loop_that_ends_gives_its_slots_back() -> None:
    EndpointGate.objects.create(name=ENDPOINT_NAME)
    lease("ended", 8)

    release_slots(worker="ended")

    assert lease("next", 8).slots == 8


@pytest.mark.django_db(transaction=True)
def test_loops_asking_at_once_never_hold_more_than_there_are() -> None:
    EndpointGate.objects.create(name=ENDPOINT_NAME)
    barrier, sums = threading.Barrier(4), []

    def work(worker: str) -> None:
        barrier.wait()
        try:
            in_use = 0
            for _ in range(6):
                in_use = lease(worker, 64, in_use=in_use, most=16).held
                sums.append(SlotLease.objects.aggregate(n=Sum("slots"))["n"])
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[f"worker-{n}"]) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert max(sums) <= 16
