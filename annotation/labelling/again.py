"""What a person has in hand already: items being read, and answers that they are asked to look at again."""

from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.db.models.lookups import IsNull

from annotation.choices import AssignmentState, ItemKind
from annotation.models import Assignment, Membership
from annotation.selectors.places import opted_out


def in_hand(membership: Membership, *, apart_from: int | None = None) -> Assignment | None:
    """The assignment that comes before any new item, with its item loaded, or None. At most two queries.

    What the person was shown and has not settled comes first, then what was fetched for them ahead of time,
    both under running leases; then answers to look at again, oldest first. Training items that are asked
    again count until the training is passed, those of a category that the person opted out of never.

    Args:
        apart_from: primary key of an item that does not count.
    """
    own = _readable(membership, apart_from)
    # Of what was shown, the one most lately in their hands, by whichever tab.
    reading = own.filter(state=AssignmentState.OPEN, lease_until__gt=Now()).order_by(
        IsNull(F("first_shown_at"), True), "-lease_until"
    )
    return reading.first() or (_asked_again(own, membership) if _may_be_asked_again(membership) else None)


def _may_be_asked_again(membership: Membership) -> bool:
    """False while there was only one version of the instructions and one round of training."""
    return membership.campaign.instructions_version > 1 or membership.training_round > 1


def _asked_again(own: QuerySet[Assignment], membership: Membership) -> Assignment | None:
    asked = own.filter(state=AssignmentState.AGAIN)
    if membership.trained_at is not None:
        asked = asked.exclude(item__kind=ItemKind.TRAINING)
    return asked.order_by("pk").first()


def _readable(membership: Membership, apart_from: int | None) -> QuerySet[Assignment]:
    own = Assignment.objects.select_related("item").filter(
        ~opted_out(membership, category="item__response__prompt__risk_category"),
        item__campaign=membership.campaign_id,
        annotator=membership.annotator_id,
    )
    return own if apart_from is None else own.exclude(item=apart_from)
