"""Two passes over the same responses under one rule: which verdicts changed, and did the rate move?

Everything is paired: only responses that both passes grade are compared, and rates rest on those that
both decide. A prompt weighs the same whatever its number of responses, as in every failure rate.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from judging.stats.aggregation import (
    Decision,
    Rule,
    check_rule_against,
    decide_responses,
    is_much_left_out,
)
from judging.stats.classification import (
    NO_ROWS,
    Counts,
    Floats,
    Measure,
    cohen_kappa,
    cross_table,
    exact_match,
    kappas,
    within_one_step,
)
from judging.stats.intervals import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    FEWEST_PROMPTS,
    LEVEL,
    Interval,
    named_seed,
    percentile_interval,
    resample_tables,
)
from judging.stats.records import ACCEPTABLE, SCORED, UNACCEPTABLE, UNDECIDED, Evidence, ResponseRow

Change = Literal["SAME", "TO_UNACCEPTABLE", "TO_ACCEPTABLE", "TO_UNDECIDED", "TO_DECIDED"]
Finding = Literal["nothing_in_common", "no_change", "no_shift", "shift", "coverage", "unknown"]

VERDICT_ORDER: Final = (ACCEPTABLE, UNACCEPTABLE, UNDECIDED)
CHANGES: Final[tuple[Change, ...]] = (
    "TO_UNACCEPTABLE",
    "TO_ACCEPTABLE",
    "TO_UNDECIDED",
    "TO_DECIDED",
    "SAME",
)
FEW_PROMPTS: Final = "few_prompts"
UNDEFINED_RESAMPLES: Final = "undefined_resamples"
NO_DECIDED_ROWS: Final = "no_decided_rows"
NO_COMMON_SCORES: Final = "no_common_scores"


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One response that both passes grade, with the rule's decision on each."""

    row: ResponseRow
    before: Decision
    after: Decision

    @property
    def change(self) -> Change:
        """What became of the verdict."""
        if self.before.verdict == self.after.verdict:
            return "SAME"
        if self.after.verdict == UNDECIDED:
            return "TO_UNDECIDED"
        if self.before.verdict == UNDECIDED:
            return "TO_DECIDED"
        return "TO_UNACCEPTABLE" if self.after.verdict == UNACCEPTABLE else "TO_ACCEPTABLE"

    @property
    def is_decided_twice(self) -> bool:
        """Whether both passes reach a verdict."""
        return UNDECIDED not in (self.before.verdict, self.after.verdict)


def pair_rows(before: Evidence, after: Evidence, *, rule: Rule) -> list[ComparedRow]:
    """Decide each response that both passes grade, by ascending response id.

    Raises:
        RuleError: the rule does not fit the judges of one of them.
    """
    decided_before, decided_after = decide_responses(before, rule), decide_responses(after, rule)
    graded_before = {row.response_id for row in before.graded_rows()}
    return [
        ComparedRow(row, decided_before[row.response_id], decided_after[row.response_id])
        for row in after.graded_rows()
        if row.response_id in graded_before
    ]


def measure_changes(
    before: Evidence,
    after: Evidence,
    *,
    rule: Rule,
    seed: int = DEFAULT_SEED,
    n_resamples: int = DEFAULT_RESAMPLES,
) -> dict[str, Any]:
    """Measure what changed from one pass to the other.

    Returns:
        `n_before`, `n_after` (responses graded) and `n_common`; `overall`, `models` and `categories`
        with the figures of `_measure_group`; `judges` with those of `_measure_judge`; `finding`, which
        says whether it mattered: `no_change` (no verdict differs), `shift` (the interval of the rate's
        change leaves out 0), `no_shift` (it holds 0), `coverage` (it holds 0, and more than 2 % of the
        responses are decided in one pass alone), `unknown` (no interval), `nothing_in_common`.
        What is undefined is None, with its reason under `undefined`.

    Raises:
        RuleError: the rule does not fit the judges of one of them.
    """
    rule = check_rule_against(rule, before.judges)
    rows = pair_rows(before, after, rule=rule)
    draw = _Draw(seed=seed, n_resamples=n_resamples)
    overall = _measure_group(rows, draw, name="overall")
    return {
        "n_before": len(before.graded_rows()),
        "n_after": len(after.graded_rows()),
        "n_common": len(rows),
        "finding": _finding(overall),
        "overall": overall,
        "models": _measure_groups(rows, draw, "model"),
        "categories": _measure_groups(rows, draw, "category"),
        "judges": [
            _measure_judge(judge, before, after, rows, draw)
            for judge in sorted({info.slug for info in before.judges} & {info.slug for info in after.judges})
        ],
        "interval": {
            "method": "percentile bootstrap of prompts",
            "level": LEVEL,
            "n_resamples": n_resamples,
        },
    }


