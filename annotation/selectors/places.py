"""Which items still need a person, and which of them one person may read."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from annotation.choices import AnnotatorType, AssignmentState, CampaignState, ItemKind
from annotation.models import (
    Assignment,
    CampaignItem,
    CategoryOptOut,
    Membership,
    TypeQuota,
)

# The answer stands; AGAIN only asks for another look at it.
ANSWERED = (AssignmentState.LABELLED, AssignmentState.AGAIN)
SETTLED = (*ANSWERED, AssignmentState.SKIPPED)


@dataclass(frozen=True)
class Target:
    """How many labels a regular item needs, as far as one person is concerned.

    `annotator_type` is set when the campaign has quotas: only people of this kind then count, and
    `n_labels` is 0 when it asks for none of them.
    """

    n_labels: int
    annotator_type: AnnotatorType | None = None

    def counted(self) -> Q:
        """The assignments of those who count towards the target."""
        return Q(annotator__annotator_type=self.annotator_type) if self.annotator_type else Q()


def target_of(membership: Membership) -> Target:
    """What an item of the campaign needs from people of this person's kind. One query."""
    return targets_of([membership])[membership.pk]


def targets_of(memberships: Collection[Membership]) -> dict[int, Target]:
    """The targets for several people or campaigns, by primary key of the membership. One query.

    Args:
        memberships: with campaign and annotator loaded.
    """
    quotas: dict[int, dict[str, int]] = defaultdict(dict)
    for campaign_id, annotator_type, n_labels in TypeQuota.objects.filter(
        campaign__in={membership.campaign_id for membership in memberships}
    ).values_list("campaign", "annotator_type", "n_labels"):
        quotas[campaign_id][annotator_type] = n_labels
    return {
        membership.pk: _target(membership, quotas.get(membership.campaign_id)) for membership in memberships
    }


def _target(membership: Membership, quotas: dict[str, int] | None) -> Target:
    if quotas is None:
        return Target(membership.campaign.labels_per_response)
    annotator_type = AnnotatorType(membership.annotator.annotator_type)
    return Target(quotas.get(annotator_type, 0), annotator_type)


def taking_labels() -> Q:
    """Memberships whose campaign takes labels today: open, and between its dates (UTC)."""
    today = timezone.now().astimezone(dt.UTC).date()
    return (
        Q(campaign__state=CampaignState.OPEN)
        & (Q(campaign__opens_on=None) | Q(campaign__opens_on__lte=today))
        & (Q(campaign__closes_on=None) | Q(campaign__closes_on__gte=today))
    )


def taking_a_place() -> Q:
    """Assignments that count towards an item's target: answered, or open under a running lease.

    Leases are compared with the database's clock, so that web processes need not agree on the time.
    """
    return Q(state__in=ANSWERED) | Q(state=AssignmentState.OPEN, lease_until__gt=Now())


def others_on(item_id: int, annotator_id: int, target: Target) -> QuerySet[Assignment]:
    """Assignments of an item to other people than this one, of those who count towards the target."""
    return Assignment.objects.filter(target.counted(), item=item_id).exclude(annotator=annotator_id)


def unsettled_items(membership: Membership) -> QuerySet[CampaignItem]:
    """Items that the person has neither answered nor skipped, of no category that they opted out of."""
    own = Assignment.objects.filter(item=OuterRef("pk"), annotator=membership.annotator_id)
    return CampaignItem.objects.filter(
        ~Exists(own.filter(state__in=SETTLED)), ~opted_out(membership), campaign=membership.campaign_id
    )


def opted_out(membership: Membership, *, category: str = "response__prompt__risk_category") -> Exists:
    """Rows of a category that the person does not want to read."""
    return Exists(CategoryOptOut.objects.filter(membership=membership.pk, risk_category=OuterRef(category)))


def with_room(
    items: QuerySet[CampaignItem], membership: Membership, target: Target
) -> QuerySet[CampaignItem]:
    """Those of the items that still need this person, in so far as they have a target."""
    taken = (
        Assignment.objects.filter(taking_a_place(), target.counted(), item=OuterRef("pk"))
        .exclude(annotator=membership.annotator_id)
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
    )
    return items.alias(n_places_taken=Coalesce(Subquery(taken.values("n")), 0)).filter(
        ~Q(kind=ItemKind.REGULAR) | Q(n_places_taken__lt=target.n_labels)
    )


def open_items(membership: Membership, target: Target) -> QuerySet[CampaignItem]:
    """Items that the person holds or could still be given, repeats apart; training until it is passed."""
    kinds = [ItemKind.REGULAR, ItemKind.GOLD]
    if membership.trained_at is None:
        kinds.append(ItemKind.TRAINING)
    return with_room(unsettled_items(membership).filter(kind__in=kinds), membership, target)
