"""Assigning, answering, revising, taking back and skipping."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from annotation.campaigns import close_campaign, pause_campaign, withdraw_consent
from annotation.choices import AssignmentState, LabelAction, Rating, SkipReason
from annotation.errors import Conflict, DomainError, Gone, NotAllowed
from annotation.labelling import (
    InvalidAnswer,
    StaleLabel,
    next_assignment,
    retract_label,
    revise_label,
    skip_item,
    submit_label,
)
from annotation.models import Account, Assignment, Label
from annotation.selectors import current_labels
from tests.annotation.desk import Desk, answer, join, make_desk, take
from tests.factories import make_annotator

pytestmark = pytest.mark.django_db


def end_lease(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def label_of(assignment: Assignment) -> Label:
    return Label.objects.get(item=assignment.item, annotator=assignment.annotator, is_current=True)


def test_next_assignment_again_gives_the_same_item() -> None:
    desk = make_desk()

    assert take(desk) == take(desk)


def test_next_assignment_after_all_items_gives_none() -> None:
    desk = make_desk(n_items=2)
    answer(take(desk))
    answer(take(desk))

    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator) is None


def test_next_assignment_never_gives_an_item_twice_to_one_person() -> None:
    desk = make_desk(n_items=1, labels_per_response=3)
    answer(take(desk))

    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator) is None


def test_order_of_items_is_the_persons_own() -> None:
    desk = make_desk(n_items=8, n_annotators=3, labels_per_response=3)

    orders = []
    for person in desk.annotators:
        order = []
        while assignment := next_assignment(campaign=desk.campaign, annotator=person):
            order.append(assignment.item_id)
            answer(assignment)
        orders.append(tuple(order))

    assert len(set(orders)) == 3
    assert {frozenset(order) for order in orders} == {frozenset(item.pk for item in desk.items)}


def test_item_with_an_ended_lease_goes_to_someone_else() -> None:
    desk = make_desk(n_items=1, n_annotators=2)
    first, second = desk.annotators
    end_lease(take(desk, first))

    assert take(desk, second).item_id == desk.items[0].pk


def test_item_with_a_running_lease_is_not_given_to_someone_else() -> None:
    desk = make_desk(n_items=1, n_annotators=2)
    take(desk)

    assert next_assignment(campaign=desk.campaign, annotator=desk.annotators[1]) is None


def test_person_who_comes_back_late_resumes_with_a_fresh_lease() -> None:
    desk = make_desk()
    assignment = take(desk)
    end_lease(assignment)

    resumed = take(desk)

    assert resumed == assignment
    assert resumed.lease_until > timezone.now() + timedelta(minutes=desk.campaign.lease_minutes - 1)


def test_person_who_comes_back_after_the_item_was_filled_gets_another() -> None:
    desk = make_desk(n_items=1, n_annotators=2)
    first, second = desk.annotators
    end_lease(take(desk, first))
    answer(take(desk, second))

    assert next_assignment(campaign=desk.campaign, annotator=first) is None


def test_answer_after_the_lease_is_kept_and_marked_extra() -> None:
    desk = make_desk(n_items=1, n_annotators=2)
    first, second = desk.annotators
    late = take(desk, first)
    end_lease(late)
    answer(take(desk, second))

    receipt = answer(late)

    assert receipt.is_extra
    assert current_labels(desk.campaign.benchmark).count() == 2


def test_answer_after_the_lease_with_room_left_is_not_extra() -> None:
    desk = make_desk(n_items=1)
    late = take(desk)
    end_lease(late)

    assert not answer(late).is_extra


def test_submission_sent_again_gives_an_equal_receipt() -> None:
    assignment = take(make_desk())
    submission_id = uuid.uuid4()

    receipts = [answer(assignment, submission_id=submission_id, note="A note") for _ in range(2)]

    assert receipts[0] == receipts[1]
    assert Label.objects.count() == 1


def test_submission_sent_again_after_withdrawal_still_gives_its_receipt() -> None:
    assignment = take(make_desk())
    submission_id = uuid.uuid4()
    receipt = answer(assignment, submission_id=submission_id)
    withdraw_consent(campaign=assignment.item.campaign, annotator=assignment.annotator)

    assert answer(assignment, submission_id=submission_id) == receipt


def test_submission_id_with_another_answer_is_refused() -> None:
    assignment = take(make_desk())
    submission_id = uuid.uuid4()
    answer(assignment, Rating.ACCEPTABLE, submission_id=submission_id)

    with pytest.raises(Conflict) as refusal:
        answer(assignment, Rating.UNACCEPTABLE, submission_id=submission_id)

    assert refusal.value.code == "submission_id_used"
    assert label_of(assignment).rating == Rating.ACCEPTABLE


def test_submission_id_of_another_person_is_refused() -> None:
    desk = make_desk(n_items=1, n_annotators=2, labels_per_response=2)
    submission_id = uuid.uuid4()
    answer(take(desk), submission_id=submission_id)

    with pytest.raises(Conflict):
        answer(take(desk, desk.annotators[1]), submission_id=submission_id)

    assert Label.objects.count() == 1


def test_second_answer_from_a_stale_window_is_refused_with_both_values() -> None:
    assignment = take(make_desk())
    answer(assignment, Rating.ACCEPTABLE)

    with pytest.raises(StaleLabel) as refusal:
        answer(assignment, Rating.UNACCEPTABLE)

    assert refusal.value.stored is not None
    assert refusal.value.stored.rating == Rating.ACCEPTABLE
    assert refusal.value.offered is not None
    assert refusal.value.offered.rating == Rating.UNACCEPTABLE


def test_revision_keeps_the_old_row_and_becomes_current() -> None:
    assignment = take(make_desk())
    answer(assignment, Rating.ACCEPTABLE)

    revise_label(
        label=label_of(assignment),
        annotator=assignment.annotator,
        submission_id=uuid.uuid4(),
        rating=Rating.UNACCEPTABLE,
    )

    rows = Label.objects.order_by("revision").values_list("revision", "action", "rating", "is_current")
    assert list(rows) == [
        (1, LabelAction.SUBMITTED, Rating.ACCEPTABLE, False),
        (2, LabelAction.REVISED, Rating.UNACCEPTABLE, True),
    ]


def test_revision_of_a_label_that_no_longer_stands_is_refused() -> None:
    assignment = take(make_desk())
    answer(assignment)
    seen = label_of(assignment)
    retract_label(label=seen, annotator=assignment.annotator, submission_id=uuid.uuid4())

    with pytest.raises(StaleLabel) as refusal:
        revise_label(
            label=seen,
            annotator=assignment.annotator,
            submission_id=uuid.uuid4(),
            rating=Rating.UNACCEPTABLE,
        )

    assert refusal.value.stored is None


def test_undo_leaves_no_current_label_and_gives_the_item_back() -> None:
    desk = make_desk(n_items=2)
    first = take(desk)
    answer(first)
    take(desk)

    reopened = retract_label(label=label_of(first), annotator=desk.annotator, submission_id=uuid.uuid4())

    assert not Label.objects.filter(is_current=True).exists()
    assert reopened.state == AssignmentState.OPEN
    assert take(desk) == first


def test_undo_sent_twice_takes_one_label_back() -> None:
    assignment = take(make_desk())
    answer(assignment)
    label, submission_id = label_of(assignment), uuid.uuid4()

    for _ in range(2):
        retract_label(label=label, annotator=assignment.annotator, submission_id=submission_id)

    assert Label.objects.filter(action=LabelAction.RETRACTED).count() == 1


def test_answer_after_undo_is_the_third_revision() -> None:
    assignment = take(make_desk())
    answer(assignment)
    retract_label(label=label_of(assignment), annotator=assignment.annotator, submission_id=uuid.uuid4())

    answer(assignment, Rating.UNACCEPTABLE)

    assert label_of(assignment).revision == 3


def test_skipped_item_is_not_offered_again_and_goes_to_others() -> None:
    desk = make_desk(n_items=1, n_annotators=2)
    first, second = desk.annotators
    skip_item(assignment=take(desk, first), annotator=first, reason=SkipReason.TOO_DISTRESSING)

    assert next_assignment(campaign=desk.campaign, annotator=first) is None
    assert take(desk, second).item_id == desk.items[0].pk


def test_skipped_item_can_still_be_answered() -> None:
    assignment = take(make_desk())
    skip_item(assignment=assignment, annotator=assignment.annotator, reason=SkipReason.UNCLEAR)

    answer(assignment)

    assignment.refresh_from_db()
    assert (assignment.state, assignment.skip_reason) == (AssignmentState.LABELLED, None)


def test_skipping_an_answered_item_is_refused() -> None:
    assignment = take(make_desk())
    answer(assignment)

    with pytest.raises(Conflict):
        skip_item(assignment=assignment, annotator=assignment.annotator, reason=SkipReason.OTHER)


@pytest.mark.parametrize(
    ("scale", "severity", "code"),
    [
        pytest.param("BINARY_AND_SEVERITY", None, "severity_missing", id="missing"),
        pytest.param("BINARY_AND_SEVERITY", 0, "severity_outside_scale", id="zero"),
        pytest.param("BINARY_AND_SEVERITY", 6, "severity_outside_scale", id="six"),
        pytest.param("BINARY", 3, "severity_not_asked", id="not asked"),
    ],
)
def test_severity_that_does_not_fit_the_campaign_is_refused(
    scale: str, severity: int | None, code: str
) -> None:
    assignment = take(make_desk(scale=scale))

    with pytest.raises(InvalidAnswer) as refusal:
        answer(assignment, severity=severity)

    assert refusal.value.code == code
    assert not Label.objects.exists()


def test_severity_is_independent_of_the_rating() -> None:
    assignment = take(make_desk(scale="BINARY_AND_SEVERITY"))

    answer(assignment, Rating.ACCEPTABLE, severity=5)

    assert label_of(assignment).severity == 5


def withdraw(desk: Desk, actor: Account) -> None:
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)


def pause(desk: Desk, actor: Account) -> None:
    pause_campaign(campaign=desk.campaign, actor=actor)


def close(desk: Desk, actor: Account) -> None:
    close_campaign(campaign=desk.campaign, actor=actor)


@pytest.mark.parametrize(
    ("event", "error"),
    [
        pytest.param(withdraw, NotAllowed, id="consent withdrawn"),
        pytest.param(pause, Gone, id="campaign paused"),
        pytest.param(close, Gone, id="campaign closed"),
    ],
)
def test_answer_is_refused_and_nothing_stored_after(
    event: Callable[[Desk, Account], None], error: type[DomainError], researcher: Account
) -> None:
    desk = make_desk()
    assignment = take(desk)
    event(desk, researcher)

    with pytest.raises(error):
        answer(assignment)

    assert not Label.objects.exists()


def test_outsider_gets_no_item() -> None:
    desk = make_desk()
    outsider = make_annotator(benchmark=desk.campaign.benchmark)

    with pytest.raises(NotAllowed):
        next_assignment(campaign=desk.campaign, annotator=outsider)


def test_labels_of_a_deactivated_person_stay_under_the_code() -> None:
    desk = make_desk()
    answer(take(desk))
    Account.objects.filter(pk=desk.account.pk).update(is_active=False)

    assert [label.annotator for label in current_labels(desk.campaign.benchmark)] == [desk.annotator]


@pytest.mark.parametrize("change", [{"rating": Rating.UNACCEPTABLE}, {"note": "changed"}], ids=str)
def test_stored_label_cannot_be_changed(change: dict[str, Any]) -> None:
    assignment = take(make_desk())
    answer(assignment)

    with pytest.raises(DatabaseError), transaction.atomic():
        Label.objects.update(**change)


def test_newcomer_after_others_gets_what_is_left() -> None:
    desk = make_desk(n_items=2)
    answer(take(desk))
    newcomer = join(desk.campaign)

    left = take(desk, newcomer)

    assert left.item_id in {item.pk for item in desk.items}
    assert not Label.objects.filter(item=left.item).exists()


def test_submit_label_needs_the_persons_own_membership() -> None:
    desk = make_desk()
    outsider = make_annotator(benchmark=desk.campaign.benchmark)

    with pytest.raises(NotAllowed):
        submit_label(
            assignment=take(desk), annotator=outsider, submission_id=uuid.uuid4(), rating=Rating.ACCEPTABLE
        )
