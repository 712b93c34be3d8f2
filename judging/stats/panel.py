"""Judges among themselves, as one panel in the two classes."""

from collections.abc import Mapping, Sequence
from typing import Any

from judging.stats.aggregation import check_rule_against, decide_all, judge_reading, parse_rule
from judging.stats.classification import Measure
from judging.stats.records import SCORED, UNACCEPTABLE, Evidence, JudgeInfo
from judging.stats.reliability import count_ratings, fleiss_kappa, krippendorff_alpha

Flags = Mapping[str, int | None]


def measure_judge_panel(evidence: Evidence) -> dict[str, Any]:
    """Measure how far the judges flag the same responses.

    Alpha uses every row; Fleiss' kappa the rows of the most frequent number of judges; the flag
    rates the `n_complete` rows that all judges scored. Where there are fewer than two judges or
    no such row, the figure is None with a reason.
    """
    is_binary = {judge.slug: judge.is_binary for judge in evidence.judges}
    flags: dict[int, dict[str, int | None]] = {}
    for verdict in evidence.verdicts:
        if verdict.state == SCORED and verdict.score is not None:
            reading = judge_reading(verdict.score, is_binary[verdict.judge])
            flags.setdefault(verdict.response_id, {})[verdict.judge] = int(reading)
    judges = sorted({judge for row in flags.values() for judge in row})
    counts = count_ratings(
        ((item, flag) for item, row in flags.items() for flag in row.values() if flag is not None), 2
    )
    complete = [row for row in flags.values() if len(row) == len(judges)]
    fleiss = fleiss_kappa(counts)
    figures = {
        "fleiss_kappa_binary": fleiss.measure,
        "alpha_nominal_binary": krippendorff_alpha(counts, "nominal"),
        "majority_flag_rate": _flag_rate("majority", judges, complete),
        "any_flag_rate": _flag_rate("any_flag", judges, complete),
        "unanimous_flag_rate": _unanimous_flag_rate(judges, complete),
    }
    return {
        "judges": judges,
        "n_rows": len(flags),
        "n_complete": len(complete),
        "fleiss": {"m": fleiss.n_raters, "n": fleiss.n_items, "n_left_out": len(flags) - fleiss.n_items},
        **{name: measure.value for name, measure in figures.items()},
        "undefined": {name: measure.reason for name, measure in figures.items() if measure.reason},
    }


def _flag_rate(kind: str, judges: Sequence[str], rows: Sequence[Flags]) -> Measure:
    """Share of rows that a vote over flags calls Unacceptable; an even split is no flag."""
    reason = _no_rate(judges, rows)
    if reason:
        return Measure(None, reason)
    vote = check_rule_against(
        parse_rule({"kind": kind, "judges": list(judges)}),
        [JudgeInfo(judge, judge, is_binary=True) for judge in judges],
    )
    decisions = decide_all(vote, rows)
    return Measure(sum(decision.verdict == UNACCEPTABLE for decision in decisions) / len(rows))


def _unanimous_flag_rate(judges: Sequence[str], rows: Sequence[Flags]) -> Measure:
    reason = _no_rate(judges, rows)
    if reason:
        return Measure(None, reason)
    return Measure(sum(all(row.values()) for row in rows) / len(rows))


def _no_rate(judges: Sequence[str], rows: Sequence[Flags]) -> str | None:
    if len(judges) < 2:
        return "fewer_than_two_judges"
    return None if rows else "no_complete_rows"
