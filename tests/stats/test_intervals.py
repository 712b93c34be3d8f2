import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from judging.stats.classification import exact_match, kappas
from judging.stats.intervals import (
    clopper_pearson,
    clustered_standard_error,
    effective_size,
    jackknife_standard_error,
    named_seed,
    percentile_interval,
    resample_tables,
    resample_weights,
    standard_error_of_prompt_means,
    wilson,
)
from tests.stats.evidence import golden

FLAGS = golden("cluster_by_prompt_rate")[0]["flags_by_prompt"]
FLAGGED = [sum(row) for row in FLAGS]
TOTALS = [len(row) for row in FLAGS]


@pytest.mark.parametrize(("count", "n"), golden("proportion_intervals")[0]["cases"])
def test_proportion_intervals(count: int, n: int) -> None:
    expected = golden("proportion_intervals")[1][f"{count}/{n}"]

    assert wilson(count / n, n) == pytest.approx(expected["wilson"], abs=1e-8)
    assert clopper_pearson(count, n) == pytest.approx(expected["clopper_pearson"], abs=1e-8)


def test_wilson_ends_are_exact_at_0_and_1() -> None:
    assert wilson(0.0, 300)[0] == 0.0
    assert wilson(1.0, 300)[1] == 1.0


@pytest.mark.parametrize(("rate", "n"), [(0.5, 0), (-0.1, 10), (1.1, 10)])
def test_wilson_of_an_impossible_rate_is_an_error(rate: float, n: float) -> None:
    with pytest.raises(ValueError, match="a rate of"):
        wilson(rate, n)


@pytest.mark.parametrize(("count", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_clopper_pearson_of_an_impossible_count_is_an_error(count: int, n: int) -> None:
    with pytest.raises(ValueError, match="of"):
        clopper_pearson(count, n)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_proportion_intervals_equal_statsmodels_and_mirror(pair: tuple[int, int]) -> None:
    count, n = pair
    low, high = wilson(count / n, n)

    assert (low, high) == pytest.approx(proportion_confint(count, n, method="wilson"), abs=1e-9)
    assert clopper_pearson(count, n) == pytest.approx(proportion_confint(count, n, method="beta"), abs=1e-9)
    assert wilson(1 - count / n, n) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_cluster_by_prompt_rate() -> None:
    _, expected = golden("cluster_by_prompt_rate")
    means = [flagged / total for flagged, total in zip(FLAGGED, TOTALS, strict=True)]

    assert clustered_standard_error(FLAGGED, TOTALS) == pytest.approx(
        expected["cluster_se_statsmodels_corrected"], abs=1e-8
    )
    assert standard_error_of_prompt_means(means) == pytest.approx(expected["se_of_prompt_means"], abs=1e-8)


def test_wilson_with_design_effect() -> None:
    _, expected = golden("wilson_with_design_effect")

    n_eff = effective_size(FLAGGED, TOTALS)

    assert n_eff is not None
    assert n_eff == pytest.approx(expected["n_eff"], abs=1e-8)
    assert sum(TOTALS) / n_eff == pytest.approx(expected["design_effect"], abs=1e-8)
    assert wilson(sum(FLAGGED) / sum(TOTALS), n_eff) == pytest.approx(expected["ci95"], abs=1e-8)


@pytest.mark.parametrize(
    ("flagged", "totals", "n_eff"),
    [
        pytest.param([0, 0, 0], [3, 3, 3], 3.0, id="rate 0: the prompts"),
        pytest.param([3, 3], [3, 3], 2.0, id="rate 1: the prompts"),
        pytest.param([1, 0, 0, 1], [1, 1, 1, 1], 4.0, id="one row a prompt: the rows"),
        pytest.param([1, 1, 1], [2, 2, 2], 6.0, id="prompts alike: at most the rows"),
        pytest.param([1], [3], None, id="one prompt"),
        pytest.param([], [], None, id="no prompt"),
    ],
)
def test_effective_size_at_the_extremes(flagged: list[int], totals: list[int], n_eff: float | None) -> None:
    assert effective_size(flagged, totals) == n_eff


def test_resample_weights_draw_as_many_clusters_as_there_are() -> None:
    weights = np.concatenate(list(resample_weights(7, n_resamples=50, seed=1)))

    assert weights.shape == (50, 7)
    assert set(weights.sum(axis=1)) == {7.0}


def test_resample_tables_are_the_same_for_a_seed_and_differ_between_seeds() -> None:
    tables = np.arange(40).reshape(10, 2, 2)

    first = resample_tables(tables, n_resamples=20, seed=1)

    assert np.array_equal(first, resample_tables(tables, n_resamples=20, seed=1))
    assert not np.array_equal(first, resample_tables(tables, n_resamples=20, seed=2))


def test_named_seed_depends_on_the_seed_and_each_name() -> None:
    seeds = {
        named_seed(1, "a", "b"),
        named_seed(1, "b", "a"),
        named_seed(1, "ab", ""),
        named_seed(2, "a", "b"),
    }

    assert len(seeds) == 4
    assert named_seed(1, "a", "b") in seeds


def test_bootstrap_and_jackknife_agree_on_independent_rows() -> None:
    # 400 clusters of one row at 25 % agreement: the standard error is sqrt(p (1 - p) / n).
    tables = np.zeros((400, 2, 2), dtype=np.int64)
    tables[:100, 0, 0] = 1
    tables[100:, 0, 1] = 1
    known = (0.25 * 0.75 / 400) ** 0.5

    resampled = exact_match(resample_tables(tables, n_resamples=2000, seed=3))

    assert resampled.std() == pytest.approx(known, rel=0.05)
    assert jackknife_standard_error(tables, exact_match) == pytest.approx(known, rel=0.01)


def test_jackknife_of_one_cluster_is_undefined() -> None:
    assert jackknife_standard_error(np.ones((1, 2, 2)), exact_match) is None


def test_jackknife_undefined_without_one_of_the_clusters_is_undefined() -> None:
    tables = np.array([[[5, 0], [0, 0]], [[0, 0], [0, 5]]])

    assert jackknife_standard_error(tables, kappas) is None


def test_percentile_interval_of_known_values() -> None:
    outcome = percentile_interval(np.arange(101, dtype=float))

    assert outcome.interval == pytest.approx((2.5, 97.5))
    assert outcome.n_undefined == 0


@pytest.mark.parametrize(("n_undefined", "is_shown"), [(5, True), (6, False), (100, False)])
def test_percentile_interval_with_over_5_percent_undefined_is_withheld(
    n_undefined: int, is_shown: bool
) -> None:
    values = np.ones(100)
    values[:n_undefined] = np.nan

    outcome = percentile_interval(values)

    assert (outcome.interval is not None) is is_shown
    assert outcome.n_undefined == n_undefined
