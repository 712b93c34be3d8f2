"""Who reads which item next: claims under leases, resuming, skipping.

Locks are taken in one order everywhere: the person's membership, then the item. SQLite needs
neither, because its transactions start IMMEDIATE and so run one at a time.
"""

import datetime as dt

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import MD5, Concat, Now

from annotation.choices import AssignmentState, SkipReason
from annotation.errors import Conflict
from annotation.models import Annotator, Assignment, Campaign, CampaignItem
from annotation.permissions import lock_membership, require_may_label
from annotation.selectors import items_with_room, taking_a_place


def next_assignment(*, campaign: Campaign, annotator: Annotator) -> Assignment | None:
    """Give the annotator their next item, and hold it for them while the lease lasts.

    An item that they have open comes first, the one most lately in their hands before others, unless
    its lease ended and others have filled it. Else a new item is claimed, in an order that is random
    per person and the same each time. Nobody gets an item that they have answered or skipped.

    Returns:
        The assignment, or None when there is nothing (more) for this person at the moment.

    Raises:
        Gone: the campaign is not open.
        NotAllowed: not a member, or no consent.
    """
    # A locked item is one that someone else is taking at this moment, so the first round passes over
    # those. If that leaves nothing, the second waits for them: some may still have room.
    for passes_over_locked in (True, False):
        while True:
            # One transaction per try: a lock on an item that turned out full must not be held while
            # waiting for another.
            with transaction.atomic():
                membership = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
                require_may_label(membership)
                campaign = membership.campaign
                held = _own_open(campaign, annotator).filter(lease_until__gt=Now()).first()
                if held:
                    return _hold(held.item, annotator, campaign)
                candidates = _candidates(campaign, annotator)
                item = candidates.select_for_update(
                    of=("self",), no_key=True, skip_locked=passes_over_locked
                ).first()
                if item is None:
                    break
                # The query counted before it had the lock; only a count under the lock can be relied on.
                if _n_places_taken(item) < campaign.labels_per_response:
                    return _hold(item, annotator, campaign)
    return None


def skip_item(*, assignment: Assignment, annotator: Annotator, reason: SkipReason) -> None:
    """Put an item aside for good, with the annotator's reason; others may still get it.

    Raises:
        Conflict: the annotator has labelled it; take that back first.
        Gone, NotAllowed: as in `next_assignment`.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=assignment.item.campaign_id, annotator_id=annotator.pk)
        require_may_label(membership)
        n_changed = (
            Assignment.objects.filter(pk=assignment.pk, annotator=annotator)
            .exclude(state=AssignmentState.LABELLED)
            .update(state=AssignmentState.SKIPPED, skip_reason=SkipReason(reason))
        )
        if not n_changed:
            raise Conflict(
                "You have already answered this one, so it cannot be skipped. Undo the answer first."
            )


def _own_open(campaign: Campaign, annotator: Annotator) -> QuerySet[Assignment]:
    """The annotator's open assignments, the one most lately in their hands first."""
    return (
        Assignment.objects.select_related("item")
        .filter(item__campaign=campaign, annotator=annotator, state=AssignmentState.OPEN)
        .order_by("-lease_until", "-pk")
    )


def _candidates(campaign: Campaign, annotator: Annotator) -> QuerySet[CampaignItem]:
    """Items with room that this person may take: their own with an ended lease, then new ones."""
    mine = Assignment.objects.filter(item=OuterRef("pk"), annotator=annotator)
    return (
        items_with_room()
        .filter(~Exists(mine.exclude(state=AssignmentState.OPEN)), campaign=campaign)
        .annotate(own_lease_until=Subquery(mine.values("lease_until")))
        .order_by(
            F("own_lease_until").desc(nulls_last=True),
            MD5(Concat("public_id", Value(annotator.public_id))),
            "pk",
        )
    )


def _hold(item: CampaignItem, annotator: Annotator, campaign: Campaign) -> Assignment:
    """Put the item into the annotator's hands, or keep it there, under a fresh lease."""
    own = Assignment.objects.select_related("item").filter(item=item, annotator=annotator)
    if not own.update(lease_until=lease_end(campaign)):
        Assignment.objects.create(item=item, annotator=annotator, lease_until=lease_end(campaign))
    return own.get()


def lease_end(campaign: Campaign) -> Combinable:
    """The end of a lease that begins now, by the database's clock."""
    return Now() + dt.timedelta(minutes=campaign.lease_minutes)


def lock_item(item_id: int) -> CampaignItem:
    """The item, locked until the transaction ends. Lock the membership first."""
    return CampaignItem.objects.select_for_update(no_key=True).get(pk=item_id)


def _n_places_taken(item: CampaignItem) -> int:
    return Assignment.objects.filter(taking_a_place(), item=item).count()
