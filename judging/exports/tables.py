"""The tables by name, each with the benchmark's notice in every row."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from annotation.models import Benchmark
from judging.errors import ExportError
from judging.exports.columns import Column, Row, Table
from judging.exports.graded import open_calibrated, open_results
from judging.exports.manifest import is_simulated, notice_of
from judging.exports.recorded import (
    open_attempts,
    open_labels,
    open_prompts,
    open_responses,
    open_verdicts,
)
from judging.exports.reported import open_agreement, open_report
from judging.models import JudgePass
from judging.selectors import default_pass

NOTICE = Column("notice")
OF_BENCHMARK: dict[str, Callable[[Benchmark], Table]] = {
    "prompts": open_prompts,
    "responses": open_responses,
    "labels": open_labels,
}
OF_PASS: dict[str, Callable[[JudgePass], Table]] = {
    "verdicts": open_verdicts,
    "attempts": open_attempts,
}
OF_RULE: dict[str, Callable[..., Table]] = {
    "results": open_results,
    "agreement": open_agreement,
    "report": open_report,
    "calibrated": open_calibrated,
}
TABLES = (*OF_BENCHMARK, *OF_PASS, *OF_RULE)


def open_table(name: str, *, benchmark: Benchmark, judge_pass: JudgePass | None, rule: str | None) -> Table:
    """The table called `name`, its last column the benchmark's notice.

    Call it inside a snapshot, and read the rows there.

    Args:
        name: one of `TABLES`.
        judge_pass: the newest finished pass when None. Prompts, responses and labels rest on none.
        rule: name or JSON; the benchmark's default when None. Only results, agreement, report and
            calibrated rest on one.

    Raises:
        ExportError: no such table, or it needs a pass and there is none.
        RuleError: as `reports.build_report`.
    """
    if name in OF_BENCHMARK:
        table = OF_BENCHMARK[name](benchmark)
    elif name in OF_PASS:
        table = OF_PASS[name](judge_pass or _newest_pass(benchmark))
    elif name in OF_RULE:
        table = OF_RULE[name](benchmark, judge_pass=judge_pass, rule=rule)
    else:
        raise ExportError(
            f"There is no table {name[:80]!r}. Expected one of: {', '.join(TABLES)}.", code="unknown_table"
        )
    notice = notice_of(benchmark, is_simulated=is_simulated(benchmark, table.basis))
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
