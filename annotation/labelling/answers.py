"""What one person answers: submit, revise, take back. Rows are only ever added."""

import datetime as dt
import uuid
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max, QuerySet

from annotation.choices import (
    AssignmentState,
    LabelAction,
    Rating,
)
from annotation.errors import Conflict, DomainError
from annotation.labelling.assigning import lease_end, lock_item
from annotation.models import (
    FIRST_SEVERITY,
    LAST_SEVERITY,
    Annotator,
    Assignment,
    Campaign,
    CampaignItem,
    Label,
)
from annotation.permissions import lock_membership, require_may_label


class InvalidAnswer(DomainError):
    """The answer lacks something that the campaign asks for, or has something it does not."""

    code = "invalid_answer"


@dataclass(frozen=True)
class Answer:
    """What one person says about one response."""

    rating: Rating
    severity: int | None = None
    note: str | None = None


class StaleLabel(Conflict):
    """The person's label for this item is another one than the page showed.

    `stored` is the label that stands, None when it was taken back; `offered` is the refused answer.
    """

    code = "stale_label"

    def __init__(self, *, stored: Label | None, offered: Answer | None) -> None:
        super().__init__(
            "You have already answered this one, in another window or a moment ago. "
            "Your earlier answer is kept until you choose to replace it."
            if stored
            else "That answer has been taken back meanwhile. Open the text again to answer it."
        )
        self.stored = stored
        self.offered = offered


@dataclass(frozen=True)
class Receipt:
    """Proof that an answer is stored. Sending the same submission again gives an equal one."""

    submission_id: uuid.UUID
    label_id: str
    saved_at: dt.datetime
    is_extra: bool


def submit_label(
    *,
    assignment: Assignment,
    annotator: Annotator,
    submission_id: uuid.UUID,
    rating: Rating,
    severity: int | None = None,
    note: str | None = None,
) -> Receipt:
    """Store the annotator's answer to an item that was assigned to them.

    A lease that ended does not matter: the work is done, so the label is kept, and marked extra if
    others have filled the item meanwhile. An item that was skipped can still be answered.

    Args:
        assignment: the annotator's own.
        submission_id: made by the client, once per answer; sending it again stores nothing new.

    Raises:
        StaleLabel: another answer of theirs stands.
        Conflict: the submission id belongs to something else.
        InvalidAnswer: severity missing, outside 1-5, or not asked for.
        Gone, NotAllowed: as in `next_assignment`; nothing is stored.
    """
    answer = Answer(Rating(rating), severity, note or None)
    with transaction.atomic():
        membership = lock_membership(campaign_id=assignment.item.campaign_id, annotator_id=annotator.pk)
        stored = _stored_submission(submission_id, assignment.item_id, annotator, answer)
        if stored:
            return _receipt(stored)
        require_may_label(membership)
        _check(answer, membership.campaign)
        item = lock_item(assignment.item_id)
        current = _current_label(item, annotator)
        if current:
            raise StaleLabel(stored=current, offered=answer)
        n_others = Assignment.objects.filter(item=item, state=AssignmentState.LABELLED).exclude(
            annotator=annotator
        )
        label = _append(
            item,
            annotator,
            action=LabelAction.SUBMITTED,
            submission_id=submission_id,
            answer=answer,
            is_extra=n_others.count() >= membership.campaign.labels_per_response,
            instructions_version=membership.campaign.instructions_version,
        )
        _own_assignment(item, annotator).update(state=AssignmentState.LABELLED, skip_reason=None)
        return _receipt(label)


def revise_label(
    *,
    label: Label,
    annotator: Annotator,
    submission_id: uuid.UUID,
    rating: Rating,
    severity: int | None = None,
    note: str | None = None,
) -> Receipt:
    """Replace the annotator's current label by a new revision; the old row stays.

    Args:
        label: the annotator's own label, as the page showed it.
        submission_id: as in `submit_label`.

    Raises:
        StaleLabel: `label` is no longer the one that stands.
        Conflict, InvalidAnswer, Gone, NotAllowed: as in `submit_label`.
    """
    answer = Answer(Rating(rating), severity, note or None)
    with transaction.atomic():
        membership = lock_membership(campaign_id=label.item.campaign_id, annotator_id=annotator.pk)
        stored = _stored_submission(submission_id, label.item_id, annotator, answer)
        if stored:
            return _receipt(stored)
        require_may_label(membership)
        _check(answer, membership.campaign)
        item = lock_item(label.item_id)
        current = _current_label(item, annotator)
        if current is None or current.pk != label.pk:
            raise StaleLabel(stored=current, offered=answer)
        revised = _append(
            item,
            annotator,
            action=LabelAction.REVISED,
            submission_id=submission_id,
            answer=answer,
            is_extra=current.is_extra,
            instructions_version=membership.campaign.instructions_version,
        )
        return _receipt(revised)


