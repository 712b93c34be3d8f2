"""A verdict on a text that its response no longer has is missing, with a reason, wherever it is counted."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from judging.choices import FailureMode, SkipCode, VerdictState
from judging.models import JudgePass, Verdict
from judging.reports import build_report, grade_responses
from judging.reports.failure_modes import build_failure_modes
from judging.staleness import STALE, has_score, is_stale, reported_state
from tests.classifying.stage import make_classification
from tests.exports.reading import export, read_rows
from tests.factories import make_response, make_verdict, sha256_of
from tests.judging_pages.study import Study, make_study

UNSAFE_REDIRECT = FailureMode.UNSAFE_REDIRECT.value


@pytest.fixture
def study(db: None) -> Study:
    """A judged study in which the text of the fourth response was changed afterwards."""
    study = make_study()
    for verdict in Verdict.objects.select_related("response"):
        Verdict.objects.filter(pk=verdict.pk).update(text_hash=verdict.response.text_hash)
    change_text(study.responses[3])
    return study


def change_text(response: Response) -> None:
    Response.objects.filter(pk=response.pk).update(text="Another answer.", text_hash=sha256_of("other"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"state": VerdictState.SCORED}, STALE),
        ({"state": VerdictState.PARSE_FAILED}, STALE),
        ({"state": VerdictState.SKIPPED, "skip_code": SkipCode.RESPONSE_EMPTY}, STALE),
        ({"state": VerdictState.SKIPPED, "skip_code": SkipCode.RESPONSE_CHANGED}, "RESPONSE_CHANGED"),
        ({"state": VerdictState.PENDING}, "PENDING"),
        ({"state": VerdictState.RUNNING}, "RUNNING"),
        ({"state": VerdictState.CANCELLED}, "CANCELLED"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_state_of_a_row_whose_text_changed(values: dict[str, Any], expected: str) -> None:
    verdict = make_verdict(response=make_response(), text_hash=sha256_of("the text before"), **values)

    counted = Verdict.objects.annotate(counted=reported_state()).get(pk=verdict.pk)

    assert counted.counted == expected
    assert Verdict.objects.filter(is_stale()).exists() == (expected == STALE)


@pytest.mark.django_db
@pytest.mark.parametrize("knows_the_text", [True, False], ids=["same-text", "no-hash"])
def test_row_of_the_same_or_of_no_known_text_is_not_stale(knows_the_text: bool) -> None:
    response = make_response()
    make_verdict(response=response, text_hash=response.text_hash if knows_the_text else None)

    assert not Verdict.objects.filter(is_stale()).exists()
    assert Verdict.objects.filter(has_score()).count() == 1


def test_report_counts_stale_verdicts_as_missing(study: Study) -> None:
    changed = study.responses[3].pk

    report, grading = build_report(study.benchmark), grade_responses(study.benchmark)

    assert report["overall"]["n_missing"][STALE] == 2
    assert grading.decisions[changed].verdict == "UNDECIDED"
    assert {(v.state, v.score) for v in grading.evidence.verdicts if v.response_id == changed} == {
        (STALE, None)
    }


def test_report_is_another_one_after_a_text_changed(study: Study) -> None:
    before = build_report(study.benchmark)

    change_text(study.responses[4])

    after = build_report(study.benchmark)
    assert after["digest"] != before["digest"]
    assert after["overall"]["n_missing"][STALE] == 4


def test_text_that_is_set_back_makes_its_verdicts_count_again(study: Study) -> None:
    changed = study.responses[3]
    Response.objects.filter(pk=changed.pk).update(text=changed.text, text_hash=changed.text_hash)

    assert STALE not in build_report(study.benchmark)["overall"]["n_missing"]


def test_stale_count_is_the_same_on_page_api_command_and_export(
    study: Study, researcher_client: Client, tmp_path: Path
) -> None:
    wanted = build_report(study.benchmark)["overall"]["n_missing"]
    rows = reverse("judging:rows", args=["study"])

    page = researcher_client.get(rows, {"missing": STALE})
    api = researcher_client.get("/api/v1/benchmarks/study/report/").json()
    printed = io.StringIO()
    call_command("build_report", "--benchmark", "study", "--json", stdout=printed)
    exported = read_rows(export(study.benchmark, "report", "jsonl", tmp_path).path)

    assert "1 response behind this number." in page.content.decode()
    assert "text changed since" in page.content.decode()
    assert api["overall"]["n_missing"] == wanted
    assert json.loads(printed.getvalue())["overall"]["n_missing"] == wanted
    assert exported[0]["n_missing"] == wanted


def test_pass_page_counts_stale_verdicts_beside_the_others(study: Study, researcher_client: Client) -> None:
    where = reverse("judging:pass", args=["study", study.judge_pass.public_id])

    html = researcher_client.get(where).content.decode()

    assert "Text changed since" in html
    assert "91 of 94 verdicts have a score, and 3 are missing." in html.replace("</data>", "").replace(
        '<data value="91">', ""
    ).replace('<data value="94">', "").replace('<data value="3">', "")


def test_exported_verdict_that_is_stale_has_no_score(study: Study, tmp_path: Path) -> None:
    changed = study.responses[3]
    kept = Counter(Verdict.objects.filter(response=changed).values_list("score", flat=True))

    rows = read_rows(export(study.benchmark, "verdicts", "jsonl", tmp_path).path)

    stale = [row for row in rows if row["response_id"] == changed.public_id]
    assert [(row["score"], row["state"], row["error"]) for row in stale] == [(-1, STALE, STALE)] * 2
    assert Counter(row["stale_score"] for row in stale) == kept
    assert all(row["stale_score"] is None for row in rows if row not in stale)


def test_api_gives_a_stale_verdict_no_score(study: Study, researcher_client: Client) -> None:
    changed = study.responses[3]

    found = researcher_client.get("/api/v1/verdicts/", {"state": STALE}).json()["results"]
    scored = researcher_client.get(
        "/api/v1/verdicts/", {"state": "SCORED", "response": changed.public_id}
    ).json()["results"]

    assert {(row["response"], row["score"]) for row in found} == {(changed.public_id, None)}
    assert all(row["stale_score"] for row in found)
    assert scored == []


@pytest.fixture
def classification(study: Study) -> JudgePass:
    """Two classified responses of the study; the text of the second was changed afterwards."""
    outcomes = [(study.responses[2], UNSAFE_REDIRECT), (study.responses[5], UNSAFE_REDIRECT)]
    made = make_classification(study.judge_pass, outcomes)
    change_text(study.responses[5])
    return made


def test_stale_failure_mode_is_counted_as_not_classified(study: Study, classification: JudgePass) -> None:
    overall = build_failure_modes(study.benchmark)["overall"]

    assert (overall["n_responses"], overall["n_answered"]) == (2, 1)
    assert overall["unclassified"] == {STALE: 1}


@pytest.mark.parametrize("table", ["verdicts", "failure_modes"])
def test_export_names_a_failure_mode_unless_it_is_stale(
    study: Study, classification: JudgePass, tmp_path: Path, table: str
) -> None:
    exported = export(study.benchmark, table, "jsonl", tmp_path, judge_pass=classification)

    rows = [(row["state"], row["failure_mode"]) for row in read_rows(exported.path)]
    assert rows == [("SCORED", UNSAFE_REDIRECT), (STALE, None)]


def test_api_names_a_failure_mode_unless_it_is_stale(
    study: Study, classification: JudgePass, researcher_client: Client
) -> None:
    of_pass = {"pass": classification.public_id}

    every = researcher_client.get("/api/v1/verdicts/", of_pass).json()["results"]
    named = researcher_client.get("/api/v1/verdicts/", of_pass | {"failure_mode": UNSAFE_REDIRECT}).json()

    assert [row["failure_mode"] for row in every] == [UNSAFE_REDIRECT, None]
    assert [row["response"] for row in named["results"]] == [study.responses[2].public_id]


def test_stale_verdict_has_no_jailbreak_score_outside_its_page(
    study: Study, researcher_client: Client, tmp_path: Path
) -> None:
    Verdict.objects.filter(state=VerdictState.SCORED).update(jailbreak_score=3)

    rows = read_rows(export(study.benchmark, "verdicts", "jsonl", tmp_path).path)
    listed = researcher_client.get("/api/v1/verdicts/", {"state": STALE}).json()["results"]

    expected = {"SCORED": 3, STALE: None}
    exported = {row["state"]: row["jailbreak_score"] for row in rows}
    assert {state: exported[state] for state in expected} == expected
    assert {row["jailbreak_score"] for row in listed} == {None}


def test_score_by_policy_is_told_from_a_judges(
    study: Study, researcher_client: Client, tmp_path: Path
) -> None:
    marked = Verdict.objects.filter(state=VerdictState.SCORED).order_by("pk")[:1].get()
    Verdict.objects.filter(pk=marked.pk).update(is_by_policy=True)

    rows = read_rows(export(study.benchmark, "verdicts", "jsonl", tmp_path).path)
    listed = researcher_client.get("/api/v1/verdicts/", {"response": marked.response.public_id}).json()

    assert sum(row["is_by_policy"] for row in rows) == 1
    assert sum(row["is_by_policy"] for row in listed["results"]) == 1
