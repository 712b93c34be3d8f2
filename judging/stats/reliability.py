"""Any number of raters on the same rows: Krippendorff's alpha and Fleiss' kappa.

Both work from counts, shape (n items, k categories): how many raters put item i in category c.
They are ratios of whole numbers, kept as fractions to the end, so 0 is 0 and 0 / 0 is seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from judging.stats.classification import ONE_CLASS, Counts, Measure

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True)
class FleissKappa:
    """Fleiss' kappa over the `n_items` rows that have exactly `n_raters` ratings."""

    measure: Measure
    n_items: int
    n_raters: int | None


def count_ratings(ratings: Iterable[tuple[int, int]], n_categories: int) -> Counts:
    """Count (item, category code) ratings by item, items ascending; shape (n, k)."""
    pairs = np.array(list(ratings), dtype=np.int64).reshape(-1, 2)
    items, positions = np.unique(pairs[:, 0], return_inverse=True)
    flat = np.bincount(positions * n_categories + pairs[:, 1], minlength=items.size * n_categories)
    return flat.reshape(items.size, n_categories)


def krippendorff_alpha(counts: Counts, level: Level) -> Measure:
    """1 minus observed over expected disagreement, over items with at least two ratings.

    Missing ratings are normal. All values equal: undefined, not 1. A single disagreement in
    otherwise constant data gives exactly 0: agreement by chance alone is that high.

    Args:
        counts: shape (n, k), categories in order and evenly spaced for `interval`.
        level: how far apart two categories are. `ordinal` is Krippendorff's own: the ratings
            that lie between them, which is not a difference of ranks.

    Source: Krippendorff, Content Analysis, 2019, chapter 12.
    Checked against: the `krippendorff` package 0.9.0 and the four-coder example.
    """
    sizes = counts.sum(axis=1)
    paired, sizes = counts[sizes >= 2], sizes[sizes >= 2]
    totals = [int(total) for total in paired.sum(axis=0)]
    n = sum(totals)
    if not n:
        return Measure(None, "no_item_rated_twice")
    distances = _squared_distances(totals, level)
    categories = range(len(totals))
    expected = sum(distances[c][d] * totals[c] * totals[d] for c in categories for d in categories)
    if not expected:
        return Measure(None, ONE_CLASS)
    observed = Fraction(0)
    for size in np.unique(sizes):
        block = paired[sizes == size]
        together = block.T @ block - np.diag(block.sum(axis=0))
        disagreement = sum(distances[c][d] * int(together[c, d]) for c in categories for d in categories)
        observed += Fraction(disagreement) / int(size - 1)
    return Measure(float(1 - (n - 1) * observed / expected))


def fleiss_kappa(counts: Counts) -> FleissKappa:
    """Fleiss' kappa over the items with the most frequent number of ratings m, at least 2.

    Among equally frequent numbers the larger m is taken. Items with another number are left
    out: the kappa is not defined for them (alpha uses them all).

    Source: Fleiss 1971.
    Checked against: statsmodels 0.15.0 `fleiss_kappa`.
    """
    sizes = counts.sum(axis=1)
    several = sizes[sizes >= 2]
    if not several.size:
        return FleissKappa(Measure(None, "no_item_rated_twice"), 0, None)
    frequencies = np.bincount(several)
    m = int(np.flatnonzero(frequencies == frequencies.max())[-1])
    block = counts[sizes == m]
    n = int(block.shape[0])
    agreeing = Fraction(int((block * (block - 1)).sum()), n * m * (m - 1))
    chance = Fraction(sum(int(total) ** 2 for total in block.sum(axis=0)), (n * m) ** 2)
    if chance == 1:
        return FleissKappa(Measure(None, ONE_CLASS), n, m)
    return FleissKappa(Measure(float((agreeing - chance) / (1 - chance))), n, m)


def _squared_distances(totals: list[int], level: Level) -> list[list[Fraction]]:
    size = len(totals)
    if level == "nominal":
        return [[Fraction(c != d) for d in range(size)] for c in range(size)]
    if level == "interval":
        return [[Fraction((c - d) ** 2) for d in range(size)] for c in range(size)]
    return [[_ordinal_distance(totals, min(c, d), max(c, d)) for d in range(size)] for c in range(size)]


def _ordinal_distance(totals: list[int], low: int, high: int) -> Fraction:
    return (sum(totals[low : high + 1]) - Fraction(totals[low] + totals[high], 2)) ** 2
