"""Why a person gets no item just now: one sentence for them, one for the researcher."""

from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Count, Exists, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext

from annotation import care
from annotation.choices import AssignmentState, ItemKind
from annotation.errors import Gone
from annotation.labelling.again import in_hand
from annotation.models import Assignment, CampaignItem, Membership
from annotation.permissions import has_consented, require_open
from annotation.selectors.places import (
    ANSWERED,
    SETTLED,
    Target,
    open_items,
    opted_out,
    target_of,
)


class NoItemCode(StrEnum):
    """What keeps a person from an item; ITEM_WAITING when nothing does."""

    DEACTIVATED = "DEACTIVATED"
    NOT_TAKING_LABELS = "NOT_TAKING_LABELS"
    NO_CONSENT = "NO_CONSENT"
    ITEM_WAITING = "ITEM_WAITING"
    CAP_REACHED = "CAP_REACHED"
    KIND_NOT_ASKED = "KIND_NOT_ASKED"
    HELD_BY_OTHERS = "HELD_BY_OTHERS"
    OPTED_OUT = "OPTED_OUT"
    FILLED_BY_OTHERS = "FILLED_BY_OTHERS"
    ALL_DONE = "ALL_DONE"


@dataclass(frozen=True)
class NoItem:
    """The reason, and how each side is told. Nothing in it depends on what anybody answered."""

    code: NoItemCode
    to_annotator: str
    to_researcher: str


def why_no_item(membership: Membership) -> NoItem:
    """Why the person gets no item now, or that one waits for them. At most nine queries, whatever the size.

    Where several reasons hold, the one that the person or the researcher can act on first is told.
    Nothing is locked or changed, so a claim a moment later may find otherwise.

    Args:
        membership: with campaign and annotator loaded.
    """
    return _barred(membership) or _stopped(membership) or _used_up(membership)


def _barred(membership: Membership) -> NoItem | None:
    """Reasons that lie in the campaign or in the person's place in it."""
    if membership.deactivated_at is not None:
        return NoItem(
            NoItemCode.DEACTIVATED,
            gettext("You have been taken off this task; what you answered is kept."),
            "They are deactivated; reactivate them on the roster to give them items again.",
        )
    try:
        require_open(membership.campaign)
    except Gone as gone:
        campaign = membership.campaign
        dates = f"{campaign.opens_on or 'any day'} to {campaign.closes_on or 'any day'}"
        return NoItem(
            NoItemCode.NOT_TAKING_LABELS,
            gone.message,
            f"The campaign takes no labels today: it is {campaign.get_state_display()}, and its dates are "
            f"{dates} (UTC).",
        )
    if not has_consented(membership):
        return NoItem(
            NoItemCode.NO_CONSENT,
            gettext(
                "There is no consent from you for this task yet; open the task to read the text and decide."
            ),
            f"They have not consented to version {membership.campaign.consent_version} of the consent text, "
            "or have withdrawn.",
        )
    return None


def _stopped(membership: Membership) -> NoItem | None:
    """What they have in hand comes before a cap, and a cap before anything new."""
    held = in_hand(membership)
    if held and held.state == AssignmentState.OPEN and held.first_shown_at:
        return _item_waiting("They have an item in hand and can go on with it at any time.")
    stop = care.stop_reason(membership)
    if stop:
        return NoItem(NoItemCode.CAP_REACHED, stop.to_annotator, stop.to_researcher)
    if held:
        return _item_waiting("An item is held for them, or an answer is to be looked at again.")
    return None


def _used_up(membership: Membership) -> NoItem:
    """Reasons that lie in the items."""
    target = target_of(membership)
    n_open = open_items(membership, target).count()
    if n_open:
        return _item_waiting(f"They would get an item now; open to them: {n_open}.")
    if target.n_labels == 0:
        kind = membership.annotator.get_annotator_type_display()
        return NoItem(
            NoItemCode.KIND_NOT_ASKED,
            gettext("This task needs answers from other groups of people at the moment."),
            f"The campaign's quotas ask for no labels from a {kind}; change the quotas to include them.",
        )
    return _what_is_left(membership, target)


def _what_is_left(membership: Membership, target: Target) -> NoItem:
    left = _count_left(membership, target)
    if left.n_held:
        return NoItem(
            NoItemCode.HELD_BY_OTHERS,
            gettext("Other people are reading the last texts just now; please look again later."),
            f"Items in other people's hands that they could take: {left.n_held}; each comes back when its "
            f"lease of {membership.campaign.lease_minutes} minutes ends without an answer.",
        )
    if left.n_opted_out:
        return NoItem(
            NoItemCode.OPTED_OUT,
            gettext("The texts that are left are on themes that you chose not to read."),
            f"Items that still need labels: {left.n_opted_out}; all of categories that they opted out of.",
        )
    if left.n_full:
        return NoItem(
            NoItemCode.FILLED_BY_OTHERS,
            gettext("Every text has enough answers now, so there is nothing left for you to read."),
            f"Items that they have not settled: {left.n_full}; all have the labels they need from others.",
        )
    return NoItem(
        NoItemCode.ALL_DONE,
        gettext("You have been through every text of this task."),
        "They have answered or skipped every item of the campaign.",
    )


@dataclass(frozen=True)
class _Left:
    """Regular items that the person has not settled, by what keeps them away."""

    n_held: int
    n_opted_out: int
    n_full: int


def _count_left(membership: Membership, target: Target) -> _Left:
    own = Assignment.objects.filter(
        annotator=membership.annotator_id, item__campaign=membership.campaign_id, state__in=SETTLED
    )
    others = (
        Assignment.objects.filter(target.counted(), item=OuterRef("pk"))
        .exclude(annotator=membership.annotator_id)
        .order_by()
    )
    answered = others.filter(state__in=ANSWERED).values("item").annotate(n=Count("pk"))
    reading = others.filter(state=AssignmentState.OPEN, lease_until__gt=Now())
    unsettled = (
        CampaignItem.objects.filter(campaign=membership.campaign_id, kind=ItemKind.REGULAR)
        .exclude(pk__in=own.values("item"))
        .annotate(
            is_opted_out=opted_out(membership),
            n_answered=Coalesce(Subquery(answered.values("n")), 0),
            is_being_read=Exists(reading),
        )
    )
    lacking = Q(n_answered__lt=target.n_labels)
    counts = unsettled.aggregate(
        n_held=Count("pk", filter=lacking & Q(is_opted_out=False, is_being_read=True)),
        n_opted_out=Count("pk", filter=lacking & Q(is_opted_out=True)),
        n_full=Count("pk", filter=~lacking),
    )
    return _Left(**counts)


def _item_waiting(to_researcher: str) -> NoItem:
    return NoItem(NoItemCode.ITEM_WAITING, gettext("There is a text for you now."), to_researcher)