@dataclass(frozen=True, slots=True)
class _Draw:
    """Seed and size of the resampling; each figure draws under its own name."""

    seed: int
    n_resamples: int

    def resample(self, by_prompt: Counts | Floats, *, name: str) -> Floats:
        return resample_tables(
            by_prompt, n_resamples=self.n_resamples, seed=named_seed(self.seed, "comparison", name)
        )


def _finding(overall: dict[str, Any]) -> Finding:
    if not overall["n_responses"]:
        return "nothing_in_common"
    if overall["n_same"] == overall["n_responses"]:
        return "no_change"
    interval = overall["rate_change_interval"]
    if interval is None:
        return "unknown"
    if not interval[0] <= 0 <= interval[1]:
        return "shift"
    n_decided_once = overall["n_to_undecided"] + overall["n_to_decided"]
    is_coverage = is_much_left_out(n_left_out=n_decided_once, n=overall["n_responses"])
    return "coverage" if is_coverage else "no_shift"


def _measure_groups(rows: Sequence[ComparedRow], draw: _Draw, field: str) -> list[dict[str, Any]]:
    groups: dict[str, list[ComparedRow]] = {}
    for compared in rows:
        groups.setdefault(getattr(compared.row, field), []).append(compared)
    return [
        {field: name, **_measure_group(groups[name], draw, name=f"{field} {name}")} for name in sorted(groups)
    ]


def _measure_group(rows: Sequence[ComparedRow], draw: _Draw, *, name: str) -> dict[str, Any]:
    """Counts of changes, the cross table of verdicts, kappa, and the paired change of the failure rate."""
    changes = Counter(compared.change for compared in rows)
    decided = [compared for compared in rows if compared.is_decided_twice]
    undefined: dict[str, str] = {}
    codes = [_verdict_codes(compared) for compared in rows]
    verdicts = cross_table([a for a, _ in codes], [b for _, b in codes], len(VERDICT_ORDER))
    kappa = cohen_kappa(verdicts[:2, :2])
    n_changed = changes["TO_UNACCEPTABLE"] + changes["TO_ACCEPTABLE"]
    figures = {
        "n_responses": len(rows),
        "n_prompts": len({compared.row.prompt_id for compared in rows}),
        "n_same": changes["SAME"],
        "n_decided_twice": len(decided),
        "n_changed": n_changed,
        "n_to_unacceptable": changes["TO_UNACCEPTABLE"],
        "n_to_acceptable": changes["TO_ACCEPTABLE"],
        "n_to_undecided": changes["TO_UNDECIDED"],
        "n_to_decided": changes["TO_DECIDED"],
        "verdicts": verdicts.tolist(),
        "changed_share": n_changed / len(decided) if decided else None,
        "kappa": kappa.value,
        "kappa_interval": None,
        **_rate_change(decided, draw, undefined, name=name),
    }
    if not decided:
        undefined["changed_share"] = NO_DECIDED_ROWS
    if kappa.reason:
        undefined["kappa"] = undefined["kappa_interval"] = kappa.reason
    else:
        interval = _resampled(_tables_by_prompt(decided), draw, kappas, name=f"{name} kappa")
        figures["kappa_interval"] = _ends(interval, undefined, "kappa_interval")
    return {**figures, "undefined": undefined}


def _rate_change(
    decided: Sequence[ComparedRow], draw: _Draw, undefined: dict[str, str], *, name: str
) -> dict[str, Any]:
    """The failure rate of each pass over the responses that both decide, and the difference."""
    if not decided:
        names = ("failure_rate_before", "failure_rate_after", "rate_change", "rate_change_interval")
        undefined |= dict.fromkeys(names, NO_DECIDED_ROWS)
        return dict.fromkeys(names)
    sums: dict[int, list[int]] = {}
    for compared in decided:
        of_prompt = sums.setdefault(compared.row.prompt_id, [0, 0, 0])
        of_prompt[0] += compared.before.verdict == UNACCEPTABLE
        of_prompt[1] += compared.after.verdict == UNACCEPTABLE
        of_prompt[2] += 1
    flagged = np.array([sums[prompt] for prompt in sorted(sums)], dtype=np.float64)
    rates = flagged[:, :2] / flagged[:, 2:]
    before, after = (float(column.mean()) for column in rates.T)
    by_prompt = np.column_stack([rates[:, 1] - rates[:, 0], np.ones(len(rates))])
    interval = _resampled(by_prompt, draw, lambda sums: sums[:, 0] / sums[:, 1], name=f"{name} rate")
    return {
        "failure_rate_before": before,
        "failure_rate_after": after,
        "rate_change": float(by_prompt[:, 0].mean()),
        "rate_change_interval": _ends(interval, undefined, "rate_change_interval"),
    }


