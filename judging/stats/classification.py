"""Two readers of the same rows: agreement and classification figures from their cross table.

A table has reader `a` in its rows and `b` in its columns, k categories each; stacks of tables
(any leading axes) are measured at once, which is how thousands of pairs and of bootstrap
resamples stay cheap. Counts are whole numbers, so that an undefined figure is found exactly:
inside this package it is NaN in an array and `Measure(None, reason)` on its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Weighting = Literal["unweighted", "linear", "quadratic"]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

NO_ROWS = "no_common_rows"
ONE_CLASS = "one_class"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure, or None with the reason why it is undefined."""

    value: float | None
    reason: str | None = None


def cross_table(a: Sequence[int] | Counts, b: Sequence[int] | Counts, n_categories: int) -> Counts:
    """Count pairs of codes 0..k-1 given to the same rows.

    Raises:
        ValueError: lengths differ or a code is outside the categories.
    """
    rows, columns = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
    if rows.shape != columns.shape:
        raise ValueError(f"{rows.size} codes beside {columns.size}: both readers need the same rows")
    codes = np.concatenate([rows, columns])
    if codes.size and not (0 <= codes.min() and codes.max() < n_categories):
        raise ValueError(f"codes must run from 0 to {n_categories - 1}")
    flat = np.bincount(rows * n_categories + columns, minlength=n_categories**2)
    return flat.reshape(n_categories, n_categories)


def exact_match(tables: NDArray[Any]) -> Floats:
    """Share of rows read alike, for each table; NaN without rows."""
    counts = np.asarray(tables, dtype=np.float64)
    return _divide(np.einsum("...ii->...", counts), counts.sum(axis=(-2, -1)))


def within_one_step(tables: NDArray[Any]) -> Floats:
    """Share of rows whose two scores differ by at most 1; NaN without rows.

    Read it beside `chance_within_one_step`, which is often above 0.7 on skewed scores.
    """
    counts = np.asarray(tables, dtype=np.float64)
    return _divide((counts * _near(counts.shape[-1])).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)))


def chance_within_one_step(tables: NDArray[Any]) -> Floats:
    """Share within one step that unrelated readers with the same marginals would reach."""
    counts = np.asarray(tables, dtype=np.float64)
    expected = _marginal_products(counts)
    return _divide((expected * _near(counts.shape[-1])).sum(axis=(-2, -1)), expected.sum(axis=(-2, -1)))


def kappas(tables: NDArray[Any], weighting: Weighting = "unweighted") -> Floats:
    """Cohen's kappa of each table, plain or weighted by distance on the full scale.

    1 - n sum(w O) / sum(w R C), with O the counts and R, C the marginals: numerator and
    denominator are whole numbers, exact to 20 million rows. A reader that gives one class only
    has kappa exactly 0; both giving the same single class is NaN, and so is a table without rows.

    Args:
        tables: shape (..., k, k); k is the whole scale, also where a level is unused. Leaving
            levels out would close the gaps between the others.

    Source: Cohen 1960 and 1968.
    Checked against: scikit-learn 1.9.1 `cohen_kappa_score` with `labels`, statsmodels 0.15.0.
    """
    counts = np.asarray(tables, dtype=np.float64)
    weights = _distances(counts.shape[-1], weighting)
    expected = (_marginal_products(counts) * weights).sum(axis=(-2, -1))
    observed = counts.sum(axis=(-2, -1)) * (counts * weights).sum(axis=(-2, -1))
    return _divide(expected - observed, expected)


def cohen_kappa(table: Counts, weighting: Weighting = "unweighted") -> Measure:
    """Cohen's kappa of one table, with the reason where it is undefined."""
    value = float(kappas(table, weighting))
    if not np.isnan(value):
        return Measure(value)
    return Measure(None, ONE_CLASS if table.sum() else NO_ROWS)


