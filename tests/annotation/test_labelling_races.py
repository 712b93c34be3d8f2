"""Many people, or one impatient one, at the same moment. Real threads, real connections."""

import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection

from annotation.choices import Rating
from annotation.labelling import Receipt, next_assignment, submit_label
from annotation.models import Annotator, Assignment, Label
from tests.annotation.desk import Desk, answer, make_desk, take

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_three_people_answering_the_last_place_lose_nothing_and_mark_the_surplus() -> None:
    desk = make_desk(n_items=1, n_annotators=3, labels_per_response=3)
    assignments = [take(desk, person) for person in desk.annotators]
    type(desk.campaign).objects.update(labels_per_response=1)

    receipts = at_once([partial(answer, held) for held in assignments])

    assert Label.objects.filter(is_current=True).count() == 3
    assert sorted(receipt.is_extra for receipt in receipts) == [False, True, True]
