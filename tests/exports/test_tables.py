"""Which rows each table has, what it leaves out, and that the paper's tables can be imported again."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from annotation.models import Benchmark, Response
from judging.choices import FailureCode, FailureMode, PassSource, SkipCode, VerdictState
from judging.errors import ExportError
from judging.exports.graded import exact_text
from judging.exports.tables import TABLES
from judging.importing.files import import_files
from judging.models import JudgePass, Verdict
from judging.reports import build_report
from judging.stats.rules import PUBLISHED_WEIGHTS
from tests.classifying.stage import make_classification
from tests.exports.reading import export, read_rows
from tests.exports.study import CANARY, Study, make_study
from tests.factories import make_attempt, make_benchmark, make_pass, make_prompt, make_response, make_verdict
from tests.judging_pages.second_pass import judge_again
from tests.shared_data import SHARED_DATA, requires_shared_data

PAPER_FILES = {
    "prompts": "prompts.csv",
    "responses": "responses.csv",
    "labels": "annotated_responses.csv",
    "verdicts": "judge_scores.csv",
}
PAPER_COLUMNS = {
    "prompts": "case_uid risk_category risk_mechanism prompt",
    "responses": "case_uid rollout risk_category risk_mechanism prompt model response error",
    "labels": "case_uid risk_category risk_mechanism prompt model exemplar_response human_rating "
    "annotator_type annotator severity rollout",
    "verdicts": "case_uid rollout model risk_category risk_mechanism judge score num_exemplars_yes "
    "num_exemplars_no error",
    "results": "case_uid rollout risk_category risk_mechanism prompt model_response model "
    "claude-opus-4.6_rating gemini-3.1-pro_rating gpt-5.4_rating weighted_score multijudge_verdict",
}
AWKWARD_TEXTS = [
    "=1+1",
    "None",
    "a\r\nb\nc\rd",
    'says "yes", twice',
    "ends in \\",
    "  spaces  ",
    "next\x85line\u2028more\x0b",
]


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


@pytest.mark.parametrize("table", PAPER_COLUMNS)
def test_table_begins_with_the_columns_of_the_paper(study: Study, tmp_path: Path, table: str) -> None:
    outcome = export(study.benchmark, table, "csv", tmp_path)

    header = outcome.path.read_text().splitlines()[0]
    assert header.startswith(PAPER_COLUMNS[table].replace(" ", ","))


@pytest.mark.parametrize("table", TABLES)
def test_notice_is_in_every_row_of_every_table(study: Study, tmp_path: Path, table: str) -> None:
    make_attempt(verdict=Verdict.objects.first())
    earlier = judge_again(study.judge_pass) if table == "comparison" else None
    if table == "failure_modes":
        make_classification(study.judge_pass, [(study.responses[0], FailureMode.UNSAFE_REDIRECT)])

    outcome = export(study.benchmark, table, "jsonl", tmp_path, judge_pass=study.judge_pass, before=earlier)

    rows = read_rows(outcome.path)
    notice = f"Canary: {CANARY} | Licence: CC BY 4.0 | Attribution: The study's authors"
    assert rows != []
    assert {row["notice"] for row in rows} == {notice}
    assert outcome.manifest["n_rows"] == len(rows)


def test_notice_of_a_simulated_pass_says_simulated(study: Study, tmp_path: Path) -> None:
    JudgePass.objects.update(is_simulated=True)

    verdicts = export(study.benchmark, "verdicts", "jsonl", tmp_path)
    labels = export(study.benchmark, "labels", "jsonl", tmp_path)

    assert read_rows(verdicts.path)[0]["notice"].startswith("SIMULATED")
    assert verdicts.manifest["is_simulated"] is True
    assert labels.manifest["is_simulated"] is False


@pytest.mark.parametrize("text", AWKWARD_TEXTS)
def test_paper_tables_are_imported_again_as_unchanged(study: Study, tmp_path: Path, text: str) -> None:
    prompt = make_prompt(benchmark=study.benchmark, case_uid="awkward", text=text)
    make_response(prompt=prompt, target_model=study.responses[0].target_model, text=text)
    files = tmp_path / "files"
    files.mkdir()
    for table, name in PAPER_FILES.items():
        shutil.move(export(study.benchmark, table, "csv", tmp_path).path, files / name)

    outcome = import_files([files], benchmark_slug="study")

    assert outcome.problems == []
    totals = {kind: outcome.total(kind) for kind in ("prompts", "responses", "labels", "scores")}
    assert {kind: total["created"] for kind, total in totals.items()} == dict.fromkeys(totals, 0)
    # Labels: 9 by each of two people and one anonymous, of which the parent's first was superseded.
    assert {kind: total["unchanged"] for kind, total in totals.items()} == {
        "prompts": 5,
        "responses": 10,
        "labels": 19,
        "scores": 24,
    }


def test_paper_tables_give_the_same_report_in_another_benchmark(study: Study, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for table, name in PAPER_FILES.items():
        shutil.move(export(study.benchmark, table, "csv", tmp_path).path, files / name)

    outcome = import_files([files], benchmark_slug="copy")

    assert outcome.problems == []
    copy = build_report(Benchmark.objects.get(slug="copy"))
    original = build_report(study.benchmark)
    for part in ("models", "categories", "cells", "overall", "agreement"):
        assert copy[part] == original[part]


@requires_shared_data
@pytest.mark.django_db
def test_paper_tables_of_real_files_are_imported_again_as_unchanged(tmp_path: Path) -> None:
    import_files([SHARED_DATA / "xstest"], benchmark_slug="xstest")
    benchmark = JudgePass.objects.get().benchmark
    files = tmp_path / "files"
    files.mkdir()
    for table, name in PAPER_FILES.items():
        shutil.move(export(benchmark, table, "csv", tmp_path).path, files / name)

    outcome = import_files([files], benchmark_slug="xstest")

    assert outcome.problems == []
    assert [(file.rows, file.unchanged) for file in outcome.files] == [
        (450, 450),
        (2250, 2250),
        (4500, 4500),
        (4500, 4500),
    ]


def test_responses_outside_rollouts_are_left_out_and_counted(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "responses", "jsonl", tmp_path)

    rows = read_rows(outcome.path)
    assert study.outside.public_id not in {row["response_id"] for row in rows}
    assert outcome.manifest["left_out"] == {"outside_any_rollout": 1}
    assert [row["case_uid"] for row in rows[:8]] == ["007", "007", "7", "7", "7.0", "7.0", "-5", "-5"]
    assert (rows[4]["response_state"], rows[4]["error"]) == ("ERROR", "timed out")
    assert rows[6]["risk_mechanism"] is None


def test_labels_are_those_that_count(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "labels", "jsonl", tmp_path)

    rows = read_rows(outcome.path)
    n_labels = build_report(study.benchmark)["agreement"]["labels"]["n"]
    assert len(rows) == n_labels == 19
    assert outcome.manifest["left_out"] == {
        "item_training": 1,
        "older_by_same_annotator": 1,
        "retracted_or_revised": 1,
    }
    [of_parent] = [
        row
        for row in rows
        if (row["response_id"], row["annotator"]) == (study.responses[0].public_id, "=parent")
    ]
    assert (of_parent["human_rating"], of_parent["severity"], of_parent["campaign"]) == ("Yes", 2, "later")
    [anonymous] = [row for row in rows if row["annotator"] is None]
    assert (anonymous["annotator_type"], anonymous["severity"]) == ("teacher", None)
    assert [row["rollout"] for row in rows if row["response_id"] == study.outside.public_id] == [None, None]


@pytest.mark.parametrize(
    ("outcome", "score", "error"),
    [
        ({"state": VerdictState.SCORED, "score": 4}, 4, None),
        (
            {"state": VerdictState.PARSE_FAILED, "detail": "unparseable: two scores"},
            -1,
            "unparseable: two scores",
        ),
        ({"state": VerdictState.PARSE_FAILED, "detail": "two scores"}, -1, "unparseable: two scores"),
        ({"state": VerdictState.CALL_FAILED, "failure_code": FailureCode.IMPORTED}, -1, None),
        ({"state": VerdictState.CALL_FAILED, "failure_code": FailureCode.TIMEOUT}, -1, "timeout"),
        ({"state": VerdictState.REFUSED, "detail": "I cannot."}, -1, "REFUSED: I cannot."),
        ({"state": VerdictState.SKIPPED, "skip_code": SkipCode.RESPONSE_EMPTY}, -1, "RESPONSE_EMPTY"),
    ],
    ids=["scored", "unparseable", "parse failed", "imported", "timeout", "refused", "skipped"],
)
@pytest.mark.django_db
def test_verdicts_say_in_the_paper_columns_what_happened(
    tmp_path: Path, outcome: dict[str, object], score: int, error: str | None
) -> None:
    verdict = make_verdict(**outcome)

    exported = export(verdict.judge_pass.benchmark, "verdicts", "jsonl", tmp_path)

    [row] = read_rows(exported.path)
    assert (row["score"], row["error"], row["state"]) == (score, error, outcome["state"])


def test_verdicts_not_settled_are_left_out_and_counted(study: Study, tmp_path: Path) -> None:
    judge = study.judge_pass.judges.first()
    running = make_pass(benchmark=study.benchmark, state="RUNNING", source=PassSource.JUDGED)
    for response, state in zip(study.responses, ["PENDING", "PENDING", "RUNNING", "SCORED"], strict=False):
        make_verdict(judge_pass=running, response=response, judge=judge, state=state)

    outcome = export(study.benchmark, "verdicts", "jsonl", tmp_path, judge_pass=running)

    assert [row["state"] for row in read_rows(outcome.path)] == ["SCORED"]
    assert outcome.manifest["left_out"] == {"PENDING": 2, "RUNNING": 1}


def test_results_show_scores_verdict_and_what_was_missing(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "results", "jsonl", tmp_path)

    rows = {row["response_id"]: row for row in read_rows(outcome.path)}
    exactly_1_8, without_gpt, without_opus, failed = (
        rows[study.responses[index].public_id] for index in (2, 5, 6, 4)
    )
    assert exactly_1_8["weighted_score"] == 1.8
    assert exactly_1_8["weighted_score_exact"] == "1.8"
    assert exactly_1_8["multijudge_verdict"] == "UNACCEPTABLE"
    assert without_gpt["gpt-5.4_rating"] is None
    assert without_gpt["weighted_score"] is None
    assert without_gpt["multijudge_verdict"] == "UNACCEPTABLE"
    assert without_gpt["missing_judges"] == {"gpt-5.4": "PARSE_FAILED"}
    assert without_opus["missing_judges"] == {"claude-opus-4.6": "CALL_FAILED"}
    assert failed["multijudge_verdict"] == "UNDECIDED"
    assert failed["undecided_reason"] == "RESPONSE_ERROR"
    assert outcome.manifest["left_out"] == {"outside_any_rollout": 1}


def test_results_count_what_the_report_counts(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "results", "jsonl", tmp_path)

    rows, report = read_rows(outcome.path), build_report(study.benchmark)
    verdicts = [row["multijudge_verdict"] for row in rows]
    assert len(rows) == report["overall"]["n_responses"]
    assert verdicts.count("UNACCEPTABLE") == report["overall"]["n_flagged"]
    assert verdicts.count("UNDECIDED") == report["overall"]["n_undecided"]
    assert outcome.manifest["digest"] == report["digest"]


def test_results_follow_the_rule_that_was_asked_for(study: Study, tmp_path: Path) -> None:
    rule = {"kind": "uniform_mean", "judges": list(PUBLISHED_WEIGHTS), "threshold": "2"}

    outcome = export(study.benchmark, "results", "jsonl", tmp_path, rule=json.dumps(rule))

    row = read_rows(outcome.path)[2]
    assert row["weighted_score_exact"] == "2"
    assert row["multijudge_verdict"] == "UNACCEPTABLE"
    assert outcome.manifest["rule"]["kind"] == "uniform_mean"
    assert outcome.manifest["rule_source"] == "given"


def test_calibrated_holds_labels_consensus_scores_and_verdict(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "calibrated", "jsonl", tmp_path)

    rows = {row["response_id"]: row for row in read_rows(outcome.path)}
    first, contested, outside = (
        rows[response.public_id] for response in (study.responses[0], study.responses[3], study.outside)
    )
    assert (first["n_labels"], first["n_acceptable"], first["consensus"]) == (3, 3, "ACCEPTABLE")
    assert {"annotator": None, "annotator_type": "OTHER", "rating": "ACCEPTABLE", "severity": None} in first[
        "labels"
    ]
    assert (contested["n_acceptable"], contested["n_unacceptable"]) == (1, 1)
    assert contested["consensus"] == "CONTESTED"
    assert (contested["claude-opus-4.6_rating"], contested["claude-opus-4.6_rating_state"]) == (5, "SCORED")
    assert (contested["verdict"], contested["is_graded"]) == ("UNACCEPTABLE", True)
    assert (outside["rollout"], outside["is_graded"], outside["n_labels"]) == (None, False, 2)
    assert set(outside["missing_judges"].values()) == {"NOT_JUDGED"}


def test_calibrated_missing_judge_has_the_bounds_of_its_score(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "calibrated", "jsonl", tmp_path)

    row = next(row for row in read_rows(outcome.path) if row["response_id"] == study.responses[6].public_id)
    # 0.05 × 3 + 0.25 × 4 and Opus, weight 0.70, between 1 and 5.
    assert (row["weighted_score_low"], row["weighted_score_high"]) == (1.85, 4.65)
    assert row["weighted_score"] is None


def test_labels_and_consensus_are_those_of_the_campaign(study: Study, tmp_path: Path) -> None:
    later = study.benchmark.campaigns.get(slug="later")

    labels = export(study.benchmark, "labels", "jsonl", tmp_path, campaign=later)
    calibrated = export(study.benchmark, "calibrated", "jsonl", tmp_path, campaign=later)

    [label] = read_rows(labels.path)
    of_response = {row["response_id"]: row for row in read_rows(calibrated.path)}
    assert (label["campaign"], label["severity"]) == ("later", 2)
    assert labels.manifest["campaign"]["slug"] == "later"
    assert labels.manifest["left_out"] == {}
    assert {pk: row["n_labels"] for pk, row in of_response.items() if row["n_labels"]} == {
        study.responses[0].public_id: 1
    }


def test_older_label_counts_where_its_campaign_is_asked_for(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "labels", "jsonl", tmp_path, campaign=study.campaign)

    assert {row["campaign"] for row in read_rows(outcome.path)} == {"first"}
    assert outcome.manifest["n_rows"] == 19
    assert outcome.manifest["left_out"] == {"item_training": 1, "retracted_or_revised": 1}


def test_exemplars_are_named_by_public_ids(study: Study, tmp_path: Path) -> None:
    shown = study.responses[3]
    verdict = Verdict.objects.filter(response=study.responses[0]).first()
    assert verdict is not None
    verdict.exemplars = [{"response": shown.pk, "unacceptable": True, "similarity": 0.5}]
    verdict.save()

    outcome = export(study.benchmark, "verdicts", "jsonl", tmp_path)

    listed = [row["exemplars"] for row in read_rows(outcome.path) if row["exemplars"] is not None]
    assert listed == [[{"response": shown.public_id, "unacceptable": True, "similarity": 0.5}]]


def test_attempts_are_those_of_the_pass(study: Study, tmp_path: Path) -> None:
    attempt = make_attempt(verdict=Verdict.objects.first(), tokens_in=812, cost_micros=1450, latency_ms=950)
    make_attempt()

    outcome = export(study.benchmark, "attempts", "jsonl", tmp_path)

    [row] = read_rows(outcome.path)
    assert (row["tokens_in"], row["cost_micros"], row["latency_ms"]) == (812, 1450, 950)
    assert row["response_id"] == attempt.verdict.response.public_id


@pytest.mark.parametrize("table", ["verdicts", "attempts", "results", "calibrated"])
@pytest.mark.django_db
def test_table_that_rests_on_a_pass_is_refused_without_one(tmp_path: Path, table: str) -> None:
    benchmark = make_benchmark()

    with pytest.raises(ExportError) as caught:
        export(benchmark, table, "csv", tmp_path)

    assert caught.value.code == "no_pass"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("table", ["prompts", "responses", "labels", "agreement", "report"])
@pytest.mark.django_db
def test_table_of_an_empty_benchmark_has_no_rows(tmp_path: Path, table: str) -> None:
    benchmark = make_benchmark()

    outcome = export(benchmark, table, "jsonl", tmp_path)

    assert read_rows(outcome.path) == []
    assert Response.objects.count() == 0


@pytest.mark.parametrize("format", ["csv", "jsonl", "xlsx", "parquet"])
@pytest.mark.django_db
def test_manifest_of_a_table_without_rows_has_the_notice(tmp_path: Path, format: str) -> None:
    outcome = export(make_benchmark(canary=CANARY), "prompts", format, tmp_path)

    assert outcome.manifest["notice"] == f"Canary: {CANARY}"
    assert outcome.manifest["n_rows"] == 0


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (None, None),
        (Fraction(2), "2"),
        (Fraction(17, 10), "1.7"),
        (Fraction(1, 8), "0.125"),
        (Fraction(5, 3), "5/3"),
        (Fraction(10**20 + 1, 10**20), "1.00000000000000000001"),
    ],
)
def test_exact_text_loses_no_digit(score: Fraction | None, text: str | None) -> None:
    assert exact_text(score) == text
