import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from judging.stats.classification import (
    Measure,
    Weighting,
    binary_metrics,
    chance_within_one_step,
    cohen_kappa,
    cross_table,
    exact_match,
    kappa_standard_error,
    kappas,
    roc_auc,
    within_one_step,
)
from tests.stats.evidence import golden

TABLE = st.lists(st.integers(0, 40), min_size=4, max_size=4).map(lambda cells: np.array(cells).reshape(2, 2))
SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=60)


def scale_table(a: list[int], b: list[int]) -> np.ndarray:
    return cross_table([score - 1 for score in a], [score - 1 for score in b], 5)


def test_kappa_basic_2x2() -> None:
    inputs, expected = golden("kappa_basic_2x2")
    table = np.array(inputs["table_rows_human_cols_judge"])

    assert exact_match(table) == pytest.approx(expected["exact_match"], abs=1e-8)
    assert cohen_kappa(table).value == pytest.approx(expected["kappa"], abs=1e-8)
    assert kappa_standard_error(table).value == pytest.approx(expected["se"], abs=1e-8)


def test_kappa_one_class_on_both_sides_is_undefined() -> None:
    inputs, expected = golden("kappa_one_class")
    table = cross_table(inputs["case_a"]["judge"], inputs["case_a"]["human"], 2)

    assert exact_match(table) == expected["case_a_exact_match"]
    assert cohen_kappa(table) == Measure(None, "one_class")
    assert kappa_standard_error(table) == Measure(None, "one_class")


def test_kappa_of_a_constant_judge_is_exactly_0() -> None:
    inputs, expected = golden("kappa_one_class")
    table = cross_table(inputs["case_b"]["judge"], inputs["case_b"]["human"], 2)

    assert cohen_kappa(table) == Measure(0.0)
    assert exact_match(table) == expected["case_b_exact_match"]
    assert binary_metrics(table)["mcc"] == Measure(None, "zero_denominator")


def test_kappa_without_rows_is_undefined() -> None:
    assert cohen_kappa(np.zeros((2, 2), dtype=np.int64)) == Measure(None, "no_common_rows")


def test_likert_weighted_kappa() -> None:
    inputs, expected = golden("likert_weighted_kappa")
    table = scale_table(inputs["judge"], inputs["human"])

    assert exact_match(table) == pytest.approx(expected["exact_match"], abs=1e-8)
    assert within_one_step(table) == expected["within_one"]
    assert cohen_kappa(table).value == pytest.approx(expected["kappa"], abs=1e-8)
    assert cohen_kappa(table, "linear").value == pytest.approx(expected["kappa_linear"], abs=1e-8)
    assert cohen_kappa(table, "quadratic").value == pytest.approx(expected["kappa_quadratic"], abs=1e-8)


def test_weighted_kappa_keeps_unused_levels() -> None:
    inputs, expected = golden("weighted_kappa_unused_levels")
    table = scale_table(inputs["judge"], inputs["human"])

    assert cohen_kappa(table, "quadratic").value == pytest.approx(
        expected["kappa_quadratic_full_scale"], abs=1e-8
    )


@pytest.mark.parametrize(("weighting", "value"), [("linear", 0.373), ("quadratic", 0.346)])
def test_weighted_kappa_of_the_published_pair(weighting: Weighting, value: float) -> None:
    # Eight items on the full 1-5 scale; published to three places.
    table = scale_table([1, 1, 2, 2, 5, 5, 1, 2], [1, 2, 2, 5, 5, 1, 1, 2])

    assert cohen_kappa(table, weighting).value == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(("both_flag", "value"), [([[95, 2], [2, 1]], 0.313), ([[96, 2], [2, 0]], -0.020)])
def test_kappa_at_high_prevalence(both_flag: list[list[int]], value: float) -> None:
    # The prevalence paradox: 96 % agreement in both, and kappa apart by a third.
    assert cohen_kappa(np.array(both_flag)).value == pytest.approx(value, abs=1e-3)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("weighting", ["unweighted", "linear", "quadratic"])