def kappa_standard_error(table: Counts) -> Measure:
    """Large-sample standard error of the unweighted kappa, not assuming kappa = 0.

    For independent rows only; rows of one prompt are not, and headline intervals resample prompts.

    Source: Fleiss, Cohen and Everitt 1969.
    Checked against: statsmodels 0.15.0 `cohens_kappa(...).std_kappa`.
    """
    kappa = cohen_kappa(table)
    if kappa.value is None:
        return kappa
    n = float(table.sum())
    shares = table / n
    of_a, of_b = shares.sum(axis=1), shares.sum(axis=0)
    chance = float(of_a @ of_b)
    gap = 1 - kappa.value
    diagonal = float((np.diag(shares) * (1 - (of_a + of_b) * gap) ** 2).sum())
    sums = (of_b[:, None] + of_a[None, :]) ** 2
    off_diagonal = float((shares * sums).sum() - (np.diag(shares) * np.diag(sums)).sum()) * gap**2
    variance = diagonal + off_diagonal - (kappa.value - chance * gap) ** 2
    return Measure(sqrt(max(variance, 0.0) / n) / (1 - chance))


def binary_metrics(table: Counts) -> dict[str, Measure]:
    """Classification figures with Unacceptable positive and the human in the columns.

    Any 0 / 0 is undefined, where scikit-learn would say 0.

    Args:
        table: 2 × 2 in the order Acceptable, Unacceptable; predictions in the rows.
    """
    (tn, fn), (fp, tp) = ((int(cell) for cell in row) for row in table)
    recall, specificity = _ratio(tp, tp + fn), _ratio(tn, tn + fp)
    balanced = Measure(None, "zero_denominator")
    if recall.value is not None and specificity.value is not None:
        balanced = Measure((recall.value + specificity.value) / 2)
    return {
        "accuracy": _ratio(tp + tn, tp + tn + fp + fn),
        "precision": _ratio(tp, tp + fp),
        "recall": recall,
        "specificity": specificity,
        "f1": _ratio(2 * tp, 2 * tp + fp + fn),
        "balanced_accuracy": balanced,
        "mcc": _ratio(tp * tn - fp * fn, sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))),
    }


def roc_auc(scores: Sequence[float], unacceptable: Sequence[bool]) -> Measure:
    """Chance that an Unacceptable row scores above an Acceptable one, a tie counting half.

    One class only: undefined.

    Checked against: scikit-learn 1.9.1 `roc_auc_score`.
    """
    values, flags = np.asarray(scores, dtype=np.float64), np.asarray(unacceptable, dtype=bool)
    positive, negative = values[flags], np.sort(values[~flags])
    if not positive.size or not negative.size:
        return Measure(None, ONE_CLASS if values.size else NO_ROWS)
    below = np.searchsorted(negative, positive, side="left").sum()
    up_to = np.searchsorted(negative, positive, side="right").sum()
    return Measure(float(below + up_to) / (2 * positive.size * negative.size))


def _ratio(numerator: float, denominator: float) -> Measure:
    return Measure(numerator / denominator) if denominator else Measure(None, "zero_denominator")


def _divide(numerators: NDArray[Any], denominators: NDArray[Any]) -> Floats:
    ratios: Floats = np.full(np.shape(denominators), np.nan)
    np.divide(numerators, denominators, out=ratios, where=np.asarray(denominators) != 0)
    return ratios


def _marginal_products(counts: Floats) -> Floats:
    products: Floats = counts.sum(axis=-1)[..., :, None] * counts.sum(axis=-2)[..., None, :]
    return products


def _distances(n_categories: int, weighting: Weighting) -> Floats:
    steps = np.abs(np.subtract.outer(np.arange(n_categories), np.arange(n_categories))).astype(np.float64)
    if weighting == "unweighted":
        return (steps > 0).astype(np.float64)
    return steps if weighting == "linear" else steps**2


def _near(n_categories: int) -> NDArray[np.bool_]:
    return _distances(n_categories, "linear") <= 1