def retract_label(*, label: Label, annotator: Annotator, submission_id: uuid.UUID) -> Assignment:
    """Take the annotator's current label back and put the item into their hands again.

    Returns:
        The reopened assignment, under a fresh lease.

    Raises:
        StaleLabel: `label` is no longer the one that stands.
        Gone, NotAllowed: as in `next_assignment`.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=label.item.campaign_id, annotator_id=annotator.pk)
        stored = _stored_submission(submission_id, label.item_id, annotator, answer=None)
        if stored is None:
            require_may_label(membership)
            item = lock_item(label.item_id)
            current = _current_label(item, annotator)
            if current is None or current.pk != label.pk:
                raise StaleLabel(stored=current, offered=None)
            _append(
                item,
                annotator,
                action=LabelAction.RETRACTED,
                submission_id=submission_id,
                answer=None,
                is_extra=False,
                instructions_version=membership.campaign.instructions_version,
            )
            _own_assignment(item, annotator).update(
                state=AssignmentState.OPEN, lease_until=lease_end(membership.campaign)
            )
        return _own_assignment(label.item, annotator).get()


def _stored_submission(
    submission_id: uuid.UUID, item_id: int, annotator: Annotator, answer: Answer | None
) -> Label | None:
    """The label that this very submission made before, if it did."""
    label = Label.objects.filter(submission_id=submission_id).first()
    if label is None:
        return None
    said = Answer(Rating(label.rating), label.severity, label.note) if label.rating else None
    if (label.item_id, label.annotator_id, said) != (item_id, annotator.pk, answer):
        raise Conflict(
            "This submission id was used before for something else, so nothing was saved. "
            "Reload the page and answer again.",
            code="submission_id_used",
        )
    return label


def _check(answer: Answer, campaign: Campaign) -> None:
    if campaign.asks_severity and answer.severity is None:
        raise InvalidAnswer(
            f"No severity was chosen; this task asks for one from {FIRST_SEVERITY} to {LAST_SEVERITY}. "
            "Choose it, then answer.",
            code="severity_missing",
        )
    if not campaign.asks_severity and answer.severity is not None:
        raise InvalidAnswer(
            "A severity was sent, but this task does not ask for one. Leave it out.",
            code="severity_not_asked",
        )
    if answer.severity is not None and not FIRST_SEVERITY <= answer.severity <= LAST_SEVERITY:
        raise InvalidAnswer(
            f"The severity is {answer.severity}; expected {FIRST_SEVERITY} to {LAST_SEVERITY}.",
            code="severity_outside_scale",
        )


def _current_label(item: CampaignItem, annotator: Annotator) -> Label | None:
    return Label.objects.filter(item=item, annotator=annotator, is_current=True).first()


def _append(
    item: CampaignItem,
    annotator: Annotator,
    *,
    action: LabelAction,
    submission_id: uuid.UUID,
    answer: Answer | None,
    is_extra: bool,
    instructions_version: int,
) -> Label:
    """Add the next revision; the one before is no longer current. Item and membership are locked."""
    own = Label.objects.filter(item=item, annotator=annotator)
    own.filter(is_current=True).update(is_current=False)
    last = own.aggregate(revision=Max("revision"))["revision"] or 0
    return Label.objects.create(
        submission_id=submission_id,
        item=item,
        annotator=annotator,
        revision=last + 1,
        action=action,
        rating=answer.rating if answer else None,
        severity=answer.severity if answer else None,
        note=answer.note if answer else None,
        annotator_type=annotator.annotator_type,
        instructions_version=instructions_version,
        is_extra=is_extra,
        is_current=answer is not None,
    )


def _own_assignment(item: CampaignItem, annotator: Annotator) -> QuerySet[Assignment]:
    return Assignment.objects.filter(item=item, annotator=annotator)


def _receipt(label: Label) -> Receipt:
    return Receipt(label.submission_id, label.public_id, label.created_at, label.is_extra)
