"""How well judges, rule and people agree: the whole of `agreement --json`."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Final

from judging.stats.aggregation import Rule, consensus, decide_responses, is_inconsistent
from judging.stats.ceiling import measure_human_ceiling
from judging.stats.classification import Counts
from judging.stats.intervals import DEFAULT_RESAMPLES, DEFAULT_SEED
from judging.stats.pairs import (
    N_CLASSES,
    N_LEVELS,
    Pair,
    describe_pairs,
    pair_interval,
    tabulate_pairs,
)
from judging.stats.panel import measure_judge_panel
from judging.stats.readers import Readings, gather_readings
from judging.stats.records import CONTESTED, Evidence, HumanLabel
from judging.stats.reliability import FleissKappa, count_ratings, fleiss_kappa, krippendorff_alpha

MOST_INTERVALS_AT_ONCE: Final = 50
NOT_AMONG_LARGEST: Final = "not_among_50_largest"


def measure_agreement(
    evidence: Evidence,
    *,
    rule: Rule | None,
    rule_name: str | None,
    seed: int = DEFAULT_SEED,
    n_resamples: int = DEFAULT_RESAMPLES,
    more_intervals: Collection[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Measure every pair, the alphas, Fleiss' kappas and the human ceiling.

    Agreement rests on all the evidence, also on labelled responses outside any rollout. Point
    figures are given for all pairs, intervals for the 50 with the most common responses.

    Args:
        rule: adds the rule as a reader, called `rule_name`; both or neither.
        more_intervals: (a, b) of further pairs whose interval is wanted.

    Returns:
        `pairs`, `alpha`, `fleiss_kappa`, `fleiss_kappa_binary`, `human_ceiling` and, beside them,
        `fleiss` and `alpha_n` (what these rest on), `labels` (counts), `judge_panel` and
        `undefined`. What is undefined is None with a reason.

    Raises:
        RuleError: the rule does not fit the judges.
        ValueError: a rule without a name, or the reverse.
    """
    if (rule is None) != (rule_name is None):
        raise ValueError("a rule and its name go together")
    decisions = None if rule is None else decide_responses(evidence, rule)
    readings = gather_readings(evidence, rule_name=rule_name, decisions=decisions)
    pairs = tabulate_pairs(readings)
    described = describe_pairs(pairs)
    _add_intervals(
        pairs, described, readings, seed=seed, n_resamples=n_resamples, more_intervals=more_intervals
    )
    undefined: dict[str, str] = {}
    return {
        "pairs": described,
        **_measure_labels(evidence.labels, undefined),
        "human_ceiling": measure_human_ceiling(pairs, readings, seed=seed, n_resamples=n_resamples),
        "labels": count_labels(evidence.labels),
        "judge_panel": measure_judge_panel(evidence),
        "undefined": undefined,
    }


def _add_intervals(
    pairs: Sequence[Pair],
    described: Sequence[dict[str, Any]],
    readings: Readings,
    *,
    seed: int,
    n_resamples: int,
    more_intervals: Collection[tuple[str, str]],
) -> None:
    """Fill in the interval of the largest and of the wanted pairs, and say why others have none."""
    by_size = sorted(range(len(pairs)), key=lambda index: -pairs[index].n)
    largest = set(by_size[:MOST_INTERVALS_AT_ONCE])
    wanted = set(more_intervals)
    for index, (pair, description) in enumerate(zip(pairs, described, strict=True)):
        reasons = {"interval": NOT_AMONG_LARGEST}
        if index in largest or (pair.a.name, pair.b.name) in wanted:
            description["interval"], reasons = pair_interval(
                pair, readings.clusters, seed=seed, n_resamples=n_resamples
            )
        description["undefined"].update(reasons)


def _measure_labels(labels: Sequence[HumanLabel], undefined: dict[str, str]) -> dict[str, Any]:
    """Alphas and Fleiss' kappas over all labels; adds the reasons of the undefined ones."""
    classes = count_ratings(((label.response_id, int(label.unacceptable)) for label in labels), N_CLASSES)
    levels = count_ratings(
        ((label.response_id, label.severity - 1) for label in labels if label.severity is not None), N_LEVELS
    )
    alphas = {
        "nominal_binary": krippendorff_alpha(classes, "nominal"),
        "nominal": krippendorff_alpha(levels, "nominal"),
        "ordinal": krippendorff_alpha(levels, "ordinal"),
        "interval": krippendorff_alpha(levels, "interval"),
    }
    fleiss, fleiss_binary = fleiss_kappa(levels), fleiss_kappa(classes)
    figures = {
        **{f"alpha.{name}": measure for name, measure in alphas.items()},
        "fleiss_kappa": fleiss.measure,
        "fleiss_kappa_binary": fleiss_binary.measure,
    }
    undefined.update({name: measure.reason for name, measure in figures.items() if measure.reason})
    return {
        "alpha": {name: measure.value for name, measure in alphas.items()},
        "alpha_n": {
            "n_rows": int((levels.sum(axis=1) >= 2).sum()),
            "n_rows_binary": int((classes.sum(axis=1) >= 2).sum()),
        },
        "fleiss_kappa": fleiss.measure.value,
        "fleiss_kappa_binary": fleiss_binary.measure.value,
        "fleiss": {"severity": _rests_on(fleiss, levels), "binary": _rests_on(fleiss_binary, classes)},
    }


def _rests_on(fleiss: FleissKappa, counts: Counts) -> dict[str, int | None]:
    """What a Fleiss kappa used: m ratings on n rows, and the rated rows it could not use."""
    return {"m": fleiss.n_raters, "n": fleiss.n_items, "n_left_out": int(counts.shape[0]) - fleiss.n_items}


def count_labels(labels: Sequence[HumanLabel]) -> dict[str, int]:
    """Count labels, who gave them, and the responses on which they agree or are contested."""
    verdicts = Counter(joint.verdict for joint in consensus(labels).values())
    return {
        "n": len(labels),
        "n_annotators": len({label.annotator for label in labels} - {None}),
        "n_anonymous": sum(label.annotator is None for label in labels),
        "n_responses": verdicts.total(),
        "n_contested": verdicts[CONTESTED],
        "n_consensus": verdicts.total() - verdicts[CONTESTED],
        "n_inconsistent": sum(
            is_inconsistent(is_unacceptable=label.unacceptable, severity=label.severity) for label in labels
        ),
    }
