"""Reads of campaigns and labels.

What annotators see is read by `tasks_of`, `reading_of`, `progress_of` and `own_label`: they name the
columns they fetch, and a model's name, a verdict or another person's label is not among them.
"""

import datetime as dt
import random
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from annotation.choices import AssignmentState, CampaignState, ItemKind, ResponseState
from annotation.models import (
    Account,
    Annotator,
    Assignment,
    Benchmark,
    Campaign,
    CampaignItem,
    Consent,
    Label,
    Membership,
    Response,
)

# A model that leaves more than this share of its answers empty was probably not collected properly.
MOST_EMPTY_PERCENT = 20
HAS_ROOM = Q(n_places_taken__lt=F("campaign__labels_per_response"))


@dataclass(frozen=True)
class Task:
    """One open campaign on an annotator's start page. Its name is the researchers' own and not shown."""

    campaign_id: str
    added_at: dt.datetime
    n_done: int
    n_left: int


@dataclass(frozen=True)
class Reading:
    """What an annotator reads of one item; `is_simulated` when the response is made up."""

    theme: str
    prompt: str
    response: str
    is_simulated: bool


@dataclass(frozen=True)
class Progress:
    """Where a person stands: items answered or skipped, and items still open to them."""

    n_done: int
    n_left: int

    @property
    def position(self) -> int:
        """Number of the item in hand."""
        return self.n_done + 1

    @property
    def n_total(self) -> int:
        """May shrink while others work; never less than the item in hand."""
        return max(self.n_done + self.n_left, self.position)


@dataclass(frozen=True)
class AnnotatorProgress:
    """One person's row on the campaign page."""

    annotator: Annotator
    has_consented: bool
    n_labelled: int
    n_skipped: int
    n_open: int


@dataclass(frozen=True)
class EmptyShare:
    """How many of one model's responses are empty; failed ones with an error are not."""

    model: str
    n_empty: int
    n_responses: int

    @property
    def rate(self) -> float:
        """Share of empty responses, 0-1; 0 when there are none at all."""
        return self.n_empty / self.n_responses if self.n_responses else 0.0

    @property
    def is_large(self) -> bool:
        """True above 20 %."""
        return self.n_empty * 100 > MOST_EMPTY_PERCENT * self.n_responses


@dataclass(frozen=True)
class ItemProgress:
    """How far a campaign is: its items by number of current labels, all labels, items with enough."""

    n_items_by_labels: dict[int, int]
    n_items: int
    n_labels: int
    n_full: int


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


def models_with_many_empty(benchmark: Benchmark) -> list[EmptyShare]:
    """Models of whose responses in rollouts more than 20 % are empty, by slug. One query."""
    counts = (
        Response.objects.filter(prompt__benchmark=benchmark, rollout__isnull=False)
        .order_by("target_model__slug")
        .values_list("target_model__slug")
        .annotate(n_empty=Count("pk", filter=Q(state=ResponseState.EMPTY)), n=Count("pk"))
    )
    shares = [EmptyShare(model, n_empty, n) for model, n_empty, n in counts]
    return [share for share in shares if share.is_large]


def choose_responses(
    benchmark: Benchmark,
    *,
    risk_categories: Collection[str] = (),
    model_slugs: Collection[str] = (),
    rollouts: Collection[int] = (),
    n_at_most: int | None = None,
    seed: int = 0,
) -> list[int]:
    """Primary keys of readable responses; an empty filter means all. One query.

    Args:
        n_at_most: draw this many at random; all when None or when there are fewer.
        seed: the same seed draws the same responses from the same data.
    """
    responses = readable_responses(benchmark)
    if risk_categories:
        responses = responses.filter(prompt__risk_category__in=risk_categories)
    if model_slugs:
        responses = responses.filter(target_model__slug__in=model_slugs)
    if rollouts:
        responses = responses.filter(rollout__in=rollouts)
    chosen = list(responses.order_by("pk").values_list("pk", flat=True))
    if n_at_most is None or n_at_most >= len(chosen):
        return chosen
    return random.Random(seed).sample(chosen, n_at_most)


def taking_a_place() -> Q:
    """Assignments that count towards an item's target: labelled, or open under a running lease.

    Leases are compared with the database's clock, so that web processes need not agree on the time.
    """
    return Q(state=AssignmentState.LABELLED) | Q(state=AssignmentState.OPEN, lease_until__gt=Now())


