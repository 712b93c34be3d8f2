"""What one person answers: submit, revise, take back. Rows are only ever added."""

import datetime as dt
import uuid
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext

from annotation.choices import (
    AssignmentState,
    ItemKind,
    LabelAction,
    Rating,
    TextView,
)
from annotation.errors import Conflict, DomainError
from annotation.labelling.assigning import is_filled_by_others, lease_end, lock_item, note_shown
from annotation.labelling.drafts import drop_draft, keep_draft
from annotation.labelling.training import require_feedback_not_seen, settle_training
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

# Nobody reads one text for longer than a day.
MAX_ACTIVE_MS = 24 * 60 * 60 * 1000


class InvalidAnswer(DomainError):
    """The answer lacks something that the campaign asks for, or has something it does not."""

    code = "invalid_answer"


@dataclass(frozen=True)
class Answer:
    """What one person says about one response, and how they read it.

    Two answers are equal when they say the same, however they were read.
    """

    rating: Rating
    severity: int | None = None
    note: str | None = None
    text_view: TextView | None = field(default=None, compare=False)
    active_ms: int | None = field(default=None, compare=False)


class StaleLabel(Conflict):
    """The person's label for this item is another one than the page showed.

    `stored` is the label that stands, None when it was taken back; `offered` is the refused answer.
    """

    code = "stale_label"

    def __init__(self, *, stored: Label | None, offered: Answer | None) -> None:
        super().__init__(
            gettext(
                "You have already answered this one, in another window or a moment ago. "
                "Your earlier answer is kept until you choose to replace it."
            )
            if stored
            else gettext("That answer has been taken back meanwhile. Open the text again to answer it.")
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
    text_view: TextView | None = None,
    active_ms: int | None = None,
) -> Receipt:
    """Store the annotator's answer to an item that was assigned to them.

    A lease that ended does not matter: the work is done, so the label is kept, and marked extra if
    others have filled the item meanwhile. An item that was skipped can still be answered.

    Args:
        assignment: the annotator's own.
        submission_id: made by the client, once per answer; sending it again stores nothing new.
        text_view: how the texts stood on the page; None when not known.
        active_ms: milliseconds in which the text was shown and the person was there; None when not known.

    Raises:
        StaleLabel: another answer of theirs stands.
        Conflict: the submission id belongs to something else.
        InvalidAnswer: severity missing, outside 1-5, or not asked for; a reading time outside 0 to a day.
        Gone, NotAllowed: as in `next_assignment`; nothing is stored.
    """
    answer = Answer(Rating(rating), severity, note or None, text_view, active_ms)
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
        # A label stands while its person is asked to look again.
        label = _append(
            item,
            annotator,
            action=LabelAction.SUBMITTED,
            submission_id=submission_id,
            answer=answer,
            is_extra=is_filled_by_others(item, membership),
            instructions_version=membership.campaign.instructions_version,
        )
        note_shown(assignment, membership)
        _own_assignment(item, annotator).update(state=AssignmentState.LABELLED, skip_reason=None)
        if item.kind == ItemKind.TRAINING:
            settle_training(membership)
        return _receipt(label)


def revise_label(
    *,
    label: Label,
    annotator: Annotator,
    submission_id: uuid.UUID,
    rating: Rating,
    severity: int | None = None,
    note: str | None = None,
    text_view: TextView | None = None,
    active_ms: int | None = None,
) -> Receipt:
    """Replace the annotator's current label by a new revision; the old row stays.

    Args:
        label: the annotator's own label, as the page showed it.
        submission_id, text_view, active_ms: as in `submit_label`.

    Raises:
        StaleLabel: `label` is no longer the one that stands.
        Conflict: as in `submit_label`, or a training item whose feedback the person has seen.
        InvalidAnswer, Gone, NotAllowed: as in `submit_label`.
    """
    answer = Answer(Rating(rating), severity, note or None, text_view, active_ms)
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
        require_feedback_not_seen(item, annotator)
        revised = _append(
            item,
            annotator,
            action=LabelAction.REVISED,
            submission_id=submission_id,
            answer=answer,
            is_extra=current.is_extra,
            instructions_version=membership.campaign.instructions_version,
        )
        _own_assignment(item, annotator).filter(state=AssignmentState.AGAIN).update(
            state=AssignmentState.LABELLED
        )
        if item.kind == ItemKind.TRAINING:
            settle_training(membership)
        return _receipt(revised)


def retract_label(*, label: Label, annotator: Annotator, submission_id: uuid.UUID) -> Assignment:
    """Take the annotator's current label back and put the item into their hands again.

    Its note and severity stay as a draft, so that nothing is typed twice.

    Returns:
        The reopened assignment, under a fresh lease.

    Raises:
        StaleLabel: `label` is no longer the one that stands.
        Conflict: a training item whose feedback the person has seen.
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
            require_feedback_not_seen(item, annotator)
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
            keep_draft(
                _own_assignment(item, annotator).get(), note=current.note or "", severity=current.severity
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
            gettext(
                "This submission id was used before for something else, so nothing was saved. "
                "Reload the page and answer again."
            ),
            code="submission_id_used",
        )
    return label


def _check(answer: Answer, campaign: Campaign) -> None:
    if campaign.asks_severity and answer.severity is None:
        raise InvalidAnswer(
            gettext(
                "No severity was chosen; this task asks for one from %(first)s to %(last)s. "
                "Choose it, then answer."
            )
            % {"first": FIRST_SEVERITY, "last": LAST_SEVERITY},
            code="severity_missing",
        )
    if not campaign.asks_severity and answer.severity is not None:
        raise InvalidAnswer(
            gettext("A severity was sent, but this task does not ask for one. Leave it out."),
            code="severity_not_asked",
        )
    if answer.severity is not None and not FIRST_SEVERITY <= answer.severity <= LAST_SEVERITY:
        raise InvalidAnswer(
            gettext("The severity is %(given)s; expected %(first)s to %(last)s.")
            % {"given": answer.severity, "first": FIRST_SEVERITY, "last": LAST_SEVERITY},
            code="severity_outside_scale",
        )
    if answer.active_ms is not None and not 0 <= answer.active_ms <= MAX_ACTIVE_MS:
        raise InvalidAnswer(
            gettext(
                "The reading time is %(given)s ms; expected 0 to %(most)s. Reload the page and answer again."
            )
            % {"given": answer.active_ms, "most": MAX_ACTIVE_MS},
            code="active_ms_out_of_range",
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
    """Add the next revision; the one before is no longer current. Item and membership are locked.

    A draft ends with the answer that it became.
    """
    drop_draft(item_id=item.pk, annotator_id=annotator.pk)
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
        text_view=answer.text_view if answer else None,
        active_ms=answer.active_ms if answer else None,
        annotator_type=annotator.annotator_type,
        instructions_version=instructions_version,
        is_extra=is_extra,
        is_current=answer is not None,
    )


def _own_assignment(item: CampaignItem, annotator: Annotator) -> QuerySet[Assignment]:
    return Assignment.objects.filter(item=item, annotator=annotator)


def _receipt(label: Label) -> Receipt:
    return Receipt(label.submission_id, label.public_id, label.created_at, label.is_extra)
