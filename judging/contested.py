"""Contested items of a campaign, and where each stands on its way to a decision."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from annotation.choices import CampaignState, Rating
from annotation.models import Adjudication, Campaign, CampaignItem, Label
from annotation.selectors.adjudication import (
    current_decisions,
    differing_items,
    is_outdated,
    labels_of_items,
)
from judging.stats.aggregation import Consensus, consensus
from judging.stats.records import CONTESTED, HumanLabel


class Standing(StrEnum):
    """Where an item stands. Each item on which people differ, or that was decided, is in exactly one."""

    TO_DECIDE = "TO_DECIDE"
    OUTDATED = "OUTDATED"
    WAITING = "WAITING"
    DECIDED = "DECIDED"
    MAJORITY = "MAJORITY"


STANDING_WORDS = {
    Standing.TO_DECIDE: "To be decided",
    Standing.OUTDATED: "Labels changed since",
    Standing.WAITING: "More labels to come",
    Standing.DECIDED: "Decided",
    Standing.MAJORITY: "A majority decides",
}


@dataclass(frozen=True)
class ListedItem:
    """One item with its labels by rating and the decision in force, if any."""

    item: CampaignItem
    n_acceptable: int
    n_unacceptable: int
    decision: Adjudication | None
    standing: Standing


@dataclass(frozen=True)
class CampaignStandings:
    """A campaign and how many of its items stand where."""

    campaign: Campaign
    counts: Counter[Standing]


def listed_items(campaign: Campaign) -> list[ListedItem]:
    """The items on which people differ or that were decided, in a meaningless order. Three queries."""
    return _listed([campaign])


def standings_of(campaigns: Sequence[Campaign]) -> list[CampaignStandings]:
    """Each campaign with its counts, in the order given. Three queries."""
    counts: dict[int, Counter[Standing]] = {campaign.pk: Counter() for campaign in campaigns}
    for listed in _listed(campaigns):
        counts[listed.item.campaign_id][listed.standing] += 1
    return [CampaignStandings(campaign, counts[campaign.pk]) for campaign in campaigns]


def _listed(campaigns: Sequence[Campaign]) -> list[ListedItem]:
    by_id = {campaign.pk: campaign for campaign in campaigns}
    items = list(differing_items(campaigns).select_related("response__prompt"))
    labels, decisions = labels_of_items(items), current_decisions(items)
    # Each item is read by itself, so it stands where a response does elsewhere: two campaigns may hold one.
    readings = consensus(
        HumanLabel(response_id=item.pk, annotator=None, unacceptable=label.rating == Rating.UNACCEPTABLE)
        for item in items
        for label in labels[item.pk]
    )
    return [
        _list_item(
            item,
            campaign=by_id[item.campaign_id],
            labels=labels[item.pk],
            joint=readings.get(item.pk),
            decision=decisions.get(item.pk),
        )
        for item in items
    ]


def _list_item(
    item: CampaignItem,
    *,
    campaign: Campaign,
    labels: list[Label],
    joint: Consensus | None,
    decision: Adjudication | None,
) -> ListedItem:
    return ListedItem(
        item=item,
        n_acceptable=joint.n_acceptable if joint else 0,
        n_unacceptable=joint.n_unacceptable if joint else 0,
        decision=decision,
        standing=_standing(
            campaign,
            labels,
            decision,
            is_contested=joint is not None and joint.verdict == CONTESTED,
        ),
    )


def _standing(
    campaign: Campaign, labels: list[Label], decision: Adjudication | None, *, is_contested: bool
) -> Standing:
    if decision is not None:
        outdated = is_outdated(decision, (label.public_id for label in labels))
        return Standing.OUTDATED if outdated else Standing.DECIDED
    if not is_contested:
        return Standing.MAJORITY
    is_complete = campaign.state == CampaignState.CLOSED or len(labels) >= campaign.labels_per_response
    return Standing.TO_DECIDE if is_complete else Standing.WAITING
