"""Reads of campaigns and labels for researchers and for the activities.

What annotators see is read by `blind_selectors`, which cannot reach a model name or another's label.
"""

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from annotation.choices import AssignmentState, ItemKind, ResponseState
from annotation.models import Assignment, Benchmark, Campaign, CampaignItem, Label, Response


def current_labels(benchmark: Benchmark, campaign: Campaign | None = None) -> QuerySet[Label]:
    """Current labels of REGULAR items, oldest first, with item and annotator loaded. One query.

    Args:
        benchmark: whose labels.
        campaign: only this one; all campaigns of the benchmark when None.
    """
    labels = Label.objects.filter(
        is_current=True, item__kind=ItemKind.REGULAR, item__campaign__benchmark=benchmark
    )
    if campaign is not None:
        labels = labels.filter(item__campaign=campaign)
    return labels.select_related("item", "annotator").order_by("created_at", "pk")


def readable_responses(benchmark: Benchmark) -> QuerySet[Response]:
    """Responses with a text that a person can read; failed and empty ones have none."""
    return (
        Response.objects.filter(prompt__benchmark=benchmark)
        .exclude(state__in=[ResponseState.EMPTY, ResponseState.ERROR])
        .exclude(text="")
    )


def taking_a_place() -> Q:
    """Assignments that count towards an item's target: labelled, or open under a running lease.

    Leases are compared with the database's clock, so that web processes need not agree on the time.
    """
    return Q(state=AssignmentState.LABELLED) | Q(state=AssignmentState.OPEN, lease_until__gt=Now())


def items_with_room(campaign: Campaign) -> QuerySet[CampaignItem]:
    """Items of `campaign` that still need a person."""
    places = (
        Assignment.objects.filter(taking_a_place(), item=OuterRef("pk"))
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
    )
    return (
        CampaignItem.objects.filter(campaign=campaign)
        .annotate(n_places_taken=Coalesce(Subquery(places.values("n")), 0))
        .filter(n_places_taken__lt=campaign.labels_per_response)
    )
