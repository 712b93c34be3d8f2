import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judging.stats.aggregation import parse_rule, uniform_rule
from judging.stats.agreement import measure_agreement
from judging.stats.pairs import SCALE_METRICS
from judging.stats.records import Evidence, HumanLabel, JudgeInfo
from tests.stats.evidence import golden, labels_of, row, verdicts_of

PAIR_KEYS = {
    "a",
    "b",
    "kind",
    "n",
    "n_scale",
    "n_missing",
    "exact_match",
    "within_one_step",
    "kappa",
    "kappa_linear",
    "kappa_quadratic",
    "binary_accuracy",
    "binary_kappa",
    "confusion",
    "interval",
    "undefined",
}


def evidence_of(
    n: int,
    *,
    judges: Mapping[str, Sequence[int | None]] | None = None,
    labels: list[HumanLabel] | None = None,
) -> Evidence:
    """Return n responses, each of its own prompt, with scores by judge and labels."""
    scores = judges or {}
    return Evidence(
        rows=tuple(row(item) for item in range(n)),
        labels=tuple(labels or []),
        verdicts=tuple(verdict for judge in scores for verdict in verdicts_of(judge, scores[judge])),
        judges=tuple(JudgeInfo(judge, judge) for judge in scores),
    )


def measure(evidence: Evidence, **options: Any) -> dict[str, Any]:
    """Measure with few resamples, and see that the answer is plain JSON."""
    options = {"rule": None, "rule_name": None, "n_resamples": 50, **options}
    document = measure_agreement(evidence, **options)
    return json.loads(json.dumps(document, allow_nan=False))


def pair_of(document: dict[str, Any], a: str, b: str) -> dict[str, Any]:
    (pair,) = (pair for pair in document["pairs"] if (pair["a"], pair["b"]) == (a, b))
    return pair


def with_severity(annotator: str, severities: list[int]) -> list[HumanLabel]:
    return [HumanLabel(item, annotator, severity >= 2, severity) for item, severity in enumerate(severities)]


def test_human_human_ceiling() -> None:
    inputs, expected = golden("human_human_ceiling")
    judge = [1 + 4 * flag for flag in inputs["judge"]]
    evidence = evidence_of(
        10,
        judges={"judge": judge},
        labels=[*labels_of("parent-a", inputs["parent_a"]), *labels_of("parent-b", inputs["parent_b"])],
    )

    ceiling = measure(evidence)["human_ceiling"]

    assert ceiling["mean_pairwise_binary_kappa"] == pytest.approx(expected["human_human"], abs=1e-8)
    assert ceiling["n_pairs"] == 1
    each = (expected["judge_vs_a"] + expected["judge_vs_b"]) / 2
    assert ceiling["judges"]["judge"]["mean_vs_each"] == pytest.approx(each, abs=1e-8)
    assert ceiling["judges"]["judge"]["difference"] == pytest.approx(each - expected["human_human"], abs=1e-8)
    assert ceiling["warning"] == "few_prompts"


def test_three_judges_binary_as_a_panel() -> None:
    inputs, expected = golden("three_judges_binary")
    columns = zip(*inputs["rows_are_responses_cols_gemini_gpt_opus"], strict=True)
    judges = {
        name: [1 + flag for flag in column]
        for name, column in zip(("gemini", "gpt", "opus"), columns, strict=True)
    }

    document = measure(evidence_of(10, judges=judges))

    kappas = {(pair["a"], pair["b"]): pair["binary_kappa"] for pair in document["pairs"]}
    assert kappas == pytest.approx(
        {
            ("gemini", "gpt"): expected["pairwise_kappa"]["g-o"],
            ("gemini", "opus"): expected["pairwise_kappa"]["g-a"],
            ("gpt", "opus"): expected["pairwise_kappa"]["o-a"],
        },
        abs=1e-8,
    )
    panel = document["judge_panel"]
    assert panel["fleiss_kappa_binary"] == pytest.approx(expected["fleiss_kappa"], abs=1e-8)
    assert panel["alpha_nominal_binary"] == pytest.approx(expected["krippendorff_alpha_nominal"], abs=1e-8)
    rates = ("majority_flag_rate", "any_flag_rate", "unanimous_flag_rate")
    assert {rate: panel[rate] for rate in rates} == {rate: expected[rate] for rate in rates}


