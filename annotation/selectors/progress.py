"""How far a campaign is, for researchers."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.choices import AssignmentState
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Consent,
    Label,
)


@dataclass(frozen=True)
class AnnotatorProgress:
    """One person's row on the campaign page."""

    annotator: Annotator
    has_consented: bool
    n_labelled: int
    n_skipped: int
    n_open: int


@dataclass(frozen=True)
class ItemProgress:
    """How far a campaign is: its items by number of current labels, all labels, items with enough."""

    n_items_by_labels: dict[int, int]
    n_items: int
    n_labels: int
    n_full: int


def annotator_progress(campaign: Campaign) -> list[AnnotatorProgress]:
    """Every person of the campaign with their counts, by code. Four queries."""
    members = (
        Annotator.objects.filter(memberships__campaign=campaign).select_related("account").order_by("code")
    )
    consented = set(
        Consent.objects.filter(
            campaign=campaign, version=campaign.consent_version, withdrawn_at=None
        ).values_list("annotator_id", flat=True)
    )
    n_labelled = dict(
        Label.objects.filter(item__campaign=campaign, is_current=True)
        .order_by()
        .values_list("annotator")
        .annotate(n=Count("pk"))
    )
    n_by_state: dict[tuple[int, str], int] = {
        (annotator_id, state): n
        for annotator_id, state, n in Assignment.objects.filter(item__campaign=campaign)
        .order_by()
        .values_list("annotator", "state")
        .annotate(n=Count("pk"))
    }
    return [
        AnnotatorProgress(
            annotator=member,
            has_consented=member.pk in consented,
            n_labelled=n_labelled.get(member.pk, 0),
            n_skipped=n_by_state.get((member.pk, AssignmentState.SKIPPED), 0),
            n_open=n_by_state.get((member.pk, AssignmentState.OPEN), 0),
        )
        for member in members
    ]


def items_by_label_count(campaign: Campaign) -> dict[int, int]:
    """How many items have 0, 1, 2, … current labels, in that order. One query."""
    counts = campaign.items.annotate(n_labels=Count("labels", filter=Q(labels__is_current=True)))
    n_items: dict[int, int] = {}
    for n_labels in sorted(counts.values_list("n_labels", flat=True)):
        n_items[n_labels] = n_items.get(n_labels, 0) + 1
    return n_items


def item_progress(campaign: Campaign) -> ItemProgress:
    """How many of a campaign's items have the labels they need. One query."""
    by_labels = items_by_label_count(campaign)
    return ItemProgress(
        n_items_by_labels=by_labels,
        n_items=sum(by_labels.values()),
        n_labels=sum(n_labels * n_items for n_labels, n_items in by_labels.items()),
        n_full=sum(
            n_items for n_labels, n_items in by_labels.items() if n_labels >= campaign.labels_per_response
        ),
    )
