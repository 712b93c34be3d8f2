"""A campaign under way, as one document: the same numbers on the page, through the API and in its files.

What people did is counted by `annotation.selectors.monitoring`, how reliably they answer by
`annotation.selectors.quality`, and how far they agree by `judging.reports`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.models import Campaign
from annotation.selectors.monitoring import CampaignTally, tally_campaign
from annotation.selectors.quality import (
    AnnotatorQuality,
    CampaignQuality,
    ExpectedAnswers,
    ReadingTime,
    RepeatedAnswers,
    quality_of,
)
from judging.reports import build_report

# The lists of the document that can be had as files, with what their rows are.
LISTS: Mapping[str, str] = {
    "items": "items",
    "annotators": "annotators",
    "annotator_types": "kinds of rater",
    "item_kinds": "kinds of item",
    "risk_categories": "risk categories",
    "skips": "reasons to skip",
    "quality": "training, gold, repeats and reading time",
}


def watch_campaign(campaign: Campaign) -> dict[str, Any]:
    """Everything that is known of how a campaign goes, as JSON values.

    Each of the lists `items`, `annotators`, `annotator_types`, `item_kinds` and `risk_categories` adds up
    to `total`. Agreement is among people alone: how they agree with judges is on the Calibration page,
    and would only invite to steer people while they label. It counts regular items, as every figure does.
    """
    return count_campaign(campaign) | {
        "quality": [_quality(row) for row in _everybody(quality_of(campaign))],
        "agreement": _among_people(build_report(campaign.benchmark, campaign=campaign)["agreement"]),
    }


def count_campaign(campaign: Campaign) -> dict[str, Any]:
    """The counts of `watch_campaign` without quality and agreement. Five queries."""
    return _counts(campaign, tally_campaign(campaign))


def _counts(campaign: Campaign, tally: CampaignTally) -> dict[str, Any]:
    return {
        "campaign": campaign.public_id,
        "state": campaign.state,
        "labels_per_response": campaign.labels_per_response,
        "n_regular_items": sum(tally.n_items_by_labels.values()),
        "n_full": tally.n_full,
        "n_items_by_labels": [{"n_labels": each, "n": n} for each, n in tally.n_items_by_labels.items()],
        "total": asdict(tally.total),
        "items": [
            {
                "item": row.item_id,
                "response": row.response_id,
                "kind": row.kind.value,
                "risk_category": row.risk_category,
                **asdict(row.tally),
            }
            for row in tally.items
        ],
        "annotators": [
            {
                "annotator": row.annotator.code if row.annotator else None,
                "annotator_type": row.annotator.annotator_type if row.annotator else None,
                **asdict(row.tally),
            }
            for row in tally.annotators
        ],
        "annotator_types": [
            {"annotator_type": kind.value, **asdict(counts)} for kind, counts in tally.annotator_types.items()
        ],
        "item_kinds": [{"kind": kind.value, **asdict(counts)} for kind, counts in tally.item_kinds.items()],
        "risk_categories": [
            {"risk_category": category, **asdict(counts)}
            for category, counts in tally.risk_categories.items()
        ],
        "skips": [{"reason": reason.value, "n": n} for reason, n in tally.skips.items()],
    }


def _everybody(
    quality: CampaignQuality,
) -> Sequence[tuple[str | None, AnnotatorQuality | CampaignQuality]]:
    """Each person's row under their code, and all together under none."""
    return [*((row.annotator.code, row) for row in quality.annotators), (None, quality)]


def _quality(entry: tuple[str | None, AnnotatorQuality | CampaignQuality]) -> dict[str, Any]:
    code, row = entry
    return {
        "annotator": code,
        **_expected("training", row.training),
        **_expected("gold", row.gold),
        **_repeated(row.repeats),
        **_timed(row.time),
    }


def _expected(name: str, answers: ExpectedAnswers) -> dict[str, int]:
    return {f"n_{name}": answers.n, f"n_{name}_right": answers.n_right}


def _repeated(answers: RepeatedAnswers) -> dict[str, Any]:
    return {
        "n_repeats": answers.n,
        "n_repeats_equal": answers.n_equal,
        "median_days_between": answers.median_days,
    }


def _timed(time: ReadingTime) -> dict[str, Any]:
    return asdict(time)


def _among_people(agreement: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a report's agreement that no judge has a part in."""
    kept = ("labels", "alpha", "alpha_n", "fleiss", "fleiss_kappa", "fleiss_kappa_binary", "undefined")
    return {name: agreement[name] for name in kept if name in agreement} | {
        "pairs": [pair for pair in agreement["pairs"] if pair["kind"] == "human-human"]
    }
