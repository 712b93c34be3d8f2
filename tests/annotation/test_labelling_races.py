"""Many people, or one impatient one, at the same moment. Real threads, real connections."""

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import pytest
from django.db import DatabaseError, OperationalError, connection, transaction
from django.db.models import Count
from django.utils import timezone

from annotation.choices import Rating
from annotation.labelling import Receipt, next_assignment, submit_label
from annotation.models import Annotator, Assignment, Label
from tests.annotation.desk import Desk, answer, make_desk, take
from tests.factories import make_assignment, make_label

pytestmark = pytest.mark.django_db(transaction=True)
Result = TypeVar("Result")


def at_once(calls: list[Callable[[], Any]]) -> list[Any]:
    """Results of all calls, started together, each in a thread with its own connection."""
    start = threading.Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            start.wait()
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def next_of(desk: Desk, annotator: Annotator) -> Assignment | None:
    return next_assignment(campaign=desk.campaign, annotator=annotator)


def end_leases() -> None:
    Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


def until_served(call: Callable[[], Result]) -> Result:
    """Try again as the label page does, with the same submission id, when the database gave no turn.

    SQLite lets waiting writers in without any order, so one of twenty may wait beyond its time-out.
    """
    while True:
        try:
            return call()
        except OperationalError as error:
            if "locked" not in str(error):
                raise


def work_through(desk: Desk, annotator: Annotator) -> int:
    """Answer what there is for the person until there is nothing; how many."""
    n_answered = 0
    while assignment := until_served(partial(next_of, desk, annotator)):
        until_served(partial(answer, assignment, submission_id=uuid.uuid4()))
        n_answered += 1
    return n_answered


def labels_by_item(desk: Desk) -> dict[int, int]:
    labels = Label.objects.filter(is_current=True).order_by().values_list("item")
    return dict(labels.annotate(n=Count("pk")))


def test_fifty_identical_submits_store_one_label_with_equal_receipts() -> None:
    assignment = take(make_desk())
    submission_id = uuid.uuid4()

    def submit() -> Receipt:
        return submit_label(
            assignment=assignment,
            annotator=assignment.annotator,
            submission_id=submission_id,
            rating=Rating.UNACCEPTABLE,
            note="A note",
        )

    receipts = at_once([submit] * 50)

    assert Label.objects.count() == 1
    assert set(receipts) == {receipts[0]}


def test_twenty_people_racing_for_ten_items_get_ten_different_ones() -> None:
    desk = make_desk(n_items=10, n_annotators=20)

    assignments = at_once([partial(next_of, desk, person) for person in desk.annotators])

    held = [assignment.item_id for assignment in assignments if assignment]
    assert sorted(held) == sorted(item.pk for item in desk.items)
    assert assignments.count(None) == 10


def test_people_racing_for_items_with_overlap_two_fill_each_exactly_twice() -> None:
    desk = make_desk(n_items=5, n_annotators=12, labels_per_response=2)

    assignments = at_once([partial(next_of, desk, person) for person in desk.annotators])

    held = [assignment.item_id for assignment in assignments if assignment]
    assert sorted(held) == sorted([item.pk for item in desk.items] * 2)


def test_one_person_opening_ten_windows_holds_one_item() -> None:
    desk = make_desk(n_items=10)

    assignments = at_once([partial(next_of, desk, desk.annotator)] * 10)

    assert len({assignment.pk for assignment in assignments}) == 1
    assert Assignment.objects.count() == 1


def test_three_people_racing_for_the_last_place_lose_nothing_and_mark_the_surplus() -> None:
    desk = make_desk(n_items=1, n_annotators=3)
    assignments = []
    for person in desk.annotators:
        assignments.append(take(desk, person))
        end_leases()

    receipts = at_once([partial(answer, held) for held in assignments])

    assert Label.objects.filter(is_current=True).count() == 3
    assert sorted(receipt.is_extra for receipt in receipts) == [False, True, True]


def test_items_of_people_who_vanished_go_to_those_who_stay() -> None:
    desk = make_desk(n_items=12, n_annotators=6, labels_per_response=2)
    leavers, stayers = desk.annotators[:3], desk.annotators[3:]
    at_once([partial(next_of, desk, person) for person in desk.annotators])
    Assignment.objects.filter(annotator__in=leavers).update(lease_until=timezone.now() - timedelta(seconds=1))

    at_once([partial(work_through, desk, person) for person in stayers])

    assert labels_by_item(desk) == dict.fromkeys((item.pk for item in desk.items), 2)
    assert not Label.objects.filter(is_extra=True).exists()
    assert not Label.objects.filter(annotator__in=leavers).exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server-side sessions to kill")
def test_database_sessions_killed_within_a_claim_leave_no_item_locked() -> None:
    desk = make_desk(n_items=4, n_annotators=5)
    *killed, survivor = desk.annotators
    # The main thread kills each session once it holds its claim, before it commits.
    holds, is_killed = threading.Barrier(len(killed) + 1), threading.Event()
    session_ids: list[int] = []

    def claim_and_die(person: Annotator) -> bool:
        try:
            with transaction.atomic():
                next_of(desk, person)
                with connection.cursor() as cursor:
                    cursor.execute("SELECT pg_backend_pid()")
                    session_ids.append(cursor.fetchone()[0])
                holds.wait(30)
                is_killed.wait(30)
        except DatabaseError:
            return True
        finally:
            connection.close()
        return False

    with ThreadPoolExecutor(len(killed)) as pool:
        claims = [pool.submit(claim_and_die, person) for person in killed]
        holds.wait(30)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s) AS pid", [session_ids])
        is_killed.set()

    assert all(claim.result() for claim in claims)
    assert not Assignment.objects.exists()
    work_through(desk, survivor)
    assert labels_by_item(desk) == dict.fromkeys((item.pk for item in desk.items), 1)


def test_two_people_making_the_same_repeat_share_one_item() -> None:
    desk = make_desk(n_items=3, n_annotators=8, labels_per_response=8, repeat_percent=100)
    for person in desk.annotators:
        for item in desk.items:
            long_ago = timezone.now() - timedelta(days=30)
            make_label(item=item, annotator=person, created_at=long_ago)
            make_assignment(item=item, annotator=person, state="LABELLED")

    at_once([partial(work_through, desk, person) for person in desk.annotators])

    assert desk.campaign.items.filter(kind="REPEAT").count() == 3
    assert Label.objects.filter(item__kind="REPEAT").count() == 24


@pytest.mark.parametrize(
    ("n_people", "n_items"),
    [
        pytest.param(6, 20, id="short"),
        *(pytest.param(20, 200, id=f"full {n}", marks=pytest.mark.long) for n in range(1, 21)),
    ],
)
def test_people_working_through_a_campaign_together_leave_exact_counts(n_people: int, n_items: int) -> None:
    desk = make_desk(n_items=n_items, n_annotators=n_people, labels_per_response=3)

    n_answered = at_once([partial(work_through, desk, person) for person in desk.annotators])

    assert sum(n_answered) == 3 * n_items
    assert labels_by_item(desk) == dict.fromkeys((item.pk for item in desk.items), 3)
    assert not Label.objects.filter(is_extra=True).exists()
    pairs = Label.objects.values_list("item", "annotator")
    assert len(set(pairs)) == 3 * n_items
    assert Assignment.objects.count() == 3 * n_items
