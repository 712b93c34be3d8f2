"""Every pair of readers with a response in common: their tables, figures and intervals.

All pairs are counted in one sparse product of "who gave what" with itself, so the work follows
the readings that really meet, not the number of pairs squared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judging.stats.classification import (
    ONE_CLASS,
    Counts,
    Floats,
    chance_within_one_step,
    exact_match,
    kappas,
    within_one_step,
)
from judging.stats.intervals import (
    FEWEST_PROMPTS,
    LEVEL,
    named_seed,
    percentile_interval,
    resample_tables,
)
from judging.stats.readers import Reader, ReaderKind, Readings

N_CLASSES: Final = 2
N_LEVELS: Final = 5
NO_COMMON_SCALE: Final = "no_common_scale"
FEW_PROMPTS: Final = "few_prompts"
UNDEFINED_RESAMPLES: Final = "undefined_resamples"

SCALE_METRICS: Final = ("exact_match", "within_one_step", "kappa", "kappa_linear", "kappa_quadratic")
BINARY_METRICS: Final = ("binary_accuracy", "binary_kappa")

_KINDS: Final[dict[tuple[ReaderKind, ReaderKind], str]] = {
    ("human", "human"): "human-human",
    ("judge", "human"): "judge-human",
    ("judge", "consensus"): "judge-human",
    ("judge", "judge"): "judge-judge",
    ("rule", "human"): "rule-human",
    ("rule", "consensus"): "rule-human",
}
PAIR_KINDS: Final = ("human-human", "judge-human", "judge-judge", "rule-human")


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two readers with at least one response in common, and their cross tables (`a` in the rows)."""

    kind: str
    a: Reader
    b: Reader
    classes: Counts
    levels: Counts

    @property
    def n(self) -> int:
        """Responses read by both."""
        return int(self.classes.sum())

    @property
    def n_missing(self) -> int:
        """Responses of `b` that `a` lacks; between equals, those read by exactly one."""
        of_b = self.b.items.size - self.n
        return of_b if self.kind in ("judge-human", "rule-human") else of_b + self.a.items.size - self.n


