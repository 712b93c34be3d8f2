"""What one person has answered and skipped, for them to look at again."""

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.choices import AssignmentState
from annotation.models import Assignment, Draft, Label, Membership


def draft_of(assignment: Assignment) -> Draft | None:
    """What the person typed and chose for the item without answering. One query."""
    return Draft.objects.filter(assignment=assignment).first()


def own_answers(membership: Membership) -> QuerySet[Assignment]:
    """The person's settled items in the campaign, the one answered or skipped last first. One query a page.

    Each has the current label's `rating`, `severity`, `note` and `answered_at`, None for a skipped item, and
    its theme. The texts are not loaded: a list is not where anybody should meet them.
    """
    label = Label.objects.filter(item=OuterRef("item"), annotator=OuterRef("annotator"), is_current=True)
    return (
        Assignment.objects.filter(annotator=membership.annotator_id, item__campaign=membership.campaign_id)
        .exclude(state=AssignmentState.OPEN)
        .annotate(
            rating=Subquery(label.values("rating")),
            severity=Subquery(label.values("severity")),
            note=Subquery(label.values("note")),
            answered_at=Subquery(label.values("created_at")),
        )
        .select_related("item__response__prompt")
        .only(
            "public_id",
            "state",
            "skip_reason",
            "assigned_at",
            "item__response__prompt__risk_category",
        )
        .order_by(Coalesce("answered_at", "assigned_at").desc(), "-pk")
    )
