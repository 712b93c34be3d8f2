"""Intervals: Wilson for rates, a bootstrap that resamples prompts for everything else.

Rows of one prompt resemble each other, so it is prompts that are drawn again, never rows. A
resample is a row of weights (how often each prompt was drawn); its table is those weights
times the per-prompt tables, and no row is touched again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import fsum, sqrt
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judging.stats.classification import Floats

DEFAULT_SEED: Final = 20260629
DEFAULT_RESAMPLES: Final = 2000
LEVEL: Final = 0.95
FEWEST_PROMPTS: Final = 20
MOST_UNDEFINED_SHARE: Final = 0.05
_DRAWS_AT_ONCE: Final = 2_000_000

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ResampledInterval:
    """A percentile interval; None when too many of the resamples were undefined."""

    interval: Interval | None
    n_undefined: int


def wilson(rate: float, n: float, level: float = LEVEL) -> Interval:
    """Wilson's score interval of a rate seen in n rows; n may be an effective, fractional size.

    Right at 0 and 1, where an estimate ± error has no width.

    Raises:
        ValueError: n is not positive or the rate leaves 0-1.

    Checked against: statsmodels 0.15.0 `proportion_confint(method="wilson")`.
    """
    if n <= 0 or not 0 <= rate <= 1:
        raise ValueError(f"a rate of {rate} in {n} rows: expected 0 to 1 in more than 0 rows")
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = rate + z * z / (2 * n)
    margin = z * sqrt((rate * (1 - rate) + z * z / (4 * n)) / n)
    scale = 1 + z * z / n
    low = 0.0 if rate == 0 else max(0.0, (centre - margin) / scale)
    high = 1.0 if rate == 1 else min(1.0, (centre + margin) / scale)
    return low, high


def clopper_pearson(count: int, n: int, level: float = LEVEL) -> Interval:
    """The exact interval of `count` in n independent rows: never too narrow, often too wide.

    Raises:
        ValueError: n is 0 or the count is not from 0 to n.
    """
    from scipy.special import betaincinv

    if n <= 0 or not 0 <= count <= n:
        raise ValueError(f"{count} of {n} rows: expected a count from 0 to a positive n")
    tail = (1 - level) / 2
    low = float(betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def standard_error_of_prompt_means(means: Sequence[float]) -> float:
    """Standard error of the mean of C prompt means; needs C of at least 2."""
    n_prompts = len(means)
    centre = fsum(means) / n_prompts
    return sqrt(fsum((mean - centre) ** 2 for mean in means) / (n_prompts * (n_prompts - 1)))


def clustered_standard_error(flagged: Sequence[int], totals: Sequence[int]) -> float:
    """Standard error of the pooled rate with prompts as clusters, C / (C - 1) corrected.

    Checked against: statsmodels 0.15.0 OLS with `cov_type="cluster"`.
    """
    n_prompts, n_rows = len(totals), sum(totals)
    rate = sum(flagged) / n_rows
    residuals = fsum((k - n * rate) ** 2 for k, n in zip(flagged, totals, strict=True))
    return sqrt(n_prompts / (n_prompts - 1) * residuals) / n_rows


def effective_size(flagged: Sequence[int], totals: Sequence[int]) -> float | None:
    """How many independent rows a rate over prompts is worth: n ÷ design effect, at most n.

    At a rate of 0 or 1 the design effect cannot be seen: the number of prompts. With one row a
    prompt: n. With a single prompt: None, since nothing shows how prompts differ.

    Args:
        flagged: per prompt, rows that are Unacceptable.
        totals: per prompt, decided rows, at least 1.
    """
    n_prompts, n_rows = len(totals), sum(totals)
    if n_prompts < 2:
        return None
    if n_rows == n_prompts or sum(flagged) in (0, n_rows):
        return float(n_prompts)
    means = [k / n for k, n in zip(flagged, totals, strict=True)]
    rate = fsum(means) / n_prompts
    variance = standard_error_of_prompt_means(means) ** 2
    within_limits = variance * n_rows > rate * (1 - rate)
    return rate * (1 - rate) / variance if within_limits else float(n_rows)


def named_seed(seed: int, *names: str) -> int:
    """Combine a seed with names, so that each figure has draws of its own, the same every time."""
    return int.from_bytes(sha256("\x1f".join([str(seed), *names]).encode()).digest()[:8])


def resample_weights(n_clusters: int, *, n_resamples: int, seed: int) -> Iterator[Floats]:
    """Draw n clusters with replacement, again and again: blocks of shape (b, n) of draw counts."""
    generator = np.random.default_rng(seed)
    block_size = max(1, _DRAWS_AT_ONCE // n_clusters)
    for start in range(0, n_resamples, block_size):
        size = min(block_size, n_resamples - start)
        draws = generator.integers(0, n_clusters, size=(size, n_clusters))
        draws += np.arange(size)[:, None] * n_clusters
        counts = np.bincount(draws.ravel(), minlength=size * n_clusters)
        yield counts.reshape(size, n_clusters).astype(np.float64)


def resample_tables(tables: NDArray[Any], *, n_resamples: int, seed: int) -> Floats:
    """Resample clusters and add up their tables.

    Args:
        tables: shape (n clusters, ...), one table of counts per cluster.

    Returns:
        Shape (n_resamples, ...).
    """
    flat = tables.reshape(tables.shape[0], -1).astype(np.float64)
    blocks = resample_weights(tables.shape[0], n_resamples=n_resamples, seed=seed)
    return np.concatenate([weights @ flat for weights in blocks]).reshape(n_resamples, *tables.shape[1:])


def percentile_interval(values: Floats, level: float = LEVEL) -> ResampledInterval:
    """The middle `level` of resampled values; withheld when over 5 % of them are undefined (NaN)."""
    defined = values[~np.isnan(values)]
    n_undefined = int(values.size - defined.size)
    if not defined.size or n_undefined > MOST_UNDEFINED_SHARE * values.size:
        return ResampledInterval(None, n_undefined)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return ResampledInterval((float(low), float(high)), n_undefined)


def jackknife_standard_error(tables: NDArray[Any], statistic: Callable[[Floats], Floats]) -> float | None:
    """Standard error by leaving out one cluster at a time: the bootstrap's check without chance.

    None with fewer than two clusters, or when the statistic is undefined without one of them.

    Args:
        tables: shape (n clusters, ...).
        statistic: takes tables of shape (n, ...) and gives n values.
    """
    n_clusters = tables.shape[0]
    if n_clusters < 2:
        return None
    values = statistic((tables.sum(axis=0) - tables).astype(np.float64))
    if np.isnan(values).any():
        return None
    return sqrt((n_clusters - 1) / n_clusters * float(((values - values.mean()) ** 2).sum()))