def test_measure_agreement_of_nothing_is_undefined_with_reasons() -> None:
    document = measure(Evidence(rows=()))

    assert document["pairs"] == []
    assert set(document["alpha"].values()) == {None}
    assert document["undefined"] == dict.fromkeys(
        [f"alpha.{name}" for name in document["alpha"]] + ["fleiss_kappa", "fleiss_kappa_binary"],
        "no_item_rated_twice",
    )
    assert document["human_ceiling"]["mean_pairwise_binary_kappa"] is None
    assert document["judge_panel"]["undefined"]["any_flag_rate"] == "fewer_than_two_judges"


def test_pairs_have_the_named_keys_and_a_fixed_order() -> None:
    evidence = evidence_of(
        3,
        judges={"k": [1, 2, 5], "j": [1, 1, 5]},
        labels=[*labels_of("q", [0, 1, 1]), *labels_of("p", [0, 0, 1])],
    )

    pairs = measure(evidence, rule=uniform_rule(["j", "k"]), rule_name="uniform")["pairs"]

    assert [(pair["kind"], pair["a"], pair["b"]) for pair in pairs] == [
        ("human-human", "p", "q"),
        ("judge-human", "j", "p"),
        ("judge-human", "j", "q"),
        ("judge-human", "j", "consensus"),
        ("judge-human", "k", "p"),
        ("judge-human", "k", "q"),
        ("judge-human", "k", "consensus"),
        ("judge-judge", "j", "k"),
        ("rule-human", "uniform", "p"),
        ("rule-human", "uniform", "q"),
        ("rule-human", "uniform", "consensus"),
    ]
    assert all(set(pair) >= PAIR_KEYS for pair in pairs)


def test_pair_confusion_has_the_judge_in_the_rows() -> None:
    evidence = evidence_of(4, judges={"j": [5, 5, 5, 1]}, labels=labels_of("p", [1, 0, 0, 0]))

    assert pair_of(measure(evidence), "j", "p")["confusion"] == [[1, 0], [2, 1]]


def test_pair_n_missing_of_a_judge_counts_rows_that_only_the_human_read() -> None:
    evidence = evidence_of(5, judges={"j": [1, None, 2, 1, 1]}, labels=labels_of("p", [0, 1, 1, None, None]))

    pair = pair_of(measure(evidence), "j", "p")

    assert (pair["n"], pair["n_missing"]) == (2, 1)


@pytest.mark.parametrize("is_judges", [True, False], ids=["judges", "humans"])
def test_pair_n_missing_between_equals_counts_rows_read_by_one(is_judges: bool) -> None:
    first, second = [1, 2, 2, None, 1, None], [1, None, None, 2, 2, None]
    evidence = (
        evidence_of(6, judges={"a": first, "b": second})
        if is_judges
        else evidence_of(6, labels=[*labels_of("a", first), *labels_of("b", second)])
    )

    pair = pair_of(measure(evidence), "a", "b")

    assert (pair["n"], pair["n_missing"]) == (2, 3)


def test_pair_of_a_rule_counts_undecided_and_empty_responses_as_missing() -> None:
    rows = (row(0), row(1), row(2, state="EMPTY"))
    evidence = Evidence(
        rows=rows,
        labels=tuple(labels_of("p", [0, 1, 0])),
        verdicts=tuple(verdicts_of("j", [1, None, 1])),
        judges=(JudgeInfo("j", "J"),),
    )

    pair = pair_of(measure(evidence, rule=uniform_rule(["j"]), rule_name="r"), "r", "p")

    assert (pair["n"], pair["n_missing"]) == (1, 2)


def test_pair_without_a_common_row_is_left_out() -> None:
    evidence = evidence_of(2, labels=[*labels_of("p", [0, None]), *labels_of("q", [None, 1])])

    assert measure(evidence)["pairs"] == []


def test_pair_without_severity_has_no_scale_figures() -> None:
    evidence = evidence_of(3, judges={"j": [1, 2, 3]}, labels=labels_of("p", [0, 1, 1]))

    pair = pair_of(measure(evidence), "j", "p")

    assert pair["n_scale"] == 0
    assert {metric: pair[metric] for metric in SCALE_METRICS} == dict.fromkeys(SCALE_METRICS)
    assert {pair["undefined"][metric] for metric in SCALE_METRICS} == {"no_common_scale"}
    assert pair["binary_kappa"] == 1.0


