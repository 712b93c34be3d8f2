"""Labels that a withdrawal erased: in no figure and no export, and without words in the API."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.campaigns import withdraw_consent
from annotation.choices import AnnotatorType, Rating, WithdrawalPolicy
from annotation.models import Annotator, Campaign
from judging.exports.tables import TABLES
from judging.reports import build_report
from tests.exports.reading import export, read_rows
from tests.exports.study import Study, make_study
from tests.factories import make_annotator, make_campaign, make_item, make_label, make_membership

pytestmark = pytest.mark.django_db
NOTE = "Said by someone who left."
CODE = "p-left"


@pytest.fixture
def study() -> Study:
    return make_study()


@pytest.fixture
def leaver(study: Study) -> tuple[Campaign, Annotator]:
    """One more person, against everybody else on every response, in a campaign that deletes."""
    campaign = make_campaign(
        benchmark=study.benchmark, slug="third", withdrawal_policy=WithdrawalPolicy.DELETE
    )
    annotator = make_annotator(benchmark=study.benchmark, code=CODE, annotator_type=AnnotatorType.SPECIALIST)
    make_membership(campaign=campaign, annotator=annotator)
    for response in study.responses:
        item = make_item(campaign=campaign, response=response)
        make_label(item=item, annotator=annotator, rating=Rating.UNACCEPTABLE, severity=5, note=NOTE)
    return campaign, annotator


def report_of(study: Study) -> dict[str, Any]:
    return dict(build_report(study.benchmark))


def test_report_is_the_one_without_the_erased_labels(study: Study, request: pytest.FixtureRequest) -> None:
    never = report_of(study)
    campaign, annotator = request.getfixturevalue("leaver")
    among_others = report_of(study)

    withdraw_consent(campaign=campaign, annotator=annotator)

    assert among_others["agreement"] != never["agreement"]
    assert report_of(study) == never


@pytest.mark.parametrize("table", sorted(set(TABLES) - {"comparison", "failure_modes"}))
def test_no_table_holds_what_was_erased(
    study: Study, leaver: tuple[Campaign, Annotator], tmp_path: Path, table: str
) -> None:
    campaign, annotator = leaver
    withdraw_consent(campaign=campaign, annotator=annotator)

    written = export(study.benchmark, table, "jsonl", tmp_path).path.read_text()

    assert NOTE not in written
    assert CODE not in written


def test_export_of_labels_counts_the_erased_apart(
    study: Study, leaver: tuple[Campaign, Annotator], tmp_path: Path
) -> None:
    n_before = len(read_rows(export(study.benchmark, "labels", "jsonl", tmp_path).path))
    campaign, annotator = leaver
    withdraw_consent(campaign=campaign, annotator=annotator)

    outcome = export(study.benchmark, "labels", "csv", tmp_path)

    assert n_before - len(read_rows(outcome.path)) == len(study.responses)
    assert outcome.manifest["left_out"]["erased_by_withdrawal"] == len(study.responses)
    assert outcome.manifest["left_out"]["retracted_or_revised"] == 1


def test_api_shows_that_a_label_was_erased_and_not_what_it_said(
    researcher_client: Client, leaver: tuple[Campaign, Annotator]
) -> None:
    campaign, annotator = leaver
    withdraw_consent(campaign=campaign, annotator=annotator)

    rows = researcher_client.get("/api/v1/labels/", {"annotator": CODE}).json()["results"]

    assert {(row["rating"], row["severity"], row["note"], row["is_current"]) for row in rows} == {
        (None, None, None, False)
    }
    assert all(row["erased_at"] for row in rows)
