"""Responses that the loopback provider made up: nothing that rests on them passes for real."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Benchmark
from judging.exports.exporting import export_table
from judging.exports.requests import ExportRequest
from judging.reports import build_report
from judging.selectors import holds_simulated_responses
from tests.annotation.desk import make_desk
from tests.factories import make_benchmark, make_generation, make_pass, make_prompt, make_response

pytestmark = pytest.mark.django_db

IN_PART = "SIMULATED in part"


def collected(benchmark: Benchmark, *, is_simulated: bool) -> None:
    """One collected response, by the loopback provider or by a real one."""
    judge_pass = make_pass(benchmark=benchmark, kind="COLLECTION", scale="TEXT", is_simulated=is_simulated)
    row = make_generation(judge_pass=judge_pass, state="COLLECTED")
    assert row.response is not None
    row.response.settings = {"is_simulated": is_simulated}
    row.response.save()


@pytest.mark.parametrize(
    ("benchmark_is", "response_is", "expected"),
    [(False, False, False), (False, True, True), (True, False, True)],
    ids=["real", "one response made up", "all made up"],
)
def test_a_benchmark_holds_simulated_responses(benchmark_is: bool, response_is: bool, expected: bool) -> None:
    benchmark = make_benchmark(is_simulated=benchmark_is)
    collected(benchmark, is_simulated=response_is)

    assert holds_simulated_responses(benchmark) is expected


def test_another_benchmarks_responses_do_not_count() -> None:
    collected(make_benchmark(), is_simulated=True)

    assert not holds_simulated_responses(make_benchmark())


def test_report_says_so_and_is_another_than_before() -> None:
    benchmark = make_benchmark()
    make_response(prompt=make_prompt(benchmark=benchmark))
    before = build_report(benchmark)

    collected(benchmark, is_simulated=True)
    after = build_report(benchmark)

    assert (before["is_simulated"], after["is_simulated"]) == (False, True)
    assert before["digest"] != after["digest"]


@pytest.mark.parametrize("table", ["prompts", "responses", "labels"])
def test_every_table_carries_the_notice(tmp_path: Path, table: str) -> None:
    benchmark = make_benchmark()
    collected(benchmark, is_simulated=True)

    manifest = export_to(tmp_path / "table.csv", benchmark, table=table)

    assert manifest["is_simulated"] is True
    assert manifest["notice"].startswith(IN_PART)


def test_table_of_responses_says_which_are_made_up(tmp_path: Path) -> None:
    benchmark = make_benchmark()
    collected(benchmark, is_simulated=True)
    make_response(prompt=make_prompt(benchmark=benchmark))

    export_to(tmp_path / "table.csv", benchmark, table="responses")

    with (tmp_path / "table.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["is_simulated"] for row in rows] == ["true", "false"]
    assert [row["settings"] and json.loads(row["settings"]) for row in rows] == [{"is_simulated": True}, ""]


@pytest.mark.parametrize("page", ["data", "labels", "judges", "calibration", "results", "exports", "rows"])
def test_every_page_of_the_benchmark_says_so(researcher_client: Client, page: str) -> None:
    benchmark = make_benchmark()
    where = reverse(f"judging:{page}", args=[benchmark.slug])
    before = researcher_client.get(where).content.decode()

    collected(benchmark, is_simulated=True)
    after = researcher_client.get(where).content.decode()

    assert "Simulated" not in before
    assert "Simulated in part" in after


def test_an_annotator_is_told_of_a_response_that_is_made_up(client: Client) -> None:
    desk = make_desk(n_items=1)
    client.force_login(desk.account)
    before = client.get("/label/", follow=True).content.decode()
    response = desk.campaign.items.get().response
    response.settings = {"is_simulated": True}
    response.save()

    after = client.get("/label/", follow=True).content.decode()

    assert "Simulated data" not in before
    assert "Simulated data" in after


def export_to(path: Path, benchmark: Benchmark, **request: Any) -> dict[str, Any]:
    """Export one table as CSV; gives the manifest."""
    return dict(export_table(benchmark, ExportRequest(format="csv", **request), out=path).manifest)