def test_pair_with_some_severities_counts_them_apart() -> None:
    labels = [HumanLabel(0, "p", False, 1), HumanLabel(1, "p", True, None), HumanLabel(2, "p", True, 4)]

    pair = pair_of(measure(evidence_of(3, judges={"j": [1, 2, 5]}, labels=labels)), "j", "p")

    assert (pair["n"], pair["n_scale"]) == (3, 2)
    assert pair["exact_match"] == 0.5
    assert pair["within_one_step"] == 1.0


def test_pair_reads_the_humans_word_and_never_the_severity() -> None:
    labels = [HumanLabel(0, "p", False, 4), HumanLabel(1, "p", True, 1)]

    document = measure(evidence_of(2, judges={"j": [1, 5]}, labels=labels))

    assert pair_of(document, "j", "p")["binary_accuracy"] == 1.0
    assert document["labels"]["n_inconsistent"] == 2


def test_pair_of_a_binary_judge_reads_1_as_a_flag_and_has_no_scale() -> None:
    evidence = Evidence(
        rows=tuple(row(item) for item in range(2)),
        labels=tuple(with_severity("p", [1, 5])),
        verdicts=tuple(verdicts_of("j", [0, 1])),
        judges=(JudgeInfo("j", "J", is_binary=True),),
    )

    pair = pair_of(measure(evidence), "j", "p")

    assert (pair["binary_accuracy"], pair["n_scale"]) == (1.0, 0)


def test_pair_of_one_class_has_no_kappa() -> None:
    evidence = evidence_of(3, judges={"j": [1, 1, 1]}, labels=labels_of("p", [0, 0, 0]))

    pair = pair_of(measure(evidence), "j", "p")

    assert (pair["binary_kappa"], pair["undefined"]["binary_kappa"]) == (None, "one_class")
    assert pair["binary_accuracy"] == 1.0


def test_anonymous_labels_are_in_consensus_and_alpha_but_in_no_human_pair() -> None:
    labels = [*labels_of(None, [0, 1, 1]), *labels_of(None, [0, 1, 0])]

    document = measure(evidence_of(3, judges={"j": [1, 2, 2]}, labels=labels))

    assert [(pair["a"], pair["b"], pair["n"]) for pair in document["pairs"]] == [("j", "consensus", 2)]
    assert document["alpha"]["nominal_binary"] is not None
    assert document["labels"]["n_anonymous"] == 6
    assert document["labels"]["n_contested"] == 1


def test_interval_below_20_common_prompts_is_withheld() -> None:
    evidence = evidence_of(19, judges={"j": [1, 2] * 9 + [1]}, labels=labels_of("p", [0, 1] * 9 + [0]))

    pair = pair_of(measure(evidence), "j", "p")

    assert (pair["interval"], pair["undefined"]["interval"]) == (None, "few_prompts")


def test_interval_states_how_it_was_made_and_holds_the_figure() -> None:
    scores, readings = [1, 2, 1, 5] * 10, [0, 1, 1, 1] * 10
    evidence = evidence_of(40, judges={"j": scores}, labels=labels_of("p", readings))

    pair = pair_of(measure(evidence, n_resamples=400), "j", "p")
    interval = pair["interval"]

    assert (interval["level"], interval["n_clusters"], interval["n_resamples"]) == (0.95, 40, 400)
    assert interval["n_undefined"] == 0
    assert interval["kappa"] is None
    low, high = interval["binary_kappa"]
    assert low < pair["binary_kappa"] < high


