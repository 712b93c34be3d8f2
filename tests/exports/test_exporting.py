"""One export as a whole: manifest, whole or nothing, refusals, progress, the command."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from openpyxl import load_workbook

from judging.errors import DomainError, ExportError
from judging.exports import exporting
from judging.exports.exporting import FORMATS, SPREADSHEET_SAFE, export_table
from judging.exports.requests import ExportRequest
from judging.reports import build_report
from tests.exports.reading import export, read_rows
from tests.exports.study import CANARY, Study, make_study
from tests.factories import make_item, make_label, make_response, make_verdict


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


def run_export(study: Study, out: Path, *options: str, table: str = "labels", format: str = "csv") -> str:
    """Run the command, and return what it printed."""
    stdout = io.StringIO()
    call_command(
        "export_results",
        *["--benchmark", study.benchmark.slug, "--table", table, "--format", format, "--out", str(out)],
        *options,
        stdout=stdout,
    )
    return stdout.getvalue()


def test_manifest_describes_the_file(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "results", "csv", tmp_path)

    manifest = json.loads((tmp_path / "results.csv.manifest.json").read_text())
    data = outcome.path.read_bytes()
    assert manifest == outcome.manifest
    assert manifest["sha256"] == hashlib.sha256(data).hexdigest()
    assert manifest["n_bytes"] == len(data)
    assert [column["name"] for column in manifest["columns"]] == list(read_rows(outcome.path)[0])
    assert manifest["file"] == "results.csv"
    assert manifest["flavour"] == "exact"
    assert manifest["canary"] == CANARY
    assert manifest["pass"]["pass"] == study.judge_pass.public_id
    assert manifest["rule_name"] == "published"
    assert manifest["rule_in_words"].count("≥") == 2
    assert manifest["code_version"] == build_report(study.benchmark)["code_version"]
    assert manifest["benchmark_counts"] == {"prompts": 4, "responses": 10, "current_labels": 20}


@pytest.mark.parametrize("format", FORMATS)
def test_manifest_of_agreement_holds_the_figures_that_fit_no_row(
    study: Study, tmp_path: Path, format: str
) -> None:
    outcome = export(study.benchmark, "agreement", format, tmp_path)

    assert set(outcome.manifest["figures"]) >= {"alpha", "fleiss_kappa", "human_ceiling", "labels"}
    assert json.loads(outcome.manifest_path.read_text())["format"] == format


def test_workbook_notes_hold_canary_licence_and_attribution(study: Study, tmp_path: Path) -> None:
    outcome = export(study.benchmark, "prompts", "xlsx", tmp_path)

    notes = {row[0]: row[1] for row in load_workbook(outcome.path)["Notes"].iter_rows(values_only=True)}
    assert notes["canary"] == CANARY
    assert notes["licence"] == "CC BY 4.0"
    assert notes["attribution"] == "The study's\nauthors"
    assert notes["is_simulated"] is False


def test_export_again_replaces_the_file(study: Study, tmp_path: Path) -> None:
    export(study.benchmark, "prompts", "csv", tmp_path)

    export(study.benchmark, "prompts", "csv", tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["prompts.csv", "prompts.csv.manifest.json"]


def test_export_that_fails_halfway_leaves_the_earlier_file(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = export(study.benchmark, "prompts", "csv", tmp_path).path.read_bytes()

    def stop(n_rows: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "PROGRESS_STEP", 2)
    with pytest.raises(KeyboardInterrupt):
        export(study.benchmark, "prompts", "csv", tmp_path, on_progress=stop)

    assert (tmp_path / "prompts.csv").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prompts.csv", "prompts.csv.manifest.json"]


def test_progress_is_told_as_rows_are_written(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(exporting, "PROGRESS_STEP", 3)

    export(study.benchmark, "responses", "jsonl", tmp_path, on_progress=told.append)

    assert told == [3, 6, 9]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"table": "verdict"}, "unknown_table"),
        ({"format": "ods"}, "unknown_format"),
        ({"format": "xlsx", "flavour": SPREADSHEET_SAFE}, "unknown_flavour"),
        ({"flavour": "safe"}, "unknown_flavour"),
        ({"rule": "no-such-rule", "table": "results"}, "unknown_rule"),
    ],
)
def test_export_of_what_is_unknown_is_refused(
    study: Study, tmp_path: Path, asked: dict[str, Any], code: str
) -> None:
    arguments: dict[str, Any] = {"table": "prompts", "format": "csv", **asked}

    with pytest.raises(DomainError) as caught:
        export_table(study.benchmark, ExportRequest(**arguments), out=tmp_path / "file")

    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []


def test_export_into_a_missing_folder_is_refused(study: Study, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as caught:
        export_table(study.benchmark, ExportRequest("prompts", "csv"), out=tmp_path / "none" / "file.csv")

    assert caught.value.code == "no_such_folder"


def test_command_prints_one_document_with_json(study: Study, tmp_path: Path) -> None:
    printed = run_export(study, tmp_path / "labels.csv", "--json")

    assert json.loads(printed) == json.loads((tmp_path / "labels.csv.manifest.json").read_text())


def test_command_names_what_was_left_out(study: Study, tmp_path: Path) -> None:
    printed = run_export(study, tmp_path / "labels.csv")

    assert "19 rows of labels" in printed
    assert "left out: 1 (item_training)" in printed


def test_command_spreadsheet_safe_prefixes_and_lists(study: Study, tmp_path: Path) -> None:
    printed = run_export(study, tmp_path / "labels.csv", "--spreadsheet-safe")

    codes = {row["annotator"] for row in read_rows(tmp_path / "labels.csv")}
    assert codes == {"'=parent", "specialist", ""}
    assert "(prefixed)" in printed


def test_command_exact_leaves_texts_as_they_are(study: Study, tmp_path: Path) -> None:
    run_export(study, tmp_path / "labels.csv", "--exact")

    assert {row["annotator"] for row in read_rows(tmp_path / "labels.csv")} == {"=parent", "specialist", ""}


def test_command_takes_pass_and_rule(study: Study, tmp_path: Path) -> None:
    run_export(
        study,
        tmp_path / "results.jsonl",
        "--pass",
        "imported",
        "--rule",
        "uniform",
        table="results",
        format="jsonl",
    )

    manifest = json.loads((tmp_path / "results.jsonl.manifest.json").read_text())
    assert (manifest["pass"]["name"], manifest["rule_name"]) == ("imported", "uniform")


@pytest.mark.parametrize(
    "options",
    [["--pass", "no-such-pass"], ["--rule", "no-such-rule"], ["--campaign", "no-such-campaign"]],
    ids=["pass", "rule", "campaign"],
)
def test_command_refusal_is_an_error_that_names_what_is_known(
    study: Study, tmp_path: Path, options: list[str]
) -> None:
    with pytest.raises(CommandError, match="Known: "):
        run_export(study, tmp_path / "results.csv", *options, table="results")


@pytest.mark.parametrize("table", ["prompts", "responses", "labels", "verdicts", "results", "calibrated"])
def test_export_takes_the_same_queries_for_more_rows(
    study: Study, tmp_path: Path, table: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(25) as few:
        export(study.benchmark, table, "jsonl", tmp_path)
    make_study_larger(study)

    with django_assert_max_num_queries(len(few)):
        export(study.benchmark, table, "jsonl", tmp_path)


def make_study_larger(study: Study) -> None:
    """A second rollout of every response, labelled and judged as the first."""
    for response in study.responses:
        again = make_response(prompt=response.prompt, target_model=response.target_model, rollout=1)
        make_label(item=make_item(campaign=study.campaign, response=again), annotator=study.parent)
        for judge in study.judge_pass.judges.all():
            make_verdict(judge_pass=study.judge_pass, response=again, judge=judge)
