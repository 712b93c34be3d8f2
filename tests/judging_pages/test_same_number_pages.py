"""The numbers on the pages are the report's, to the last digit."""

from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Benchmark
from annotation.templatetags.formatting import interval_text, kappa_text, rate_interval_text, rate_text
from judging.reports import build_report
from tests.judging_pages.study import Study, data_values
from tests.shared_data import SHARED_DATA, requires_shared_data

PAIR_FIGURES = (
    "n",
    "n_missing",
    "binary_accuracy",
    "binary_kappa",
    "n_scale",
    "exact_match",
    "within_one_step",
    "chance_within_one_step",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
)
CEILING_FIGURES = ("mean_vs_each", "difference", "vs_consensus")
CELL_FIGURES = ("failure_rate", "n_prompts", "n_decided", "n_undecided")
RESULT_FIGURES = (
    "n_prompts",
    "n_responses",
    "n_decided",
    "n_undecided",
    "failure_rate",
    "n_flagged",
    "n_flagged_with_score",
    "mean_score_flagged",
    "n_severe",
    "severe_share",
    "n_severe_per_rollout",
    "n_unanimous_5",
    "sd_between_rollouts",
)


def shown(client: Client, page: str, slug: str) -> str:
    response = client.get(reverse(f"judging:{page}", args=[slug]))
    assert response.status_code == 200
    return response.content.decode()


def unrounded(values: list[float | None]) -> set[str]:
    return {str(value) for value in values if value is not None}


def assert_calibration_equals_report(client: Client, slug: str, report: dict[str, Any]) -> None:
    html = shown(client, "calibration", slug)
    agreement = report["agreement"]
    ceiling = agreement["human_ceiling"]
    machines = [*ceiling["judges"].values(), *ceiling["rules"].values()]
    expected = [pair[name] for pair in agreement["pairs"] for name in PAIR_FIGURES]
    expected += [*agreement["alpha"].values(), agreement["fleiss_kappa"], agreement["fleiss_kappa_binary"]]
    expected += [ceiling["mean_pairwise_binary_kappa"]]
    expected += [
        figures[name] for figures in machines for name in ("mean_vs_each", "difference", "vs_consensus")
    ]

    assert unrounded(expected) - data_values(html) == set()
    for pair in agreement["pairs"]:
        bounds = (pair["interval"] or {}).get("binary_kappa")
        assert bounds is None or interval_text(bounds) in html
        assert pair["binary_kappa"] is None or kappa_text(pair["binary_kappa"]) in html


def assert_results_equal_report(client: Client, slug: str, report: dict[str, Any]) -> None:
    html = shown(client, "results", slug)
    groups = [*report["models"], *report["categories"]]
    expected = [group[name] for group in groups for name in RESULT_FIGURES]
    expected += [
        cell[name] for cell in report["cells"] for name in ("failure_rate", "n_prompts", "n_decided")
    ]
    expected += [n for group in groups for n in group["n_missing"].values()]

    assert unrounded(expected) - data_values(html) == set()
    for group in groups:
        assert rate_text(group["failure_rate"]) in html
        for bounds in (group["failure_rate_interval"], group["failure_rate_bounds"]):
            assert bounds is None or rate_interval_text(bounds) in html


def test_calibration_page_shows_the_digits_of_the_report(researcher_client: Client, study: Study) -> None:
    assert_calibration_equals_report(researcher_client, "study", build_report(study.benchmark))


def test_results_page_shows_the_digits_of_the_report(researcher_client: Client, study: Study) -> None:
    assert_results_equal_report(researcher_client, "study", build_report(study.benchmark))


@requires_shared_data
@pytest.mark.parametrize("name", ["xstest", "newsroom"])
def test_pages_of_real_data_show_the_digits_of_the_report(researcher_client: Client, name: str) -> None:
    call_command("import_files", str(SHARED_DATA / name), benchmark=name, verbosity=0)
    report = build_report(Benchmark.objects.get(slug=name))

    assert_calibration_equals_report(researcher_client, name, report)
    if report["models"]:
        assert_results_equal_report(researcher_client, name, report)
