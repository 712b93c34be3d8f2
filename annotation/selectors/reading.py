"""What one annotator sees: their tasks, items, texts and own labels.

These name the columns they fetch, and a model's name, a verdict or another person's label is not among them.
"""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Value

from annotation.choices import AssignmentState, ItemKind
from annotation.models import (
    Account,
    Assignment,
    Label,
    Membership,
    Response,
)
from annotation.selectors.places import open_items, taking_labels, targets_of

# What is asked again is not done.
DONE = (AssignmentState.LABELLED, AssignmentState.SKIPPED)


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
    """The campaigns that an account can work in now, oldest first. Four queries."""
    memberships = list(
        Membership.objects.select_related("campaign", "annotator")
        .filter(
            taking_labels(),
            annotator__account=account,
            deactivated_at=None,
        )
        .order_by("created_at", "pk")
    )
    n_settled = _count_by_state(memberships)
    n_open = _count_open(memberships)
    return [
        Task(
            campaign_id=membership.campaign.public_id,
            added_at=membership.created_at,
            n_done=sum(n_settled[membership.pk][state] for state in DONE),
            n_left=n_settled[membership.pk][AssignmentState.AGAIN] + n_open[membership.pk],
        )
        for membership in memberships
    ]


def progress_of(membership: Membership) -> Progress:
    """Where the person stands in the campaign. One query, and two more until an order was worked out.

    What is open to them is as it was then: counting it anew for each page would cost more than the page.
    """
    n_settled = _count_by_state([membership])[membership.pk]
    n_done = sum(n_settled[state] for state in DONE)
    if membership.n_in_reach is None:
        return Progress(n_done, n_settled[AssignmentState.AGAIN] + _count_open([membership])[membership.pk])
    return Progress(n_done, max(membership.n_in_reach - n_done, 0))


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
    """The person's newest current label in the campaign: the one that undo takes back. One query.

    An answer to a training item is none, since its feedback was shown.
    """
    return (
        Label.objects.select_related("item")
        .filter(annotator=membership.annotator_id, item__campaign=membership.campaign_id, is_current=True)
        .exclude(item__kind=ItemKind.TRAINING)
        .order_by("-created_at", "-pk")
        .first()
    )


def _count_by_state(memberships: Sequence[Membership]) -> dict[int, Counter[str]]:
    """How many of their assignments each has in each state, by primary key of the membership. One query."""
    key_of = {(one.campaign_id, one.annotator_id): one.pk for one in memberships}
    n_by_state: dict[int, Counter[str]] = {one.pk: Counter() for one in memberships}
    counts = (
        Assignment.objects.filter(
            item__campaign__in={campaign_id for campaign_id, _ in key_of},
            annotator__in={annotator_id for _, annotator_id in key_of},
        )
        .order_by()
        .values_list("item__campaign", "annotator", "state")
        .annotate(n=Count("pk"))
    )
    for campaign_id, annotator_id, state, n in counts:
        if key := key_of.get((campaign_id, annotator_id)):
            n_by_state[key][state] = n
    return n_by_state


def _count_open(memberships: Sequence[Membership]) -> dict[int, int]:
    """How many items each holds or could still be given, by primary key of the membership. Two queries."""
    targets = targets_of(memberships)
    parts = [
        open_items(one, targets[one.pk]).order_by().values(key=Value(one.pk)).annotate(n=Count("pk"))
        for one in memberships
    ]
    if not parts:
        return {}
    counts = parts[0].union(*parts[1:], all=True).values_list("key", "n")
    return {one.pk: 0 for one in memberships} | dict(counts)
