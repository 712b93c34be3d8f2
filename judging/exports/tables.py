"""The tables by name, each with the benchmark's notice in every row."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from annotation.models import Benchmark, Campaign
from judging.errors import ExportError
from judging.exports.columns import Column, Row, Table
from judging.exports.compared import open_comparison
from judging.exports.failure_modes import open_failure_modes
from judging.exports.graded import open_calibrated, open_results
from judging.exports.manifest import notice_of
from judging.exports.recorded import (
    open_attempts,
    open_labels,
    open_prompts,
    open_responses,
    open_verdicts,
)
from judging.exports.reported import open_agreement, open_report
from judging.exports.requests import ExportRequest
from judging.models import JudgePass
from judging.selectors import default_pass

NOTICE = Column("notice")
OF_BENCHMARK: dict[str, Callable[[Benchmark], Table]] = {
    "prompts": open_prompts,
    "responses": open_responses,
}
OF_LABELS: dict[str, Callable[[Benchmark, Campaign | None], Table]] = {
    "labels": open_labels,
}
OF_PASS: dict[str, Callable[[JudgePass], Table]] = {
    "verdicts": open_verdicts,
    "attempts": open_attempts,
}
OF_RULE: dict[str, Callable[[Benchmark, ExportRequest], Table]] = {
    "results": open_results,
    "agreement": open_agreement,
    "report": open_report,
    "calibrated": open_calibrated,
}
# Needs a second pass, the earlier one.
OF_TWO_PASSES: dict[str, Callable[[Benchmark, ExportRequest], Table]] = {
    "comparison": open_comparison,
}
# Needs a classification, or the judging pass that it graded.
OF_CLASSIFICATION: dict[str, Callable[[Benchmark, ExportRequest], Table]] = {
    "failure_modes": open_failure_modes,
}
TABLES = (*OF_BENCHMARK, *OF_LABELS, *OF_PASS, *OF_RULE, *OF_TWO_PASSES, *OF_CLASSIFICATION)


def open_table(benchmark: Benchmark, request: ExportRequest) -> Table:
    """The table that is asked for, its last column the benchmark's notice.

    Call it inside a snapshot, and read the rows there. Prompts and responses rest on the benchmark
    alone, labels on the campaign too, verdicts and attempts on the pass; results, agreement, report
    and calibrated on pass, rule and campaign; comparison on two passes and the rule; failure modes on a
    classification, named itself or by the pass that it graded.

    Raises:
        ExportError: no such table, or it needs a pass and there is none.
        RuleError: as `reports.build_report`.
    """
    name = request.table
    if name in OF_BENCHMARK:
        table = OF_BENCHMARK[name](benchmark)
    elif name in OF_LABELS:
        table = OF_LABELS[name](benchmark, request.campaign)
    elif name in OF_PASS:
        table = OF_PASS[name](request.judge_pass or _newest_pass(benchmark))
    elif name in OF_RULE:
        table = OF_RULE[name](benchmark, request)
    elif name in OF_TWO_PASSES:
        table = OF_TWO_PASSES[name](benchmark, request)
    elif name in OF_CLASSIFICATION:
        table = OF_CLASSIFICATION[name](benchmark, request)
    else:
        raise ExportError(
            f"There is no table {name[:80]!r}. Expected one of: {', '.join(TABLES)}.", code="unknown_table"
        )
    notice = notice_of(benchmark, basis=table.basis)
    return replace(table, columns=(*table.columns, NOTICE), rows=_with_notice(table, notice))


def _newest_pass(benchmark: Benchmark) -> JudgePass:
    found = default_pass(benchmark)
    if found is None:
        raise ExportError(
            f"The benchmark {benchmark.slug} has no finished pass. Import judge scores, finish a pass, "
            "or name one.",
            code="no_pass",
        )
    return found


def _with_notice(table: Table, notice: str | None) -> Iterator[Row]:
    for row in table.rows:
        yield (*row, notice)