def _measure_judge(
    judge: str, before: Evidence, after: Evidence, rows: Sequence[ComparedRow], draw: _Draw
) -> dict[str, Any]:
    """One judge's scores in both passes: their cross table (before in the rows), agreement and shift."""
    is_binary = next(info.is_binary for info in after.judges if info.slug == judge)
    low, n_levels = (0, 2) if is_binary else (1, 5)
    old, new = _scores_of(judge, before), _scores_of(judge, after)
    common = [compared.row for compared in rows]
    both = [row for row in common if row.response_id in old and row.response_id in new]
    a = np.array([old[row.response_id] - low for row in both], dtype=np.int64)
    b = np.array([new[row.response_id] - low for row in both], dtype=np.int64)
    table = cross_table(a, b, n_levels)
    undefined: dict[str, str] = {}
    kappa = cohen_kappa(table, "unweighted" if is_binary else "quadratic")
    near = Measure(None, NO_ROWS) if not both else Measure(float(within_one_step(table)))
    figures = {
        "judge": judge,
        "is_binary": is_binary,
        "n": len(both),
        "n_same": int(np.trace(table)),
        "n_higher": int((b > a).sum()),
        "n_lower": int((b < a).sum()),
        "n_lost": sum(row.response_id in old and row.response_id not in new for row in common),
        "n_gained": sum(row.response_id in new and row.response_id not in old for row in common),
        "scores": table.tolist(),
        "exact_match": float(exact_match(table)) if both else None,
        "within_one_step": None if is_binary else near.value,
        "kappa": kappa.value,
        "mean_change": float((b - a).mean()) if both else None,
        "mean_change_interval": None,
    }
    if kappa.reason:
        undefined["kappa"] = kappa.reason
    if is_binary:
        undefined["within_one_step"] = "binary_judges"
    if not both:
        names = ("exact_match", "within_one_step", "mean_change", "mean_change_interval")
        undefined |= dict.fromkeys(names, NO_COMMON_SCORES)
    else:
        prompts = np.array([row.prompt_id for row in both], dtype=np.int64)
        interval = _resampled(
            _sums_by_prompt(prompts, b - a), draw, lambda sums: sums[:, 0] / sums[:, 1], name=f"judge {judge}"
        )
        figures["mean_change_interval"] = _ends(interval, undefined, "mean_change_interval")
    return {**figures, "undefined": undefined}


def _scores_of(judge: str, evidence: Evidence) -> dict[int, int]:
    return {
        verdict.response_id: verdict.score
        for verdict in evidence.verdicts
        if verdict.judge == judge and verdict.state == SCORED and verdict.score is not None
    }


def _verdict_codes(compared: ComparedRow) -> tuple[int, int]:
    return VERDICT_ORDER.index(compared.before.verdict), VERDICT_ORDER.index(compared.after.verdict)


def _tables_by_prompt(decided: Sequence[ComparedRow]) -> Counts:
    """2 × 2 tables of verdicts by prompt, shape (n prompts, 2, 2)."""
    prompts = np.array([compared.row.prompt_id for compared in decided], dtype=np.int64)
    seen, prompt = np.unique(prompts, return_inverse=True)
    tables = np.zeros((seen.size, 2, 2), dtype=np.int64)
    codes = np.array([_verdict_codes(compared) for compared in decided], dtype=np.int64)
    np.add.at(tables, (prompt, codes[:, 0], codes[:, 1]), 1)
    return tables


def _sums_by_prompt(prompts: Counts, values: Counts) -> Counts:
    """Sum and number of the values of each prompt, shape (n prompts, 2)."""
    seen, prompt = np.unique(prompts, return_inverse=True)
    sums = np.zeros((seen.size, 2), dtype=np.int64)
    np.add.at(sums, prompt, np.column_stack([values, np.ones_like(values)]))
    return sums


def _resampled(
    by_prompt: Counts | Floats, draw: _Draw, statistic: Any, *, name: str
) -> tuple[Interval | None, str | None]:
    """The interval of a statistic of summed prompts, or why there is none."""
    if by_prompt.shape[0] < FEWEST_PROMPTS:
        return None, FEW_PROMPTS
    outcome = percentile_interval(statistic(draw.resample(by_prompt, name=name)))
    return outcome.interval, None if outcome.interval else UNDEFINED_RESAMPLES


def _ends(
    outcome: tuple[Interval | None, str | None], undefined: dict[str, str], name: str
) -> list[float] | None:
    interval, reason = outcome
    if reason:
        undefined[name] = reason
    return None if interval is None else list(interval)
