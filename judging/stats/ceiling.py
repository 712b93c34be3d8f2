"""The human ceiling: how well people agree with each other, the yardstick for any judge."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from judging.stats.classification import Floats, kappas
from judging.stats.intervals import (
    FEWEST_PROMPTS,
    LEVEL,
    named_seed,
    percentile_interval,
    resample_tables,
)
from judging.stats.pairs import (
    FEW_PROMPTS,
    UNDEFINED_RESAMPLES,
    Pair,
    class_tables_by_prompt,
)
from judging.stats.readers import Readings

MOST_PAIRS_RESAMPLED: Final = 50
NO_DEFINED_PAIR: Final = "no_defined_kappa"
TOO_MANY_PAIRS: Final = "too_many_pairs"


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Pairs whose kappas are averaged, and that mean in each resample (None: not resampled)."""

    pairs: Sequence[Pair]
    draws: Floats | None

    @property
    def mean(self) -> float | None:
        """The unweighted mean of the defined kappas."""
        if not self.pairs:
            return None
        value = float(_mean_of_defined(kappas(np.stack([pair.classes for pair in self.pairs]))))
        return None if np.isnan(value) else value


def measure_human_ceiling(
    pairs: Sequence[Pair], readings: Readings, *, seed: int, n_resamples: int
) -> dict[str, Any]:
    """Set judges and rule beside the agreement of people with each other.

    `mean_vs_each` is comparable with the human mean: one reader against one person. `vs_consensus`
    is not: a pooled label is less noisy than any single one, so it flatters whoever is compared
    with it. Means are unweighted over the defined kappas. `difference` is `mean_vs_each` less
    the human mean; only its interval can carry a claim that a judge matches people. Intervals
    resample the prompts of all pairs together, for up to 50 pairs of people; under 20 prompts
    they carry a warning.
    """
    people_pairs = [pair for pair in pairs if pair.kind == "human-human"]
    each_pairs: dict[tuple[str, str], list[Pair]] = {}
    consensus_pairs: dict[tuple[str, str], Pair] = {}
    for pair in pairs:
        if pair.b.kind == "consensus":
            consensus_pairs[pair.a.kind, pair.a.name] = pair
        elif pair.kind in ("judge-human", "rule-human"):
            each_pairs.setdefault((pair.a.kind, pair.a.name), []).append(pair)
    machines = sorted({*each_pairs, *consensus_pairs})
    groups = [people_pairs, *(each_pairs.get(machine, []) for machine in machines)]
    n_prompts = 0
    draws: list[Floats | None] = [None] * len(groups)
    if 0 < len(people_pairs) <= MOST_PAIRS_RESAMPLED:
        n_prompts, resampled = _resample_means(groups, readings, seed=seed, n_resamples=n_resamples)
        draws = list(resampled)
    people, *others = (_Group(members, means) for members, means in zip(groups, draws, strict=True))

    undefined: dict[str, str] = {}
    if people.mean is None:
        undefined["mean_pairwise_binary_kappa"] = NO_DEFINED_PAIR
    document: dict[str, Any] = {
        "mean_pairwise_binary_kappa": people.mean,
        "n_pairs": int((~np.isnan([_kappa(pair) for pair in people_pairs])).sum()),
        "interval": _interval(people, people.draws, "mean_pairwise_binary_kappa", undefined),
        "method": "percentile bootstrap of prompts",
        "level": LEVEL,
        "n_clusters": n_prompts,
        "n_resamples": n_resamples,
        "warning": FEW_PROMPTS if 0 < n_prompts < FEWEST_PROMPTS else None,
        "judges": {},
        "rules": {},
        "undefined": undefined,
    }
    for key, wanted in (("judges", "judge"), ("rules", "rule")):
        document[key] = {
            name: _compare(group, consensus_pairs.get((kind, name)), people)
            for (kind, name), group in zip(machines, others, strict=True)
            if kind == wanted
        }
    return document


def _compare(group: _Group, with_consensus: Pair | None, people: _Group) -> dict[str, Any]:
    """One judge or rule against every person, against the consensus, and less the human mean."""
    vs_consensus = np.nan if with_consensus is None else _kappa(with_consensus)
    difference = None
    if group.mean is not None and people.mean is not None:
        difference = group.mean - people.mean
    figures = {
        "mean_vs_each": group.mean,
        "vs_consensus": None if np.isnan(vs_consensus) else float(vs_consensus),
        "difference": difference,
    }
    undefined = {name: NO_DEFINED_PAIR for name, value in figures.items() if value is None}
    draws = None
    if group.draws is not None and people.draws is not None:
        draws = group.draws - people.draws
    return {
        **figures,
        "difference_interval": _interval(people, draws, "difference", undefined),
        "undefined": undefined,
    }


def _interval(
    people: _Group, draws: Floats | None, metric: str, undefined: dict[str, str]
) -> list[float] | None:
    """The interval of one figure; where there is none, adds the reason."""
    if metric in undefined:
        return None
    if draws is None:
        undefined[f"interval.{metric}"] = TOO_MANY_PAIRS if people.pairs else NO_DEFINED_PAIR
        return None
    outcome = percentile_interval(draws)
    if outcome.interval is None:
        undefined[f"interval.{metric}"] = UNDEFINED_RESAMPLES
        return None
    return list(outcome.interval)


def _resample_means(
    groups: Sequence[Sequence[Pair]], readings: Readings, *, seed: int, n_resamples: int
) -> tuple[int, list[Floats]]:
    """Resample the prompts of all groups together: their number, and each group's mean kappa by draw."""
    tables = class_tables_by_prompt([pair for group in groups for pair in group], readings.clusters)
    resampled = resample_tables(tables, n_resamples=n_resamples, seed=named_seed(seed, "human ceiling"))
    values = kappas(resampled)
    starts = np.cumsum([0, *(len(group) for group in groups)])
    means = [_mean_of_defined(values[:, start:end]) for start, end in pairwise(starts)]
    return tables.shape[0], means


def _mean_of_defined(values: Floats) -> Floats:
    """Mean over the last axis without NaN; NaN where nothing is defined."""
    defined = ~np.isnan(values)
    counts = defined.sum(axis=-1)
    sums = np.where(defined, values, 0.0).sum(axis=-1)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


def _kappa(pair: Pair) -> float:
    return float(kappas(pair.classes))
