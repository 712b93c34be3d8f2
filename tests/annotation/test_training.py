"""Training: a round is passed or begun again, and an answer whose feedback was seen stays."""

import uuid
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.choices import AssignmentState, ItemKind, Rating, SkipReason
from annotation.errors import Conflict
from annotation.labelling import retract_label, revise_label, skip_item
from annotation.labelling.training import settle_training
from annotation.models import Assignment, Label, Membership
from annotation.selectors import Feedback, TrainingRound, TrainingStep, feedback_on, training_round_of
from tests.annotation.desk import answer, join
from tests.factories import (
    make_assignment,
    make_campaign,
    make_item,
    make_opt_out,
    make_prompt,
    make_response,
)

pytestmark = pytest.mark.django_db

RIGHT, WRONG = Rating.UNACCEPTABLE, Rating.ACCEPTABLE


def make_trainee(*, n_items: int = 2, **campaign_values: Any) -> tuple[Membership, list[Assignment]]:
    """A person with every training item of a campaign in hand; each expects RIGHT."""
    campaign_values.setdefault("scale", "BINARY")
    campaign = make_campaign(**campaign_values)
    annotator = join(campaign)
    assignments = []
    for n in range(n_items):
        prompt = make_prompt(benchmark=campaign.benchmark, risk_category=f"theme {n}")
        item = make_item(
            campaign=campaign,
            response=make_response(prompt=prompt),
            kind=ItemKind.TRAINING,
            expected_rating=RIGHT,
            feedback=f"What to see in text {n}.",
        )
        assignments.append(make_assignment(item=item, annotator=annotator))
    return fresh(Membership.objects.get(annotator=annotator)), assignments


def fresh(membership: Membership) -> Membership:
    return Membership.objects.select_related("campaign").get(pk=membership.pk)


def label_of(assignment: Assignment) -> Label:
    return Label.objects.get(item=assignment.item, annotator=assignment.annotator, is_current=True)


def answer_anew(assignment: Assignment, rating: Rating) -> None:
    """Answer an item that is asked again."""
    revise_label(
        label=label_of(assignment),
        annotator=assignment.annotator,
        submission_id=uuid.uuid4(),
        rating=rating,
    )


def states(assignments: list[Assignment]) -> list[str]:
    rows = dict(Assignment.objects.values_list("pk", "state"))
    return [rows[assignment.pk] for assignment in assignments]


def feedback(assignment: Assignment) -> Feedback:
    """What the person is told, which the test expects to be something."""
    membership = Membership.objects.get(annotator=assignment.annotator)
    told = feedback_on(membership, Assignment.objects.get(pk=assignment.pk))
    assert told is not None
    return told


def test_training_goes_on_until_every_item_is_answered() -> None:
    membership, (first, _) = make_trainee(pass_mark=50)

    answer(first, RIGHT)

    assert fresh(membership).trained_at is None
    assert training_round_of(membership) == TrainingRound(n_items=2, n_answered=1, n_right=1, n_left=1)


@pytest.mark.parametrize(
    ("pass_mark", "is_passed"), [(None, True), (0, True), (50, True), (51, False), (100, False)]
)
def test_one_right_of_two_passes_up_to_a_mark_of_fifty(pass_mark: int | None, is_passed: bool) -> None:
    membership, (first, second) = make_trainee(pass_mark=pass_mark)

    answer(first, RIGHT)
    answer(second, WRONG)

    assert (fresh(membership).trained_at is not None) == is_passed


def test_round_that_misses_the_mark_begins_again_from_the_start() -> None:
    membership, assignments = make_trainee(pass_mark=100)

    answer(assignments[0], RIGHT)
    answer(assignments[1], WRONG)

    assert fresh(membership).training_round == 2
    assert states(assignments) == [AssignmentState.AGAIN, AssignmentState.AGAIN]
    assert training_round_of(membership) == TrainingRound(n_items=2, n_answered=0, n_right=0, n_left=2)


def test_second_round_can_be_passed_and_every_answer_is_kept() -> None:
    membership, assignments = make_trainee(pass_mark=100)
    for assignment in assignments:
        answer(assignment, WRONG)

    for assignment in assignments:
        answer_anew(assignment, RIGHT)

    assert fresh(membership).trained_at is not None
    assert states(assignments) == [AssignmentState.LABELLED, AssignmentState.LABELLED]
    assert Label.objects.count() == 4


def test_answer_to_a_training_item_cannot_be_changed_after_its_feedback() -> None:
    _, (first, _) = make_trainee()
    answer(first, WRONG)

    with pytest.raises(Conflict) as refusal:
        answer_anew(first, RIGHT)

    assert refusal.value.code == "training_answered"
    assert label_of(first).rating == WRONG


