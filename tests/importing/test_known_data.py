"""The two data sets with known answers, from their files to every figure."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Benchmark, Label, Prompt, Response
from judging.models import Verdict
from judging.reports import build_report
from tests.shared_data import SHARED_DATA, requires_shared_data

pytestmark = [pytest.mark.django_db, requires_shared_data]

TOLERANCE = 1e-9


def run_json(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def import_data(name: str) -> dict[str, Any]:
    return run_json("import_files", str(SHARED_DATA / name), "--benchmark", name)


def expected_of(name: str) -> dict[str, Any]:
    return json.loads(Path(SHARED_DATA / name / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture
def xstest(db: None) -> dict[str, Any]:
    return import_data("xstest")


@pytest.fixture
def newsroom(db: None) -> dict[str, Any]:
    return import_data("newsroom")


def differences(got: Any, expected: Any, place: str = "") -> list[str]:
    """Where `got` lacks an expected value or differs from it by more than the tolerance."""
    if isinstance(expected, dict):
        return [
            line
            for key, value in expected.items()
            for line in differences((got or {}).get(key), value, f"{place}.{key}")
        ]
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return [f"{place}: {got} is not {expected}"]
        return [
            line for have, want in zip(got, expected, strict=True) for line in differences(have, want, place)
        ]
    is_same = (
        abs(got - expected) <= TOLERANCE
        if isinstance(expected, float) and got is not None
        else got == expected
    )
    return [] if is_same else [f"{place}: {got} is not {expected}"]


def agreement_differences(name: str) -> list[str]:
    got, expected = run_json("agreement", "--benchmark", name), expected_of(name)
    pairs = {(pair["a"], pair["b"]): pair for pair in got["pairs"]}
    found = [
        line
        for pair in expected["pairs"]
        for line in differences(pairs.get((pair["a"], pair["b"])), pair, f"{pair['a']} / {pair['b']}")
    ]
    figures = ("alpha", "fleiss_kappa", "fleiss_kappa_binary")
    return found + differences(got, {figure: expected[figure] for figure in figures})


def test_xstest_is_stored_with_the_known_totals(xstest: dict[str, Any]) -> None:
    assert xstest["errors"] == []
    assert xstest["totals"] == {
        kind: {"created": n, "unchanged": 0, "rejected": 0}
        for kind, n in {"prompts": 450, "responses": 2250, "labels": 4500, "scores": 4500}.items()
    }
    assert (Prompt.objects.count(), Response.objects.count()) == (450, 2250)
    assert (Label.objects.count(), Verdict.objects.count()) == (4500, 4500)
    assert Verdict.objects.filter(score=None, state="PARSE_FAILED").count() == 11
    assert Verdict.objects.filter(score=None).count() == 11


def test_second_import_of_xstest_finds_all_of_it(xstest: dict[str, Any]) -> None:
    again = import_data("xstest")

    assert {kind: total["created"] for kind, total in again["totals"].items()} == dict.fromkeys(
        again["totals"], 0
    )
    assert {kind: total["unchanged"] for kind, total in again["totals"].items()} == {
        kind: total["created"] for kind, total in xstest["totals"].items()
    }


def test_agreement_of_xstest_is_as_known(xstest: dict[str, Any]) -> None:
    assert agreement_differences("xstest") == []


def test_failure_rates_of_xstest_under_three_rules_are_as_known(xstest: dict[str, Any]) -> None:
    benchmark = Benchmark.objects.get(slug="xstest")
    for case in expected_of("xstest")["failure_rates"]:
        models = build_report(benchmark, rule=case["rule"])["models"]

        assert differences({row["model"]: row["failure_rate"] for row in models}, case["models"]) == []
        assert {row["model"]: row["n_decided"] for row in models} == case["n_decided"]


def test_newsroom_is_stored_with_the_known_totals(newsroom: dict[str, Any]) -> None:
    assert newsroom["errors"] == []
    assert newsroom["totals"] == {"labels": {"created": 1260, "unchanged": 0, "rejected": 0}}
    assert newsroom["files"][0]["implied"] == {"prompts": 420, "responses": 420}
    assert Response.objects.filter(rollout=None).count() == 420


def test_agreement_of_newsroom_is_as_known(newsroom: dict[str, Any]) -> None:
    assert agreement_differences("newsroom") == []
