"""What a person has in hand already: items being read, and answers that they are asked to look at again."""

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Now

from annotation.choices import AssignmentState, ItemKind
from annotation.models import Assignment, Membership
from annotation.selectors.places import opted_out


def in_hand(membership: Membership, *, apart_from: int | None = None) -> Assignment | None:
    """The assignment that comes before any new item, with its item loaded, or None. One query.

    What the person was shown and has not settled comes first, then what was fetched for them ahead of time,
    both under running leases; then answers to look at again, oldest first. Training items that are asked
    again count until the training is passed, those of a category that the person opted out of never.

    Args:
        apart_from: primary key of an item that does not count.
    """
    own = _readable(membership).exclude(item=apart_from) if apart_from else _readable(membership)
    running = Q(state=AssignmentState.OPEN, lease_until__gt=Now())
    waiting = Q(state=AssignmentState.AGAIN)
    if membership.trained_at is not None:
        waiting &= ~Q(item__kind=ItemKind.TRAINING)
    rank = Case(
        When(running & Q(first_shown_at__isnull=False), then=Value(0)),
        When(running, then=Value(1)),
        default=2,
    )
    # The one most lately in their hands, by whichever tab; of those asked again the oldest.
    return (
        own.filter(running | waiting)
        .order_by(rank, Case(When(running, then=F("lease_until"))).desc(nulls_last=True), "pk")
        .first()
    )


def _readable(membership: Membership) -> QuerySet[Assignment]:
    return Assignment.objects.select_related("item").filter(
        ~opted_out(membership, category="item__response__prompt__risk_category"),
        item__campaign=membership.campaign_id,
        annotator=membership.annotator_id,
    )