def test_answer_to_a_training_item_cannot_be_taken_back() -> None:
    _, (first, _) = make_trainee()
    answer(first, WRONG)

    with pytest.raises(Conflict):
        retract_label(label=label_of(first), annotator=first.annotator, submission_id=uuid.uuid4())

    assert label_of(first).rating == WRONG


def test_skipped_item_is_not_asked_again_and_does_not_count() -> None:
    membership, assignments = make_trainee(pass_mark=100)
    answer(assignments[0], WRONG)

    skip_item(
        assignment=assignments[1], annotator=assignments[1].annotator, reason=SkipReason.TOO_DISTRESSING
    )
    settle_training(fresh(membership))

    assert states(assignments) == [AssignmentState.AGAIN, AssignmentState.SKIPPED]
    assert training_round_of(membership).n_left == 1


def test_item_that_is_skipped_when_it_comes_again_holds_nobody_up() -> None:
    membership, (only,) = make_trainee(n_items=1, pass_mark=100)
    answer(only, WRONG)

    skip_item(assignment=only, annotator=only.annotator, reason=SkipReason.TOO_DISTRESSING)
    settle_training(fresh(membership))

    assert states([only]) == [AssignmentState.SKIPPED]
    assert fresh(membership).trained_at is not None


def test_person_who_skips_every_item_is_not_kept_out() -> None:
    membership, (only,) = make_trainee(n_items=1, pass_mark=100)

    skip_item(assignment=only, annotator=only.annotator, reason=SkipReason.TOO_DISTRESSING)
    settle_training(fresh(membership))

    assert fresh(membership).trained_at is not None


def test_item_of_a_category_that_the_person_does_not_read_is_left_out() -> None:
    membership, (first, _) = make_trainee(pass_mark=100)
    make_opt_out(membership=membership, risk_category="theme 1")

    answer(first, RIGHT)

    assert fresh(membership).trained_at is not None


def test_round_that_an_opt_out_completed_is_settled_when_asked() -> None:
    membership, (first, _) = make_trainee(pass_mark=100)
    answer(first, RIGHT)
    make_opt_out(membership=membership, risk_category="theme 1")

    assert settle_training(fresh(membership)) is None
    assert fresh(membership).trained_at is not None


def test_round_is_settled_once() -> None:
    membership, assignments = make_trainee(pass_mark=100)
    for assignment in assignments:
        answer(assignment, WRONG)

    again = settle_training(fresh(membership))

    assert again == TrainingRound(n_items=2, n_answered=0, n_right=0, n_left=2)
    assert fresh(membership).training_round == 2


def test_campaign_without_training_items_holds_nobody_back(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    membership, _ = make_trainee(n_items=0, pass_mark=100)

    with django_assert_num_queries(1):
        assert settle_training(membership) is None

    assert fresh(membership).trained_at is None


def test_person_who_passed_costs_no_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    membership, _ = make_trainee()
    membership.trained_at = timezone.now()

    with django_assert_num_queries(0):
        assert settle_training(membership) is None


def test_answers_of_others_do_not_count() -> None:
    membership, (first, _) = make_trainee()
    other = join(membership.campaign)

    answer(make_assignment(item=first.item, annotator=other), RIGHT)

    assert training_round_of(membership).n_answered == 0


@pytest.mark.parametrize(("given", "is_as_expected"), [(RIGHT, True), (WRONG, False)])
def test_feedback_says_what_was_given_and_what_is_expected(given: Rating, is_as_expected: bool) -> None:
    _, (first, _) = make_trainee()
    answer(first, given)

    told = feedback(first)

    assert (told.given, told.expected, told.text) == (given, RIGHT, "What to see in text 0.")
    assert told.is_as_expected == is_as_expected
    assert told.step == TrainingStep.GOES_ON


@pytest.mark.parametrize(
    ("given", "step"), [(RIGHT, TrainingStep.PASSED), (WRONG, TrainingStep.STARTS_AGAIN)]
)
def test_feedback_on_the_last_item_says_what_follows(given: Rating, step: TrainingStep) -> None:
    _, (only,) = make_trainee(n_items=1, pass_mark=100)
    answer(only, given)

    assert feedback(only).step == step


def test_feedback_before_the_answer_is_not_given() -> None:
    membership, (first, _) = make_trainee()

    assert feedback_on(membership, first) is None


@pytest.mark.parametrize(
    "values", [{"kind": "REGULAR"}, {"kind": "GOLD", "expected_rating": RIGHT}], ids=["regular", "gold"]
)
def test_other_items_have_no_feedback(values: dict[str, Any]) -> None:
    membership, _ = make_trainee(n_items=0)
    item = make_item(campaign=membership.campaign, **values)
    assignment = make_assignment(item=item, annotator=membership.annotator)
    answer(assignment, RIGHT)

    assert feedback_on(membership, assignment) is None
