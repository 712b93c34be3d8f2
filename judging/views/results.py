"""The Results tab: how often each target model fails."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from judging.stats.aggregation import is_much_left_out
from judging.views.answers import results_answer, results_basis
from judging.views.choosing import ReportChoice, offered_choices, read_choice
from judging.views.context import benchmark_page, show_page
from judging.views.drawing import inline_figure
from judging.views.result_tables import (
    cell_table,
    missing_table,
    policy_table,
    rate_table,
    severity_table,
)
from judging.views.wording import RULE_SOURCES, missing_words


@require_safe
@benchmark_page
def show_results(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Answer, figures, tables, how computed, downloads."""
    choice = read_choice(benchmark, request.GET)
    report = choice.report()
    parts: dict[str, Any] = {}
    if report["models"]:
        parts = {
            "basis": results_basis(report, choice),
            "left_out": _much_left_out(report),
            "coverage": _coverage(report),
            "by_policy": _by_policy(report, choice),
            "model_policy": policy_table(report, choice, of="models"),
            "category_policy": policy_table(report, choice, of="categories"),
            "models_figure": inline_figure("models", report, choice),
            "categories_figure": inline_figure("categories", report, choice),
            "heat_map": inline_figure("heat-map", report, choice),
            "model_rates": rate_table(report, choice, of="models"),
            "model_severity": severity_table(report, choice, of="models"),
            "model_missing": missing_table(report, choice, of="models"),
            "category_missing": missing_table(report, choice, of="categories"),
            "category_rates": rate_table(report, choice, of="categories"),
            "category_severity": severity_table(report, choice, of="categories"),
            "cells": cell_table(report, choice),
            "how": _how_computed(report, choice),
        }
    return show_page(
        request,
        "judging/results.html",
        benchmark=benchmark,
        tab="results",
        answer=results_answer(report),
        report=report,
        rule_source=RULE_SOURCES.get(report["rule_source"] or ""),
        offered=offered_choices(choice),
        exports_url=choice.address("exports"),
        **parts,
    )


def _much_left_out(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """The notice when more than 2 % of the responses are undecided: best and worst case."""
    overall = report["overall"]
    if not is_much_left_out(n_left_out=overall["n_undecided"], n=overall["n_responses"]):
        return None
    return {
        "n": overall["n_undecided"],
        "n_all": overall["n_responses"],
        "bounds": overall["failure_rate_bounds"],
    }


def _coverage(report: Mapping[str, Any]) -> dict[str, int] | None:
    """The notice when the pass is over a part of the benchmark: its rates describe that part alone."""
    n, n_all = report["overall"]["n_responses"], report["n_responses_of_benchmark"]
    return {"n": n, "n_all": n_all} if n < n_all else None


def _by_policy(report: Mapping[str, Any], choice: ReportChoice) -> dict[str, Any] | None:
    """The notice when the pass reads empty responses as Acceptable: how many, and the rate with them."""
    overall = report["overall"]
    if not overall["n_by_policy"]:
        return None
    return {
        "n": overall["n_by_policy"],
        "href": choice.rows(graded="on", by_policy="on"),
        "n_undecided": overall["n_undecided"],
        "rate": overall["failure_rate"],
        "rate_by_policy": overall["failure_rate_by_policy"],
    }


def _how_computed(report: Mapping[str, Any], choice: ReportChoice) -> dict[str, Any]:
    overall = report["overall"]
    missing = [
        {
            "reason": f"Missing verdicts: {missing_words(state)}",
            "n": n,
            "href": choice.rows(graded="on", missing=state),
        }
        for state, n in overall["n_missing"].items()
    ]
    undecided = {
        "reason": "Undecided responses",
        "n": overall["n_undecided"],
        "href": choice.rows(graded="on", verdict="UNDECIDED"),
    }
    return {
        "paragraphs": [
            "A response is Unacceptable when the rule says so. A model's failure rate is the mean over "
            "prompts of the mean over that prompt's decided rollouts, so a prompt with more rollouts "
            "weighs no more than another. A category's rate is the same over its prompts, all models "
            "together.",
            "Intervals: 95 %, Wilson at the effective number of responses, which allows for several "
            "rollouts of one prompt. Bounds put every undecided response at Acceptable, then at "
            "Unacceptable. Empty and failed responses are undecided, never Acceptable by themselves.",
            "SD between rollouts: the standard deviation of the single rollouts' rates over the prompts "
            "decided in every rollout; the model's own noise on the same prompts. Rows with fewer than 10 "
            "prompts are greyed.",
            "Undecided responses are in no rate and at both ends of the bounds. A missing verdict that "
            "the rule can do without leaves the response decided; one response can lack several.",
        ],
        "facts": [
            ("Rule", report["rule_in_words"]),
            ("Pass", f"{report['pass_name']} ({report['pass']})"),
            ("Report", f"{report['digest'][:16]}, code {report['code_version']}, seed {report['seed']}"),
        ],
        "left_out": [entry for entry in (undecided, *missing) if entry["n"]],
    }
