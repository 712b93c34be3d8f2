"""Which items still need a person."""

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from annotation.choices import AssignmentState
from annotation.models import (
    Assignment,
    CampaignItem,
)

HAS_ROOM = Q(n_places_taken__lt=F("campaign__labels_per_response"))


def taking_a_place() -> Q:
    """Assignments that count towards an item's target: labelled, or open under a running lease.

    Leases are compared with the database's clock, so that web processes need not agree on the time.
    """
    return Q(state=AssignmentState.LABELLED) | Q(state=AssignmentState.OPEN, lease_until__gt=Now())


def items_with_room() -> QuerySet[CampaignItem]:
    """Items that still need a person, of all campaigns."""
    return _items_with_places().filter(HAS_ROOM)


def _items_with_places() -> QuerySet[CampaignItem]:
    """Items with the number of people who have labelled them or are reading them."""
    places = (
        Assignment.objects.filter(taking_a_place(), item=OuterRef("pk"))
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
    )
    return CampaignItem.objects.annotate(n_places_taken=Coalesce(Subquery(places.values("n")), 0))