@given(rows=SCORES)
def test_kappa_equals_scikit_learn_on_the_full_scale(
    weighting: Weighting, rows: list[tuple[int, int]]
) -> None:
    a, b = zip(*rows, strict=True)
    reference = cohen_kappa_score(
        a, b, labels=range(5), weights=None if weighting == "unweighted" else weighting
    )

    value = cohen_kappa(cross_table(a, b, 5), weighting).value

    assert (np.nan if value is None else value) == pytest.approx(reference, abs=1e-9, nan_ok=True)


@given(TABLE.filter(lambda table: min(*table.sum(axis=0), *table.sum(axis=1)) > 0))
def test_kappa_standard_error_equals_statsmodels(table: np.ndarray) -> None:
    assert kappa_standard_error(table).value == pytest.approx(cohens_kappa(table).std_kappa, abs=1e-9)


@given(st.lists(TABLE, min_size=1, max_size=5))
def test_kappas_of_a_stack_equal_those_of_each_table(tables: list[np.ndarray]) -> None:
    alone = [cohen_kappa(table).value for table in tables]

    together = [None if np.isnan(value) else value for value in kappas(np.stack(tables))]

    assert together == alone


@given(SCORES)
def test_agreement_is_the_same_from_either_side_and_in_any_order(rows: list[tuple[int, int]]) -> None:
    a, b = zip(*rows, strict=True)
    table, turned = cross_table(a, b, 5), cross_table(b[::-1], a[::-1], 5)

    assert cohen_kappa(turned, "quadratic") == cohen_kappa(table, "quadratic")
    assert exact_match(turned) == exact_match(table)
    assert within_one_step(turned) == within_one_step(table)


def test_chance_within_one_step_of_even_scores() -> None:
    # Two independent uniform scores: 13 of the 25 cells lie on or beside the diagonal.
    assert chance_within_one_step(np.ones((5, 5))) == pytest.approx(13 / 25)


def test_cross_table_of_unequal_lengths_is_an_error() -> None:
    with pytest.raises(ValueError, match="same rows"):
        cross_table([0, 1], [0], 2)


def test_cross_table_with_a_code_outside_the_categories_is_an_error() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        cross_table([0, 2], [0, 1], 2)


def test_threshold_metrics_at_the_threshold() -> None:
    inputs, expected = golden("threshold_metrics_at_1.7")
    flags = [score >= inputs["threshold"] for score in inputs["weighted_score"]]
    table = cross_table([int(flag) for flag in flags], inputs["human_unacceptable"], 2)
    metrics = {name: measure.value for name, measure in binary_metrics(table).items()}

    assert table.tolist() == [[expected["tn"], expected["fn"]], [expected["fp"], expected["tp"]]]
    assert {name: metrics[name] for name in metrics if name in expected} == pytest.approx(
        {name: expected[name] for name in metrics if name in expected}, abs=1e-8
    )
    assert cohen_kappa(table).value == pytest.approx(expected["kappa"], abs=1e-8)
    assert roc_auc(inputs["weighted_score"], inputs["human_unacceptable"]).value == pytest.approx(
        expected["roc_auc"], abs=1e-8
    )


def test_binary_metrics_of_a_judge_that_never_flags_have_no_precision() -> None:
    metrics = binary_metrics(np.array([[8, 2], [0, 0]]))

    assert metrics["precision"] == Measure(None, "zero_denominator")
    assert metrics["recall"] == Measure(0.0)


@pytest.mark.parametrize(("flags", "reason"), [([True, True], "one_class"), ([], "no_common_rows")])
def test_roc_auc_without_both_classes_is_undefined(flags: list[bool], reason: str) -> None:
    assert roc_auc([1.0] * len(flags), flags) == Measure(None, reason)
