"""Real labels and scores, against figures that other software computed from the same files."""

import json
from functools import cache
from typing import Any

import pytest

from judging.stats.aggregation import parse_rule
from judging.stats.agreement import measure_agreement
from judging.stats.results import measure_results
from tests.shared_data import SHARED_DATA, requires_shared_data
from tests.stats.evidence import read_folder

pytestmark = requires_shared_data

DATA_SETS = ["newsroom", "xstest"]


@cache
def measured(name: str) -> dict[str, Any]:
    return measure_agreement(read_folder(SHARED_DATA / name), rule=None, rule_name=None, n_resamples=20)


def expected_of(name: str) -> Any:
    return json.loads((SHARED_DATA / name / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_expected_pair_agrees(name: str) -> None:
    have = {(pair["a"], pair["b"]): pair for pair in measured(name)["pairs"]}
    expected = expected_of(name)["pairs"]

    shown = [{key: have[pair["a"], pair["b"]][key] for key in pair} for pair in expected]

    assert [pair.pop("confusion") for pair in shown] == [pair.pop("confusion") for pair in expected]
    assert shown == [pytest.approx(pair, abs=1e-9) for pair in expected]


@pytest.mark.parametrize("name", DATA_SETS)
def test_alphas_and_fleiss_kappas_agree(name: str) -> None:
    document, expected = measured(name), expected_of(name)
    kappas = ("fleiss_kappa", "fleiss_kappa_binary")

    assert document["alpha"] == pytest.approx(expected["alpha"], abs=1e-9)
    assert [document[key] for key in kappas] == pytest.approx([expected[key] for key in kappas], abs=1e-9)


def test_failure_rates_under_three_rules_agree() -> None:
    evidence = read_folder(SHARED_DATA / "xstest")
    expected = expected_of("xstest")["failure_rates"]

    models = [measure_results(evidence, rule=parse_rule(case["rule"]))["models"] for case in expected]

    assert [{entry["model"]: entry["failure_rate"] for entry in entries} for entries in models] == [
        pytest.approx(case["models"], abs=1e-9) for case in expected
    ]
    assert [{entry["model"]: entry["n_decided"] for entry in entries} for entries in models] == [
        case["n_decided"] for case in expected
    ]
