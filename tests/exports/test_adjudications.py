"""Decisions of adjudicators in files: the history, and the consensus that a decision stands in for."""

from pathlib import Path

import pytest

from annotation.choices import Rating
from annotation.models import CampaignItem
from annotation.selectors.adjudication import digest_of_labels
from tests.exports.reading import export, read_rows
from tests.exports.study import Study, make_study
from tests.factories import make_adjudication

pytestmark = pytest.mark.django_db(transaction=True)


def contested_item(study: Study) -> CampaignItem:
    return CampaignItem.objects.get(campaign=study.campaign, response=study.responses[3])


def decide_twice(study: Study) -> CampaignItem:
    """Decide the contested response for Acceptable, then for Unacceptable, on its present labels."""
    item = contested_item(study)
    digest = digest_of_labels(item.labels.filter(is_current=True).values_list("public_id", flat=True))
    first = make_adjudication(item=item, is_current=False, reason="At first sight.")
    make_adjudication(
        item=item,
        adjudicator=first.adjudicator,
        decision=Rating.UNACCEPTABLE,
        reason="It gives no way out.",
        labels_digest=digest,
    )
    return item


def test_adjudications_hold_the_whole_history_and_no_name(tmp_path: Path) -> None:
    study = make_study()
    item = decide_twice(study)

    rows = read_rows(export(study.benchmark, "adjudications", "jsonl", tmp_path).path)

    assert [(row["decision"], row["reason"], row["is_current"], row["is_outdated"]) for row in rows] == [
        ("Yes", "At first sight.", False, True),
        ("No", "It gives no way out.", True, False),
    ]
    assert {row["adjudicator"] for row in rows} == {"adjudicator-1"}
    assert {row["response_id"] for row in rows} == {item.response.public_id}
    assert {row["takes_the_consensus"] for row in rows} == {False}


def test_adjudications_of_one_campaign_leave_out_the_others(tmp_path: Path) -> None:
    study = make_study()
    decide_twice(study)
    later = study.benchmark.campaigns.get(slug="later")

    rows = read_rows(export(study.benchmark, "adjudications", "jsonl", tmp_path, campaign=later).path)

    assert rows == []


@pytest.mark.parametrize(
    ("overrides", "consensus", "source"),
    [(True, "UNACCEPTABLE", "ADJUDICATION"), (False, "CONTESTED", "LABELS")],
    ids=["overrides", "does-not"],
)
def test_calibrated_says_whose_the_consensus_is(
    tmp_path: Path, overrides: bool, consensus: str, source: str
) -> None:
    study = make_study()
    study.campaign.adjudication_overrides = overrides
    study.campaign.save()
    item = decide_twice(study)

    rows = {
        row["response_id"]: row
        for row in read_rows(export(study.benchmark, "calibrated", "jsonl", tmp_path).path)
    }

    decided, first = rows[item.response.public_id], rows[study.responses[0].public_id]
    assert (decided["consensus"], decided["consensus_source"]) == (consensus, source)
    assert (decided["n_acceptable"], decided["n_unacceptable"]) == (1, 1)
    assert first["consensus_source"] == "LABELS"
