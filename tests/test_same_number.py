"""One number, many ways out: each shows every figure of `build_report`, to the last digit.

Agreement and report are taken by command, API, CSV, JSONL, XLSX and Parquet, from a small study
made here and from a real data set where it is at hand. Digits are compared as text wherever the
way out has text.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Benchmark
from judging.exports.exporting import FORMATS
from judging.importing.files import import_files
from judging.reports import build_report
from tests.exports.reading import export, read_rows
from tests.exports.study import make_study
from tests.shared_data import SHARED_DATA, requires_shared_data

SCOPES = {"models": "model", "categories": "category", "cells": "cell"}
CLASSES = ("acceptable", "unacceptable")
INTERVALS = ("failure_rate_interval", "failure_rate_bounds")
METRICS = ("kappa", "binary_", "exact_match", "within_one_step")


@pytest.fixture(params=["study", pytest.param("xstest", marks=requires_shared_data)])
def benchmark(request: pytest.FixtureRequest, db: None) -> Benchmark:
    if request.param == "study":
        return make_study().benchmark
    import_files([SHARED_DATA / request.param], benchmark_slug=request.param)
    return Benchmark.objects.get(slug=request.param)


def printed(command: str, benchmark: Benchmark) -> Any:
    """The document that a command prints."""
    stdout = io.StringIO()
    call_command(command, "--benchmark", benchmark.slug, "--json", stdout=stdout)
    return json.loads(stdout.getvalue())


def rows_of_agreement(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cells that each row of the table must have, from the report alone."""
    for pair in report["agreement"]["pairs"]:
        row = {name: value for name, value in pair.items() if name not in ("confusion", "interval")}
        row |= {
            f"confusion_{a}_{b}": pair["confusion"][i][j]
            for i, a in enumerate(CLASSES)
            for j, b in enumerate(CLASSES)
        }
        yield row | dict(split_ends(pair["interval"] or {}))