def tabulate_pairs(readings: Readings) -> list[Pair]:
    """Return every pair that has a response in common, by kind and then by reader."""
    readers = readings.readers
    keys, classes = _cross_tables(readings, [reader.classes for reader in readers], N_CLASSES)
    level_keys, levels = _cross_tables(readings, [reader.levels for reader in readers], N_LEVELS)
    level_table = dict(zip(level_keys.tolist(), levels, strict=True))
    nothing = np.zeros((N_LEVELS, N_LEVELS), dtype=np.int64)
    pairs = []
    for key, table in zip(keys.tolist(), classes, strict=True):
        a, b = readers[key // len(readers)], readers[key % len(readers)]
        kind = _KINDS.get((a.kind, b.kind))
        if kind is not None:
            pairs.append(Pair(kind, a, b, table, level_table.get(key, nothing)))
    # The keys ascend with the readers' order, and sorting is stable.
    return sorted(pairs, key=lambda pair: PAIR_KINDS.index(pair.kind))


def metric_values(classes: NDArray[np.number], levels: NDArray[np.number]) -> dict[str, Floats]:
    """Return every agreement figure for stacks of 2 × 2 and 5 × 5 tables; NaN where undefined."""
    return {
        "exact_match": exact_match(levels),
        "within_one_step": within_one_step(levels),
        "kappa": kappas(levels),
        "kappa_linear": kappas(levels, "linear"),
        "kappa_quadratic": kappas(levels, "quadratic"),
        "binary_accuracy": exact_match(classes),
        "binary_kappa": kappas(classes),
    }


def describe_pairs(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Return the JSON form of each pair, without interval."""
    if not pairs:
        return []
    levels = np.stack([pair.levels for pair in pairs])
    values = metric_values(np.stack([pair.classes for pair in pairs]), levels)
    values["chance_within_one_step"] = chance_within_one_step(levels)
    return [
        _describe(pair, {metric: float(column[index]) for metric, column in values.items()})
        for index, pair in enumerate(pairs)
    ]


def class_tables_by_prompt(pairs: Sequence[Pair], clusters: Counts) -> Counts:
    """Return the 2 × 2 tables of several pairs by prompt: shape (n prompts, n pairs, 2, 2).

    Prompts are those in which any of the pairs has a common response.
    """
    rows = []
    for index, pair in enumerate(pairs):
        of_a, of_b = _common(pair)
        cells = index * N_CLASSES**2 + pair.a.classes[of_a] * N_CLASSES + pair.b.classes[of_b]
        rows.append(np.stack([clusters[pair.a.items[of_a]], cells]))
    prompts, cells = np.concatenate(rows, axis=1) if rows else np.zeros((2, 0), dtype=np.int64)
    seen, prompt = np.unique(prompts, return_inverse=True)
    tables = np.zeros((seen.size, len(pairs) * N_CLASSES**2), dtype=np.int64)
    np.add.at(tables, (prompt, cells), 1)
    return tables.reshape(seen.size, len(pairs), N_CLASSES, N_CLASSES)


def pair_interval(
    pair: Pair, clusters: Counts, *, seed: int, n_resamples: int
) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Resample the pair's common prompts.

    Returns:
        The JSON form of the intervals, or None below 20 common prompts, and reasons by
        `interval` or `interval.<metric>` for what is withheld. `n_undefined` counts resamples
        in which any shown figure was undefined.
    """
    by_prompt = _tables_by_prompt(pair, clusters)
    n_clusters = by_prompt.shape[0]
    if n_clusters < FEWEST_PROMPTS:
        return None, {"interval": FEW_PROMPTS}
    total = by_prompt.sum(axis=0)
    points = metric_values(*_split(total))
    n_scale_prompts = int((_split(by_prompt)[1].sum(axis=(1, 2)) > 0).sum())
    resampled = resample_tables(
        by_prompt, n_resamples=n_resamples, seed=named_seed(seed, pair.kind, pair.a.name, pair.b.name)
    )
    values = metric_values(*_split(resampled))
    intervals: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    n_undefined_by_metric: dict[str, int] = {}
    any_undefined = np.zeros(n_resamples, dtype=bool)
    for metric, column in values.items():
        intervals[metric] = None
        if np.isnan(points[metric]):
            continue
        if metric in SCALE_METRICS and n_scale_prompts < FEWEST_PROMPTS:
            reasons[f"interval.{metric}"] = FEW_PROMPTS
            continue
        outcome = percentile_interval(column)
        n_undefined_by_metric[metric] = outcome.n_undefined
        any_undefined |= np.isnan(column)
        if outcome.interval is None:
            reasons[f"interval.{metric}"] = UNDEFINED_RESAMPLES
        else:
            intervals[metric] = list(outcome.interval)
    return {
        **intervals,
        "method": "percentile bootstrap of prompts",
        "level": LEVEL,
        "n_clusters": n_clusters,
        "n_resamples": n_resamples,
        "n_undefined": int(any_undefined.sum()),
        "n_undefined_by_metric": n_undefined_by_metric,
    }, reasons


def _cross_tables(readings: Readings, codes: Sequence[Counts], n_codes: int) -> tuple[Counts, Counts]:
    """Cross every two readers' codes: keys a * n readers + b for a < b, and tables (n pairs, k, k)."""
    from scipy.sparse import csr_array

    n_readers = len(readings.readers)
    given = [code >= 0 for code in codes]
    rows = np.concatenate(
        [index * n_codes + code[has] for index, (code, has) in enumerate(zip(codes, given, strict=True))]
    )
    items = np.concatenate([reader.items[has] for reader, has in zip(readings.readers, given, strict=True)])
    shape = (n_readers * n_codes, readings.clusters.size)
    who_gave_what = csr_array((np.ones(rows.size, dtype=np.int64), (rows, items)), shape=shape)
    met = (who_gave_what @ who_gave_what.T).tocoo()
    left, right = met.row // n_codes, met.col // n_codes
    upper = left < right
    keys, where = np.unique((left * n_readers + right)[upper].astype(np.int64), return_inverse=True)
    tables = np.zeros((keys.size, n_codes, n_codes), dtype=np.int64)
    tables[where, (met.row % n_codes)[upper], (met.col % n_codes)[upper]] = met.data[upper]
    return keys, tables


def _tables_by_prompt(pair: Pair, clusters: Counts) -> Counts:
    """Return per common prompt the 2 × 2 and then the 5 × 5 table, flat: shape (n prompts, 29)."""
    of_a, of_b = _common(pair)
    prompts, prompt = np.unique(clusters[pair.a.items[of_a]], return_inverse=True)
    tables = np.zeros((prompts.size, N_CLASSES**2 + N_LEVELS**2), dtype=np.int64)
    np.add.at(tables, (prompt, pair.a.classes[of_a] * N_CLASSES + pair.b.classes[of_b]), 1)
    left, right = pair.a.levels[of_a], pair.b.levels[of_b]
    both = (left >= 0) & (right >= 0)
    np.add.at(tables, (prompt[both], N_CLASSES**2 + left[both] * N_LEVELS + right[both]), 1)
    return tables


def _common(pair: Pair) -> tuple[Counts, Counts]:
    """Where the responses read by both stand in each reader's arrays."""
    _, of_a, of_b = np.intersect1d(pair.a.items, pair.b.items, assume_unique=True, return_indices=True)
    return of_a, of_b


def _split(flat: NDArray[np.number]) -> tuple[NDArray[np.number], NDArray[np.number]]:
    lead = flat.shape[:-1]
    return (
        flat[..., : N_CLASSES**2].reshape(*lead, N_CLASSES, N_CLASSES),
        flat[..., N_CLASSES**2 :].reshape(*lead, N_LEVELS, N_LEVELS),
    )


def _describe(pair: Pair, values: Mapping[str, float]) -> dict[str, Any]:
    shown = {metric: None if np.isnan(value) else value for metric, value in values.items()}
    n_scale = int(pair.levels.sum())
    undefined = {
        metric: ONE_CLASS if metric in BINARY_METRICS or n_scale else NO_COMMON_SCALE
        for metric, value in shown.items()
        if value is None
    }
    return {
        "a": pair.a.name,
        "b": pair.b.name,
        "kind": pair.kind,
        "n": pair.n,
        "n_scale": n_scale,
        "n_missing": pair.n_missing,
        **shown,
        "confusion": pair.classes.tolist(),
        "interval": None,
        "undefined": undefined,
    }
