"""What adjudicators read: the labels of an item under no name, and the decisions on it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.choices import AnnotatorType, ItemKind, Rating
from annotation.models import Adjudication, Benchmark, Campaign, CampaignItem, Label, Response


@dataclass(frozen=True)
class UnnamedLabel:
    """One person's current label of an item, without the person. `number` is its place on the page."""

    number: int
    annotator_type: AnnotatorType
    rating: str | None
    severity: int | None
    note: str | None


@dataclass(frozen=True)
class StandingDecision:
    """An adjudicator's decision that takes the place of the consensus on a response.

    `is_outdated`: the item's labels are no longer those that were decided upon.
    """

    response_id: int
    rating: Rating
    is_outdated: bool


def digest_of_labels(label_ids: Iterable[str]) -> str:
    """SHA-256 of the public ids of an item's current labels, in any order.

    A revision is a label of its own, so a changed mind gives another digest, as do a new label, one
    that was taken back and one that was erased.
    """
    return hashlib.sha256("\n".join(sorted(label_ids)).encode()).hexdigest()


def differing_items(campaigns: Iterable[Campaign]) -> QuerySet[CampaignItem]:
    """Regular items to whose response people gave unlike ratings, or that were decided once. No query.

    In the order of their public ids, which are random: the list tells nothing about when or from which
    model an item came.
    """
    labels = Label.objects.filter(item=OuterRef("pk"), is_current=True)
    return CampaignItem.objects.filter(
        Exists(labels.filter(rating=Rating.ACCEPTABLE)) & Exists(labels.filter(rating=Rating.UNACCEPTABLE))
        | Exists(Adjudication.objects.filter(item=OuterRef("pk"), is_current=True)),
        campaign__in=list(campaigns),
        kind=ItemKind.REGULAR,
    ).order_by("public_id")


def labels_of_items(items: Iterable[CampaignItem]) -> dict[int, list[Label]]:
    """Current labels by item, in the order in which they were given. One query."""
    found: dict[int, list[Label]] = {item.pk: [] for item in items}
    for label in Label.objects.filter(item__in=found, is_current=True).order_by("pk"):
        found[label.item_id].append(label)
    return found


def shuffled(item: CampaignItem, labels: Iterable[Label]) -> list[UnnamedLabel]:
    """The labels in an order of this item's own, numbered from 1. No query.

    The order follows from the item and the people, so it stays when somebody revises, and nobody has the
    same number on every item.
    """

    def place(label: Label) -> str:
        who = label.public_id if label.annotator_id is None else str(label.annotator_id)
        return hashlib.sha256(f"{item.public_id}:{who}".encode()).hexdigest()

    return [
        UnnamedLabel(
            number=number,
            annotator_type=AnnotatorType(label.annotator_type),
            rating=label.rating,
            severity=label.severity,
            note=label.note,
        )
        for number, label in enumerate(sorted(labels, key=place), start=1)
    ]


def decisions_on(item: CampaignItem) -> list[Adjudication]:
    """Every decision on an item, newest first, with who decided. One query."""
    decisions = Adjudication.objects.filter(item=item).select_related("adjudicator")
    return list(decisions.order_by("-created_at", "-pk"))


def decisions_on_response(response: Response) -> list[Adjudication]:
    """Every decision on a response, in whichever campaign, newest first. One query."""
    decisions = Adjudication.objects.filter(item__response=response, item__kind=ItemKind.REGULAR)
    return list(decisions.select_related("adjudicator", "item__campaign").order_by("-created_at", "-pk"))


def current_decisions(items: Iterable[CampaignItem]) -> dict[int, Adjudication]:
    """The decision in force by item. One query."""
    return {
        decision.item_id: decision
        for decision in Adjudication.objects.filter(item__in=list(items), is_current=True)
    }


def standing_decisions(benchmark: Benchmark, campaign: Campaign | None = None) -> list[StandingDecision]:
    """The decisions that take the place of the consensus, by response. One query, two where there are any.

    Those in force, on regular items of campaigns that declared it; of several on one response (in two
    campaigns) the newest.
    """
    decisions = Adjudication.objects.filter(
        Q(item__campaign=campaign) if campaign is not None else Q(item__campaign__benchmark=benchmark),
        is_current=True,
        item__kind=ItemKind.REGULAR,
        item__campaign__adjudication_overrides=True,
    )
    newest: dict[int, Adjudication] = {
        decision.response_id: decision
        for decision in decisions.annotate(response_id=F("item__response")).order_by("created_at", "pk")
    }
    labels: dict[int, list[str]] = {decision.item_id: [] for decision in newest.values()}
    if labels:
        current = Label.objects.filter(item__in=labels, is_current=True)
        for item_id, public_id in current.values_list("item", "public_id"):
            labels[item_id].append(public_id)
    return [
        StandingDecision(
            response_id=response_id,
            rating=Rating(newest[response_id].decision),
            is_outdated=is_outdated(newest[response_id], labels[newest[response_id].item_id]),
        )
        for response_id in sorted(newest)
    ]


def is_outdated(decision: Adjudication, label_ids: Iterable[str]) -> bool:
    """Whether the item's labels, by public id, are others than those that were decided upon."""
    return decision.labels_digest != digest_of_labels(label_ids)
