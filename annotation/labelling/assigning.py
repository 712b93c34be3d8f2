"""Who reads which item next: claims under leases, resuming, skipping.

Locks are taken in one order everywhere: the person's membership, then one item. SQLite needs neither,
because its transactions start IMMEDIATE and so run one at a time.
"""

import datetime as dt
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from annotation import care
from annotation.choices import AssignmentState, ItemKind, SkipReason
from annotation.errors import Conflict
from annotation.labelling.again import in_hand
from annotation.labelling.training import settle_training
from annotation.labelling.upcoming import FreeItem, free_items, training_items
from annotation.models import Annotator, Assignment, Campaign, CampaignItem, Membership, Prompt
from annotation.permissions import lock_membership, require_may_label
from annotation.selectors.places import ANSWERED, Target, others_on, taking_a_place, target_of


def next_assignment(
    *, campaign: Campaign, annotator: Annotator, after: Assignment | None = None
) -> Assignment | None:
    """Give the annotator their next item, and hold it for them while the lease lasts.

    First comes what they have in hand, then training, then answers to look at again, then new items in
    their own order (`labelling.ordering`). Nobody gets an item that they have answered or skipped, nor one
    of a category that they opted out of. A cap that was reached (`care.stop_reason`) leaves them what they
    were shown already.

    Args:
        after: the annotator's own, on the screen now. The item that follows it is held for them without
            counting as shown, so that a page can fetch it ahead of time.

    Returns:
        The assignment, or None when there is nothing (more) for this person at the moment;
        `labelling.why_no_item` says why.

    Raises:
        Gone: the campaign takes no labels now.
        NotAllowed: not a member, deactivated, or no consent.
    """
    apart_from = after.item_id if after else None
    while True:
        # One transaction per try: a lock on an item that turned out full must not be held while waiting
        # for another.
        with transaction.atomic():
            membership = lock_membership(campaign_id=campaign.pk, annotator_id=annotator.pk)
            require_may_label(membership)
            if after is not None and note_shown(after, membership):
                membership.refresh_from_db(fields=["n_shown_in_sitting", "last_seen_at"])
            # An order is worked out only after the training.
            training = settle_training(membership) if membership.n_in_reach is None else None
            held = in_hand(membership, apart_from=apart_from)
            if held and held.state == AssignmentState.OPEN and held.first_shown_at:
                # What is on the screen stays the one most lately in their hands: coming back leads to it.
                return held if after else _hold(held.item_id, membership)
            if care.stop_reason(membership):
                return None
            if held:
                return _show(_hold(held.item_id, membership), membership, ahead=after is not None)
            target = target_of(membership)
            if training:
                free = training_items(membership, apart_from=apart_from)
            else:
                free = free_items(membership, target, apart_from=apart_from)
            if not free:
                return None
            chosen = _lock_first(free)
            if _still_has_room(chosen, membership, target):
                return _claim(chosen, membership, ahead=after is not None)


def skip_item(*, assignment: Assignment, annotator: Annotator, reason: SkipReason) -> None:
    """Put an item aside for good, with the annotator's reason; others may still get it.

    Of an answer that was asked again, it is the second look that is put aside: the answer stands. A training
    item that is asked again is skipped, so that it holds nobody up.

    Raises:
        Conflict: the annotator has labelled it; take that back first.
        Gone, NotAllowed: as in `next_assignment`.
    """
    with transaction.atomic():
        membership = lock_membership(campaign_id=assignment.item.campaign_id, annotator_id=annotator.pk)
        require_may_label(membership)
        own = Assignment.objects.filter(pk=assignment.pk, annotator=annotator)
        again = own.filter(state=AssignmentState.AGAIN).exclude(item__kind=ItemKind.TRAINING)
        if again.update(state=AssignmentState.LABELLED):
            return
        n_changed = own.exclude(state=AssignmentState.LABELLED).update(
            state=AssignmentState.SKIPPED, skip_reason=SkipReason(reason)
        )
        if not n_changed:
            raise Conflict(
                "You have already answered this one, so it cannot be skipped. Undo the answer first."
            )
        note_shown(assignment, membership)
        if assignment.item.kind == ItemKind.TRAINING:
            settle_training(membership)


def is_filled_by_others(item: CampaignItem, membership: Membership) -> bool:
    """True when others have given the labels that a regular item needs: one more is extra. Item locked."""
    if item.kind != ItemKind.REGULAR:
        return False
    target = target_of(membership)
    n_others = others_on(item.pk, membership.annotator_id, target).filter(state__in=ANSWERED).count()
    return n_others >= target.n_labels


def note_shown(assignment: Assignment, membership: Membership) -> bool:
    """Note that the person sees an item, once; True when it is the first time.

    At most three queries. Call with the membership locked.
    """
    unseen = Assignment.objects.filter(pk=assignment.pk, first_shown_at=None)
    if assignment.first_shown_at or not unseen.update(first_shown_at=Now()):
        return False
    prompt = Prompt.objects.only("risk_category").get(responses__items=assignment.item_id)
    care.record_shown(membership, risk_category=prompt.risk_category)
    return True


def lease_end(campaign: Campaign) -> Combinable:
    """The end of a lease that begins now, by the database's clock."""
    return Now() + dt.timedelta(minutes=campaign.lease_minutes)


def lock_item(item_id: int) -> CampaignItem:
    """The item, locked until the transaction ends. Lock the membership first."""
    return CampaignItem.objects.select_for_update(no_key=True).get(pk=item_id)


def _lock_first(free: Sequence[FreeItem]) -> FreeItem:
    """The first that nobody else is taking at this moment; when all are being taken, wait for the first."""
    for item in free:
        if item.kind != ItemKind.REGULAR or _lock_unless_taken(item.item_id):
            return item
    lock_item(free[0].item_id)
    return free[0]


def _lock_unless_taken(item_id: int) -> bool:
    items = CampaignItem.objects.select_for_update(no_key=True, skip_locked=True)
    return items.filter(pk=item_id).values_list("pk").first() is not None


def _still_has_room(item: FreeItem, membership: Membership, target: Target) -> bool:
    """Count again under the lock: only that can be relied on. Items of other kinds are for everyone."""
    if item.kind != ItemKind.REGULAR:
        return True
    others = others_on(item.item_id, membership.annotator_id, target)
    return others.filter(taking_a_place()).count() < target.n_labels


def _claim(item: FreeItem, membership: Membership, *, ahead: bool) -> Assignment:
    """Give the person an item that was found free, shown at once unless it is fetched ahead of time."""
    if item.is_held:
        return _show(_hold(item.item_id, membership), membership, ahead=ahead)
    Assignment.objects.create(
        item_id=item.item_id,
        annotator_id=membership.annotator_id,
        lease_until=lease_end(membership.campaign),
        first_shown_at=None if ahead else Now(),
    )
    if not ahead:
        care.record_shown(membership, risk_category=item.risk_category)
    return _own(item.item_id, membership).get()


def _hold(item_id: int, membership: Membership) -> Assignment:
    """Keep an item in the person's hands under a fresh lease; one that is asked again needs none."""
    own = _own(item_id, membership)
    own.filter(state=AssignmentState.OPEN).update(lease_until=lease_end(membership.campaign))
    return own.get()


def _show(assignment: Assignment, membership: Membership, *, ahead: bool) -> Assignment:
    if not ahead and note_shown(assignment, membership):
        assignment.refresh_from_db(fields=["first_shown_at"])
    return assignment


def _own(item_id: int, membership: Membership) -> QuerySet[Assignment]:
    return Assignment.objects.select_related("item").filter(item=item_id, annotator=membership.annotator_id)
