"""What a person has typed and chosen without answering yet, kept so that it is there when they come back."""

from django.db import transaction
from django.utils import timezone

from annotation.models import Annotator, Assignment, Draft, Label
from annotation.permissions import lock_membership, require_may_label


def save_draft(
    *,
    assignment: Assignment,
    annotator: Annotator,
    label: Label | None,
    note: str,
    severity: int | None = None,
) -> Draft | None:
    """Keep an unfinished answer; one without a note and a severity is forgotten.

    A draft that arrives after its own answer, or from a window that shows an older one, is ignored:
    the answer says more.

    Args:
        assignment: the annotator's own.
        label: their current label as the page showed it, None when there was none.
        severity: 1-5, or None when nothing was chosen.

    Returns:
        The draft, or None when nothing was kept.

    Raises:
        Gone, NotAllowed: as in `next_assignment`; nothing is stored.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=assignment.item.campaign_id, annotator_id=annotator.pk)
        require_may_label(membership)
        current = Label.objects.filter(item=assignment.item_id, annotator=annotator, is_current=True).first()
        if current != label:
            return None
        return keep_draft(assignment, note=note, severity=severity)


def keep_draft(assignment: Assignment, *, note: str, severity: int | None) -> Draft | None:
    """Put the draft in the place of an earlier one, or forget that. Lock the membership first."""
    if not note and severity is None:
        drop_draft(item_id=assignment.item_id, annotator_id=assignment.annotator_id)
        return None
    draft, _ = Draft.objects.update_or_create(
        assignment=assignment, defaults={"note": note, "severity": severity, "updated_at": timezone.now()}
    )
    return draft


def drop_draft(*, item_id: int, annotator_id: int) -> None:
    """Forget the unfinished answer of one person to one item. One query. Lock the membership first."""
    Draft.objects.filter(assignment__item=item_id, assignment__annotator=annotator_id).delete()