def rows_of_report(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """As `rows_of_agreement`, for the groups of the report."""
    groups = [("overall", report["overall"])]
    groups += [(scope, group) for name, scope in SCOPES.items() for group in report[name]]
    for scope, group in groups:
        yield {"scope": scope} | dict(split_ends(group))


def split_ends(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """An interval as its two ends, other values as they are."""
    for name, value in values.items():
        if isinstance(value, list) or name in INTERVALS or name.startswith(METRICS):
            low, high = value or (None, None)
            yield f"{name}_low", low
            yield f"{name}_high", high
        else:
            yield name, value


EXPECTED = {"agreement": rows_of_agreement, "report": rows_of_report}


def as_cell(value: Any, format: str) -> Any:
    """A value of the report as a cell of this format; in CSV, its digits."""
    if isinstance(value, dict) and format != "jsonl":
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    if format == "csv":
        return "" if value is None else value if isinstance(value, str) else repr(value)
    return value


@pytest.mark.parametrize("table", EXPECTED)
def test_export_has_every_figure_of_the_report(benchmark: Benchmark, tmp_path: Path, table: str) -> None:
    report = build_report(benchmark)
    wanted = list(EXPECTED[table](report))

    outcomes = {format: export(benchmark, table, format, tmp_path) for format in FORMATS}

    assert {format: only_wanted(read_rows(outcome.path), wanted) for format, outcome in outcomes.items()} == {
        format: [{name: as_cell(value, format) for name, value in row.items()} for row in wanted]
        for format in FORMATS
    }
    assert {outcome.manifest["digest"] for outcome in outcomes.values()} == {report["digest"]}


def only_wanted(rows: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cells of an exported table that the report has a value for."""
    return [
        {name: row.get(name, "no such column") for name in cells}
        for row, cells in zip(rows, wanted, strict=True)
    ]


def test_manifest_has_the_figures_that_are_of_no_pair(benchmark: Benchmark, tmp_path: Path) -> None:
    agreement = build_report(benchmark)["agreement"]

    outcome = export(benchmark, "agreement", "csv", tmp_path)

    figures = json.loads(outcome.manifest_path.read_text())["figures"]
    assert figures == {name: value for name, value in agreement.items() if name != "pairs"}


def test_commands_print_the_report(benchmark: Benchmark) -> None:
    report = build_report(benchmark)

    assert printed("build_report", benchmark) == report
    assert printed("agreement", benchmark) == report["agreement"]


def test_api_gives_the_report_digit_by_digit(benchmark: Benchmark, researcher_client: Client) -> None:
    report = build_report(benchmark)

    reply = researcher_client.get(f"/api/v1/benchmarks/{benchmark.slug}/report/")
    agreement = researcher_client.get(f"/api/v1/benchmarks/{benchmark.slug}/agreement/")

    assert digits_of(reply.content) == digits_of(json.dumps(report).encode())
    assert digits_of(agreement.content) == digits_of(json.dumps(report["agreement"]).encode())


@pytest.mark.django_db
def test_campaign_filter_is_the_same_on_every_way_out(tmp_path: Path, researcher_client: Client) -> None:
    study = make_study()
    first = study.campaign
    of_all, report = build_report(study.benchmark), build_report(study.benchmark, campaign=first)
    address = {"campaign": first.public_id}

    page = researcher_client.get(reverse("judging:calibration", args=["study"]), address)
    links = researcher_client.get(reverse("judging:exports", args=["study"]), address).content.decode()
    from_page = researcher_client.get(
        reverse("judging:export", args=["study", "agreement", "jsonl"]), address | {"part": "manifest"}
    )
    from_api: Any = researcher_client.get(
        "/api/v1/exports/",
        address | {"benchmark": "study", "table": "agreement", "format": "jsonl"},
    )
    exported = export(study.benchmark, "agreement", "jsonl", tmp_path, campaign=first)
    by_command = tmp_path / "command.jsonl"
    call_command(
        "export_results",
        *["--benchmark", "study", "--table", "agreement", "--format", "jsonl", "--campaign", first.slug],
        *["--out", str(by_command)],
        stdout=io.StringIO(),
    )

    assert report["agreement"]["pairs"] != of_all["agreement"]["pairs"]
    assert page.context["report"]["digest"] == report["digest"]
    assert f"/agreement.jsonl?campaign={first.public_id}" in links
    assert from_page.json()["digest"] == report["digest"] == exported.manifest["digest"]
    assert exported.manifest["campaign"]["slug"] == first.slug
    assert exported.manifest["figures"]["labels"] == report["agreement"]["labels"]
    assert b"".join(from_api.streaming_content) == exported.path.read_bytes() == by_command.read_bytes()
    assert [row["n"] for row in read_rows(by_command)] == [pair["n"] for pair in report["agreement"]["pairs"]]


def digits_of(document: bytes) -> Any:
    """A JSON document with every number as the text it is written with."""
    return json.loads(document, parse_float=str, parse_int=str)


def test_computed_and_stored_report_are_the_same_number(benchmark: Benchmark) -> None:
    computed = build_report(benchmark)

    assert json.dumps(build_report(benchmark), sort_keys=True) == json.dumps(computed, sort_keys=True)


@requires_shared_data
@pytest.mark.parametrize("index", range(3))
@pytest.mark.django_db
def test_failure_rates_of_a_real_data_set_are_the_known_ones(tmp_path: Path, index: int) -> None:
    import_files([SHARED_DATA / "xstest"], benchmark_slug="xstest")
    known = json.loads((SHARED_DATA / "xstest" / "expected.json").read_text())["failure_rates"][index]

    outcome = export(Benchmark.objects.get(), "report", "xlsx", tmp_path, rule=json.dumps(known["rule"]))

    models = {row["model"]: row for row in read_rows(outcome.path) if row["scope"] == "model"}
    assert {model: row["failure_rate"] for model, row in models.items()} == pytest.approx(
        known["models"], abs=1e-9
    )
    assert {model: row["n_decided"] for model, row in models.items()} == known["n_decided"]
