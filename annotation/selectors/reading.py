"""What one annotator sees: their tasks, items, texts and own labels.

These name the columns they fetch, and a model's name, a verdict or another person's label is not among them.
"""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotation.choices import AssignmentState, CampaignState
from annotation.models import (
    Account,
    Assignment,
    CampaignItem,
    Label,
    Membership,
    Response,
)
from annotation.selectors.places import HAS_ROOM, _items_with_places


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


def _done(annotator_ids: Collection[int]) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotator__in=annotator_ids).exclude(state=AssignmentState.OPEN)


def _left_for(annotator_ids: Collection[int]) -> QuerySet[CampaignItem]:
    """Items that these annotators (one per campaign) hold, or could still be given."""
    own = Assignment.objects.filter(item=OuterRef("pk"), annotator__in=annotator_ids)
    holds = Exists(own.filter(state=AssignmentState.OPEN, lease_until__gt=Now()))
    is_done = Exists(own.exclude(state=AssignmentState.OPEN))
    return _items_with_places().filter(holds | (HAS_ROOM & ~is_done))


def _count_by_campaign(
    rows: QuerySet[Assignment] | QuerySet[CampaignItem], campaign_field: str
) -> dict[int, int]:
    return dict(rows.order_by().values_list(campaign_field).annotate(n=Count("pk")))