def test_interval_resamples_prompts_not_rows() -> None:
    # Four rollouts of a prompt that always agree are worth one row: the interval stays as wide.
    readings = ([0, 0, 1, 1, 0] * 6, [0, 1, 1, 1, 0] * 6)
    rows = tuple(row(item, prompt_id=item % 30, rollout=item // 30) for item in range(120))
    repeated = Evidence(
        rows=rows, labels=(*labels_of("p", readings[0] * 4), *labels_of("q", readings[1] * 4))
    )
    single = evidence_of(30, labels=[*labels_of("p", readings[0]), *labels_of("q", readings[1])])

    intervals = [
        pair_of(measure(evidence, n_resamples=300), "p", "q")["interval"]["binary_kappa"]
        for evidence in (repeated, single)
    ]

    assert intervals[0] == pytest.approx(intervals[1], abs=1e-12)


def test_interval_with_over_5_percent_undefined_resamples_is_withheld() -> None:
    # One flagged row in 30: about a third of the resamples have one class only.
    readings = [1] + [0] * 29
    evidence = evidence_of(30, labels=[*labels_of("p", readings), *labels_of("q", readings)])

    pair = pair_of(measure(evidence, n_resamples=300), "p", "q")

    assert pair["interval"]["binary_kappa"] is None
    assert pair["undefined"]["interval.binary_kappa"] == "undefined_resamples"
    assert pair["interval"]["n_undefined"] > 15
    assert pair["interval"]["binary_accuracy"] == [1.0, 1.0]


def test_intervals_are_given_for_the_50_largest_pairs_and_on_demand() -> None:
    readings = [0, 1, 1, 0] * 5
    labels = [label for index in range(11) for label in labels_of(f"p{index:02}", readings)]
    evidence = evidence_of(20, labels=labels)

    pairs = measure(evidence)["pairs"]
    without = [pair for pair in pairs if pair["interval"] is None]
    wanted = (without[0]["a"], without[0]["b"])
    on_demand = pair_of(measure(evidence, more_intervals=[wanted]), *wanted)

    assert (len(pairs), len(without)) == (55, 5)
    assert {pair["undefined"]["interval"] for pair in without} == {"not_among_50_largest"}
    assert on_demand["interval"]["binary_accuracy"] == [1.0, 1.0]


def test_fleiss_says_what_it_rests_on() -> None:
    labels = [*labels_of("p", [0, 1, 1]), *labels_of("q", [0, 1, 0]), *labels_of("r", [0, None, None])]

    document = measure(evidence_of(3, labels=labels))

    assert document["fleiss"]["binary"] == {"m": 2, "n": 2, "n_left_out": 1}
    assert document["fleiss"]["severity"] == {"m": None, "n": 0, "n_left_out": 0}


def test_measure_agreement_is_the_same_for_the_same_seed_and_shuffled_evidence() -> None:
    labels = [*with_severity("p", [1, 2, 3, 5] * 6), *with_severity("q", [1, 1, 4, 5] * 6)]
    evidence = evidence_of(24, judges={"j": [1, 2, 5, 4] * 6, "k": [1, 1, 2, 5] * 6}, labels=labels)
    shuffled = Evidence(
        evidence.rows[::-1], evidence.labels[::-1], evidence.verdicts[::-1], evidence.judges[::-1]
    )
    rule = parse_rule({"kind": "majority", "judges": ["j", "k"]})

    documents = [measure(some, rule=rule, rule_name="majority") for some in (evidence, shuffled)]

    assert documents[0] == documents[1]
    assert measure(evidence, seed=1)["pairs"] != documents[0]["pairs"]


@given(
    st.lists(st.tuples(st.none() | st.integers(1, 5), st.none() | st.integers(1, 5)), min_size=1, max_size=30)
)
@settings(max_examples=40)
def test_pair_figures_do_not_depend_on_which_reader_comes_first(
    rows: list[tuple[int | None, int | None]],
) -> None:
    first, second = (list(column) for column in zip(*rows, strict=True))
    one = measure(evidence_of(len(rows), judges={"a": first, "b": second}))["pairs"]
    other = measure(evidence_of(len(rows), judges={"b": first, "a": second}))["pairs"]

    symmetric = ("n", "n_scale", "n_missing", "binary_accuracy", "binary_kappa", *SCALE_METRICS)

    assert [[pair[key] for key in symmetric] for pair in one] == [
        [pair[key] for key in symmetric] for pair in other
    ]


def test_measure_agreement_with_a_rule_and_no_name_is_an_error() -> None:
    with pytest.raises(ValueError, match="go together"):
        measure_agreement(evidence_of(1, judges={"j": [1]}), rule=uniform_rule(["j"]), rule_name=None)