def items_with_room() -> QuerySet[CampaignItem]:
    """Items that still need a person, of all campaigns."""
    return _items_with_places().filter(HAS_ROOM)


def tasks_of(account: Account) -> list[Task]:
    """The open campaigns an account works in, oldest first. Three queries."""
    memberships = Membership.objects.filter(
        annotator__account=account, campaign__state=CampaignState.OPEN
    ).order_by("created_at", "pk")
    rows = list(memberships.values_list("campaign_id", "campaign__public_id", "created_at", "annotator_id"))
    annotator_ids = {annotator_id for *_, annotator_id in rows}
    left = _left_for(annotator_ids).filter(campaign__in=[pk for pk, *_ in rows])
    n_done = _count_by_campaign(_done(annotator_ids), "item__campaign")
    n_left = _count_by_campaign(left, "campaign")
    return [
        Task(public_id, added_at, n_done.get(pk, 0), n_left.get(pk, 0)) for pk, public_id, added_at, _ in rows
    ]


def progress_of(membership: Membership) -> Progress:
    """Where the person stands in the campaign. Two queries."""
    person = {membership.annotator_id}
    return Progress(
        n_done=_done(person).filter(item__campaign=membership.campaign_id).count(),
        n_left=_left_for(person).filter(campaign=membership.campaign_id).count(),
    )


def own_assignment(membership: Membership, public_id: str) -> Assignment | None:
    """The person's own assignment in this campaign, with its item. One query."""
    return (
        Assignment.objects.select_related("item")
        .filter(public_id=public_id, annotator=membership.annotator_id, item__campaign=membership.campaign_id)
        .first()
    )


def reading_of(assignment: Assignment) -> Reading:
    """Theme and texts of the item. One query."""
    response = (
        Response.objects.select_related("prompt")
        .only("text", "settings", "prompt__risk_category", "prompt__text")
        .get(pk=assignment.item.response_id)
    )
    return Reading(
        theme=response.prompt.risk_category,
        prompt=response.prompt.text,
        response=response.text,
        is_simulated=response.is_simulated,
    )


def own_label(assignment: Assignment) -> Label | None:
    """The person's current label of the item they hold. One query."""
    return (
        Label.objects.select_related("item")
        .filter(item=assignment.item_id, annotator=assignment.annotator_id, is_current=True)
        .first()
    )


def own_label_by_id(membership: Membership, public_id: str) -> Label | None:
    """One of the person's own labels in the campaign, current or not. One query."""
    return (
        Label.objects.select_related("item")
        .filter(
            public_id=public_id,
            annotator=membership.annotator_id,
            item__campaign=membership.campaign_id,
        )
        .first()
    )


def last_label(membership: Membership) -> Label | None:
    """The person's newest current label in the campaign: the one that undo takes back. One query."""
    return (
        Label.objects.select_related("item")
        .filter(annotator=membership.annotator_id, item__campaign=membership.campaign_id, is_current=True)
        .order_by("-created_at", "-pk")
        .first()
    )


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


def _done(annotator_ids: Collection[int]) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator__in=annotator_ids).exclude(state=AssignmentState.OPEN)


def _left_for(annotator_ids: Collection[int]) -> QuerySet[CampaignItem]:
    """Items that these annotators (one per campaign) hold, or could still be given."""
    own = Assignment.objects.filter(item=OuterRef("pk"), annotator__in=annotator_ids)
    holds = Exists(own.filter(state=AssignmentState.OPEN, lease_until__gt=Now()))
    is_done = Exists(own.exclude(state=AssignmentState.OPEN))
    return _items_with_places().filter(holds | (HAS_ROOM & ~is_done))


def _items_with_places() -> QuerySet[CampaignItem]:
    """Items with the number of people who have labelled them or are reading them."""
    places = (
        Assignment.objects.filter(taking_a_place(), item=OuterRef("pk"))
        .order_by()
        .values("item")
        .annotate(n=Count("pk"))
    )
    return CampaignItem.objects.annotate(n_places_taken=Coalesce(Subquery(places.values("n")), 0))


def _count_by_campaign(
    rows: QuerySet[Assignment] | QuerySet[CampaignItem], campaign_field: str
) -> dict[int, int]:
    return dict(rows.order_by().values_list(campaign_field).annotate(n=Count("pk")))
