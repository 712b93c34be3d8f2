"""Training: where a person stands in it, and what they are told after each of its items.

The one read for annotators that knows of expected answers. It tells them after the person has answered.
"""

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import OuterRef, Q, QuerySet, Subquery

from annotation.choices import AssignmentState, ItemKind, Rating
from annotation.models import Assignment, CampaignItem, CategoryOptOut, Label, Membership


@dataclass(frozen=True)
class TrainingRound:
    """One person's training as it stands: items that they may be shown, and what became of them.

    Skipped items are neither answered nor left. Of a category that the person does not read, only
    what they answered before counts.
    """

    n_items: int
    n_answered: int
    n_right: int
    n_left: int

    def reaches(self, pass_mark: int | None) -> bool:
        """True when at least `pass_mark` per cent of the answers are as expected, or none were given.

        A person who skipped every item is not kept out: skipping is always allowed.
        """
        return pass_mark is None or 100 * self.n_right >= pass_mark * self.n_answered


class TrainingStep(StrEnum):
    """What follows a training item."""

    GOES_ON = "GOES_ON"
    PASSED = "PASSED"
    STARTS_AGAIN = "STARTS_AGAIN"


@dataclass(frozen=True)
class Feedback:
    """What a person is told about one training item that they have answered."""

    given: Rating
    expected: Rating
    text: str
    step: TrainingStep
    training: TrainingRound

    @property
    def is_as_expected(self) -> bool:
        """True when the person answered what the study expects."""
        return self.given == self.expected


def training_round_of(membership: Membership) -> TrainingRound:
    """Where the person stands in the training of the campaign. One query."""
    own = Assignment.objects.filter(item=OuterRef("pk"), annotator=membership.annotator_id)
    not_read = CategoryOptOut.objects.filter(membership=membership).values("risk_category")
    rows = list(
        _training_items(membership)
        .annotate(
            own_state=Subquery(own.values("state")),
            own_rating=Subquery(_own_label(membership).values("rating")),
        )
        .filter(Q(own_state=AssignmentState.LABELLED) | ~Q(response__prompt__risk_category__in=not_read))
        .values_list("own_state", "own_rating", "expected_rating")
    )
    answered = [(given, expected) for state, given, expected in rows if state == AssignmentState.LABELLED]
    n_skipped = sum(state == AssignmentState.SKIPPED for state, *_ in rows)
    return TrainingRound(
        n_items=len(rows),
        n_answered=len(answered),
        n_right=sum(given == expected for given, expected in answered),
        n_left=len(rows) - len(answered) - n_skipped,
    )


def has_feedback(assignment: Assignment) -> bool:
    """True when the person has answered a training item, so that its answer stays. No query."""
    return assignment.item.kind == ItemKind.TRAINING and assignment.state == AssignmentState.LABELLED


def feedback_on(membership: Membership, assignment: Assignment) -> Feedback | None:
    """What the person is told about their answer to a training item. Two queries.

    Returns:
        None when it is no training item of theirs, or they have not answered it.
    """
    row = (
        _training_items(membership)
        .filter(pk=assignment.item_id)
        .annotate(own_rating=Subquery(_own_label(membership).values("rating")))
        .values_list("own_rating", "expected_rating", "feedback")
        .first()
    )
    if row is None:
        return None
    given, expected, text = row
    if given is None or expected is None:
        return None
    return Feedback(
        given=Rating(given),
        expected=Rating(expected),
        text=text,
        step=_step(membership, assignment),
        training=training_round_of(membership),
    )


def _step(membership: Membership, assignment: Assignment) -> TrainingStep:
    if membership.trained_at is not None:
        return TrainingStep.PASSED
    if assignment.state == AssignmentState.AGAIN:
        return TrainingStep.STARTS_AGAIN
    return TrainingStep.GOES_ON


def _training_items(membership: Membership) -> QuerySet[CampaignItem]:
    return CampaignItem.objects.filter(campaign=membership.campaign_id, kind=ItemKind.TRAINING)


def _own_label(membership: Membership) -> QuerySet[Label]:
    """The person's current label of the item of the outer query."""
    return Label.objects.filter(item=OuterRef("pk"), annotator=membership.annotator_id, is_current=True)
