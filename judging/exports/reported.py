"""What was measured: rows of agreement and of the report, digit for digit as `build_report` has them."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.models import Benchmark
from judging.exports.columns import Basis, Column, Kind, Row, Table, integers, numbers, texts
from judging.exports.requests import ExportRequest
from judging.reports import read_report
from judging.selectors import find_pass

AGREEMENT_METRICS = (
    "exact_match",
    "within_one_step",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "binary_accuracy",
    "binary_kappa",
)
CLASSES = ("acceptable", "unacceptable")
PAIR_COLUMNS = (
    *texts("a", "b", "kind"),
    *integers("n", "n_scale", "n_missing"),
    *numbers(*AGREEMENT_METRICS, "chance_within_one_step"),
)
CONFUSION_COLUMNS = integers(*(f"confusion_{a}_{b}" for a in CLASSES for b in CLASSES))
ENDS_OF_METRICS = numbers(*(f"{metric}_{end}" for metric in AGREEMENT_METRICS for end in ("low", "high")))
INTERVAL_COLUMNS = (
    *texts("method"),
    *numbers("level"),
    *integers("n_clusters", "n_resamples", "n_undefined"),
    Column("n_undefined_by_metric", Kind.JSON),
)
GROUP_COLUMNS = texts("scope", "model", "category")
# Keys of one group of the report, in its order; a pair of ends becomes two columns.
COUNT_COLUMNS = (
    *integers("n_responses", "n_prompts", "n_prompts_decided", "n_rollouts", "n_decided", "n_undecided"),
    *integers("n_flagged", "n_renormalised"),
    Column("n_missing", Kind.JSON),
    *numbers("failure_rate"),
)
ENDS_OF_RATE = ("failure_rate_interval", "failure_rate_bounds")
SPREAD_COLUMNS = (
    *numbers("pooled_rate", "n_eff", "sd_between_rollouts"),
    *integers("sd_n_prompts", "sd_left_out_rows", "n_flagged_with_score"),
    *numbers("mean_score_flagged"),
    *integers("n_severe"),
    *numbers("severe_share", "n_severe_per_rollout"),
    *integers("n_unanimous_5"),
)
UNDEFINED_COLUMN = Column("undefined", Kind.JSON)
POLICY_COLUMNS = (*integers("n_by_policy"), *numbers("failure_rate_by_policy"))


def open_agreement(benchmark: Benchmark, request: ExportRequest) -> Table:
    """One row for each pair. Alphas, Fleiss' kappas and the human ceiling are the table's figures."""
    report = _read_report(benchmark, request)
    agreement = report["agreement"]
    return Table(
        columns=(*PAIR_COLUMNS, *CONFUSION_COLUMNS, *ENDS_OF_METRICS, *INTERVAL_COLUMNS, UNDEFINED_COLUMN),
        rows=(_pair_row(pair) for pair in agreement["pairs"]),
        basis=_basis_of(benchmark, request, report),
        figures={name: value for name, value in agreement.items() if name != "pairs"},
    )


def open_report(benchmark: Benchmark, request: ExportRequest) -> Table:
    """One row overall, one for each model, each category, and each cell of the two."""
    report = _read_report(benchmark, request)
    return Table(
        columns=(
            *GROUP_COLUMNS,
            *COUNT_COLUMNS,
            *numbers(*(f"{name}_{end}" for name in ENDS_OF_RATE for end in ("low", "high"))),
            *SPREAD_COLUMNS,
            UNDEFINED_COLUMN,
            *POLICY_COLUMNS,
        ),
        rows=_group_rows(report),
        basis=_basis_of(benchmark, request, report),
    )


def _read_report(benchmark: Benchmark, request: ExportRequest) -> dict[str, Any]:
    return read_report(benchmark, judge_pass=request.judge_pass, rule=request.rule, campaign=request.campaign)


def _basis_of(benchmark: Benchmark, request: ExportRequest, report: Mapping[str, Any]) -> Basis:
    return Basis(
        judge_pass=find_pass(benchmark, report["pass"]) if report["pass"] else None,
        rule=report["rule"],
        rule_name=report["rule_name"],
        rule_source=report["rule_source"],
        rule_in_words=report["rule_in_words"],
        campaign=request.campaign,
        digest=report["digest"],
        seed=report["seed"],
    )


def _pair_row(pair: Mapping[str, Any]) -> Row:
    interval = pair["interval"] or {}
    return (
        *(pair[column.name] for column in PAIR_COLUMNS),
        *(count for row in pair["confusion"] for count in row),
        *(end for metric in AGREEMENT_METRICS for end in _ends(interval.get(metric))),
        *(interval.get(column.name) for column in INTERVAL_COLUMNS),
        pair["undefined"],
    )


def _group_rows(report: Mapping[str, Any]) -> Iterator[Row]:
    if "overall" in report:
        yield _group_row("overall", report["overall"])
    for scope, groups in (("model", "models"), ("category", "categories"), ("cell", "cells")):
        for group in report[groups]:
            yield _group_row(scope, group)


def _group_row(scope: str, group: Mapping[str, Any]) -> Row:
    return (
        scope,
        group.get("model"),
        group.get("category"),
        *(group[column.name] for column in COUNT_COLUMNS),
        *(end for name in ENDS_OF_RATE for end in _ends(group[name])),
        *(group[column.name] for column in SPREAD_COLUMNS),
        group["undefined"],
        *(group[column.name] for column in POLICY_COLUMNS),
    )


def _ends(interval: list[float] | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval[0], interval[1])
