"""The Calibration tab: how well judges, rule and people agree."""

import json
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Benchmark
from judging.adoption import adopt_rule
from judging.errors import RuleError
from judging.forms.adopting import AdoptRuleForm
from judging.stats.aggregation import is_much_left_out
from judging.views.agreement_tables import (
    ceiling_table,
    class_table,
    confusion_table,
    match_table,
    reliability_table,
    scale_table,
)
from judging.views.answers import calibration_answer, calibration_basis, panel_pair
from judging.views.choosing import ReportChoice, offered_choices, read_choice
from judging.views.context import account_of, benchmark_page, show_page
from judging.views.drawing import inline_figure
from judging.views.wording import RULE_SOURCES, counted

MOST_PAIRS_UNFOLDED = 12


@require_safe
@benchmark_page
def show_calibration(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Answer, figure, tables, how computed, downloads."""
    choice = read_choice(benchmark, request.GET)
    report = choice.report()
    agreement = report["agreement"]
    pairs, panel = agreement["pairs"], panel_pair(agreement)
    has_scale = any(pair["n_scale"] for pair in pairs)
    tables: dict[str, Any] = {}
    if pairs:
        tables = {
            "figure": inline_figure("agreement", report, choice),
            "classes": class_table(pairs, choice),
            "is_short": len(pairs) <= MOST_PAIRS_UNFOLDED,
            "matches": match_table(pairs) if has_scale else None,
            "scale": scale_table(pairs) if has_scale else None,
            "confusion": confusion_table(panel, choice) if panel else None,
            "ceiling": ceiling_table(agreement) if _has_machines(agreement) else None,
            "reliability": reliability_table(agreement),
        }
    return show_page(
        request,
        "judging/calibration.html",
        benchmark=benchmark,
        tab="calibration",
        answer=calibration_answer(report),
        basis=calibration_basis(report, choice) if agreement["labels"]["n"] else None,
        report=report,
        rule_source=RULE_SOURCES.get(report["rule_source"] or ""),
        offered=offered_choices(choice),
        left_out=_much_left_out(agreement["labels"], panel),
        how=_how_computed(report, choice),
        exports_url=choice.address("exports"),
        rule_json=json.dumps(report["rule"]) if report["rule"] else None,
        **tables,
    )


@require_POST
@benchmark_page
def adopt(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Keep the rule of a report under a name and make it the benchmark's own."""
    form = AdoptRuleForm(request.POST)
    if not form.is_valid():
        problems = " ".join(str(message) for errors in form.errors.values() for message in errors)
        raise RuleError(f"The rule was not adopted: {problems}", code="bad_rule_name")
    choice = read_choice(benchmark, request.POST)
    adoption = adopt_rule(
        benchmark, **form.cleaned_data, judge_pass=choice.judge_pass, actor=account_of(request)
    )
    messages.success(request, f"{adoption.rule.name} is now the rule of {benchmark.name}.")
    return redirect("judging:calibration", slug=benchmark.slug)


def _has_machines(agreement: Mapping[str, Any]) -> bool:
    ceiling = agreement["human_ceiling"]
    return bool(ceiling["rules"] or ceiling["judges"])


def _much_left_out(labels: Mapping[str, int], panel: Mapping[str, Any] | None) -> dict[str, int] | None:
    """The notice when more than 2 % of the labelled responses are in no comparison with the rule."""
    if panel is None:
        return None
    n_left_out = labels["n_contested"] + panel["n_missing"]
    if not is_much_left_out(n_left_out=n_left_out, n=labels["n_responses"]):
        return None
    return {
        "n": n_left_out,
        "n_all": labels["n_responses"],
        "n_contested": labels["n_contested"],
        "n_missing": panel["n_missing"],
    }


def _how_computed(report: Mapping[str, Any], choice: ReportChoice) -> dict[str, Any]:
    agreement = report["agreement"]
    labels, ceiling, panel = agreement["labels"], agreement["human_ceiling"], panel_pair(agreement)
    judged = f"{report['pass_name']} ({report['pass']})" if report["pass"] else "none"
    left_out = [
        (
            "Contested responses",
            labels["n_contested"],
            choice.rows(consensus="CONTESTED"),
        ),
        (
            "Responses without a verdict",
            panel["n_missing"] if panel else 0,
            choice.rows(pair=panel["kind"], a=panel["a"], b=panel["b"], cell="MISSING") if panel else None,
        ),
        ("Anonymous labels, in no pair", labels["n_anonymous"], None),
        (
            "Responses not in Fleiss' κ of classes",
            agreement["fleiss"]["binary"]["n_left_out"],
            None,
        ),
        (
            "Responses not in Fleiss' κ of severity",
            agreement["fleiss"]["severity"]["n_left_out"],
            None,
        ),
    ]
    return {
        "paragraphs": [
            "κ is Cohen's kappa: (observed − expected agreement) ÷ (1 − expected agreement). On the 1-5 "
            "scale all five values count as levels even where nobody used one. Unacceptable is the "
            "positive class; a judge's score of 2 or more reads as Unacceptable, a person's label is read "
            "as given and never from its severity.",
            "People's consensus is the majority of the current labels of regular items. A tie is "
            "contested and is in no two-class comparison. Of several labels by one annotator on one "
            "response the newest counts. Anonymous labels are in the consensus and in α.",
            f"Intervals: 95 %, percentile bootstrap that resamples prompts, {ceiling['n_resamples']:,} "
            f"times, seed {report['seed']}. Below 20 common prompts, or when more than 5 % of the "
            "resamples leave a figure undefined, there is none.",
            f"{counted(labels['n_inconsistent'], 'label')} carry a severity that would read as the other "
            "class; they count as labelled.",
        ],
        "facts": [
            ("Rule", report["rule_in_words"] or "none"),
            ("Pass", judged),
            ("Campaigns", choice.campaign.name if choice.campaign else "all"),
            ("Report", f"{report['digest'][:16]}, code {report['code_version']}"),
        ],
        "left_out": [
            {"reason": reason, "n": n, "href": href if n else None} for reason, n, href in left_out if n
        ],
    }
