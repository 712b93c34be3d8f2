from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa as reference_fleiss

from judging.stats.classification import Measure, cross_table, kappas
from judging.stats.reliability import Level, count_ratings, fleiss_kappa, krippendorff_alpha
from tests.stats.evidence import golden

# Krippendorff's four coders and twelve units; 0 is a missing rating.
FOUR_CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
LEVELS = ("nominal", "ordinal", "interval")
COUNTS = st.integers(2, 5).flatmap(
    lambda m: st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), min_size=2, max_size=25)
)


def counts_of(raters: Sequence[Sequence[int | None]]) -> np.ndarray:
    return count_ratings(
        ((item, score - 1) for scores in raters for item, score in enumerate(scores) if score), 5
    )


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorff_alpha_of_four_coders(level: Level, value: float) -> None:
    assert krippendorff_alpha(counts_of(FOUR_CODERS), level).value == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_krippendorff_alpha_of_one_disagreement_is_exactly_0(level: Level) -> None:
    inputs, expected = golden("krippendorff_near_constant_and_constant")

    alpha = krippendorff_alpha(counts_of(inputs["near_constant"]), level)

    assert alpha == Measure(expected["near_constant_alpha"])


@pytest.mark.parametrize("level", LEVELS)
def test_krippendorff_alpha_of_constant_ratings_is_undefined(level: Level) -> None:
    inputs, _ = golden("krippendorff_near_constant_and_constant")

    assert krippendorff_alpha(counts_of(inputs["constant"]), level) == Measure(None, "one_class")


@pytest.mark.parametrize("raters", [[], [[1, 2, 3]]], ids=["no ratings", "one rater"])
def test_reliability_without_an_item_rated_twice_is_undefined(raters: Sequence[Sequence[int | None]]) -> None:
    counts = counts_of(raters)

    assert krippendorff_alpha(counts, "nominal") == Measure(None, "no_item_rated_twice")
    assert fleiss_kappa(counts).measure == Measure(None, "no_item_rated_twice")


def test_krippendorff_alpha_leaves_out_items_rated_once() -> None:
    alone = [*FOUR_CODERS[0], 4]
    with_single = [alone, *([*scores, 0] for scores in FOUR_CODERS[1:])]

    assert krippendorff_alpha(counts_of(with_single), "ordinal") == krippendorff_alpha(
        counts_of(FOUR_CODERS), "ordinal"
    )


def test_three_judges_binary() -> None:
    inputs, expected = golden("three_judges_binary")
    rows = inputs["rows_are_responses_cols_gemini_gpt_opus"]
    counts = count_ratings(((item, flag) for item, row in enumerate(rows) for flag in row), 2)
    gemini, gpt, opus = zip(*rows, strict=True)
    tables = np.stack([cross_table(a, b, 2) for a, b in ((gemini, gpt), (gemini, opus), (gpt, opus))])

    fleiss = fleiss_kappa(counts)

    assert fleiss.measure.value == pytest.approx(expected["fleiss_kappa"], abs=1e-8)
    assert (fleiss.n_items, fleiss.n_raters) == (10, 3)
    assert krippendorff_alpha(counts, "nominal").value == pytest.approx(
        expected["krippendorff_alpha_nominal"], abs=1e-8
    )
    assert sorted(kappas(tables)) == pytest.approx(sorted(expected["pairwise_kappa"].values()), abs=1e-8)


def test_fleiss_kappa_takes_the_most_frequent_number_and_the_larger_in_a_tie() -> None:
    counts = np.array([[2, 0], [1, 1], [3, 0], [1, 2], [1, 0], [0, 1], [1, 0]])

    fleiss = fleiss_kappa(counts)

    assert (fleiss.n_raters, fleiss.n_items) == (3, 2)
    assert fleiss.measure.value == pytest.approx(reference_fleiss(counts[2:4]), abs=1e-12)


def test_fleiss_kappa_of_one_class_is_undefined() -> None:
    assert fleiss_kappa(np.array([[3, 0], [3, 0]])).measure == Measure(None, "one_class")


@given(COUNTS)
def test_fleiss_kappa_equals_statsmodels_and_gives_alpha(rows: list[list[int]]) -> None:
    counts = count_ratings(((item, code) for item, row in enumerate(rows) for code in row), 3)
    n, m = len(rows), len(rows[0])

    kappa, alpha = fleiss_kappa(counts).measure.value, krippendorff_alpha(counts, "nominal").value

    if kappa is None or alpha is None:
        assert (kappa, alpha, len({code for row in rows for code in row})) == (None, None, 1)
    else:
        assert kappa == pytest.approx(reference_fleiss(counts), abs=1e-9)
        assert alpha == pytest.approx(1 - (1 - kappa) * (1 - 1 / (n * m)), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@given(st.lists(st.lists(st.integers(0, 4), max_size=4), max_size=20), st.randoms())
def test_krippendorff_alpha_does_not_depend_on_order(
    level: Level, rows: list[list[int]], random: Random
) -> None:
    ratings = [(item, code) for item, row in enumerate(rows) for code in row]
    renumbered = [(len(rows) - item, code) for item, code in ratings]
    random.shuffle(renumbered)

    assert krippendorff_alpha(count_ratings(renumbered, 5), level) == krippendorff_alpha(
        count_ratings(ratings, 5), level
    )


def test_krippendorff_alpha_interval_of_pairs_by_its_definition() -> None:
    # Every pair of ratings written out: observed within units, expected among all of them.
    rows = [[0, 1], [2, 2], [4, 3], [0, 0, 2]]
    values = [code for row in rows for code in row]
    n = len(values)
    observed = sum((a - b) ** 2 / (len(row) - 1) for row in rows for a in row for b in row) / n
    expected = sum((a - b) ** 2 for a in values for b in values) / (n * (n - 1))

    counts = count_ratings(((item, code) for item, row in enumerate(rows) for code in row), 5)

    assert krippendorff_alpha(counts, "interval").value == pytest.approx(1 - observed / expected, abs=1e-12)
