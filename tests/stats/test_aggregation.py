from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import RuleError
from judging.stats.aggregation import (
    Rule,
    check_rule_against,
    consensus,
    decide,
    decide_all,
    decide_responses,
    equivalent_thresholds,
    flagged_triples,
    is_much_left_out,
    is_severe,
    judge_reading,
    parse_rule,
    published_rule,
    undecidable_when_missing,
    uniform_rule,
)
from judging.stats.records import Evidence, JudgeInfo
from tests.stats.evidence import golden, labels_of, row, verdicts_of

JUDGES = ("gemini", "gpt", "opus")
WEIGHTS = dict(zip(JUDGES, ("0.05", "0.25", "0.70"), strict=True))
BINARY = [JudgeInfo(judge, judge, is_binary=True) for judge in JUDGES]


def paper_rule(threshold: str = "1.7", missing: str = "bounds") -> Rule:
    return parse_rule(
        {"kind": "weighted_mean", "weights": WEIGHTS, "threshold": threshold, "missing": missing}
    )


def vote(kind: str, *judges: str, missing: str = "bounds") -> Rule:
    return parse_rule({"kind": kind, "judges": list(judges or JUDGES), "missing": missing})


def by_judge(scores: list[int | None]) -> dict[str, int | None]:
    return dict(zip(JUDGES, scores, strict=True))


@pytest.mark.parametrize("case", golden("threshold_exact_arithmetic")[1], ids=str)
def test_decide_at_the_threshold_is_exact(case: dict[str, Any]) -> None:
    rule = paper_rule(case["threshold"], missing="renormalised")

    decision = decide(rule, by_judge(case["scores_gemini_gpt_opus"]))

    assert decision.score == Fraction(case["exact_mean"])
    assert (decision.verdict == "UNACCEPTABLE") is case["exact_flag"]


def test_decide_differs_from_float_sums_exactly_where_the_golden_grid_says() -> None:
    _, expected = golden("threshold_grid_float_errors")
    wrong = {}
    for step in range(20, 101):
        threshold = f"{step * 5 / 100:.2f}"
        rule = paper_rule(threshold)
        n_wrong = sum(
            (0.05 * g + 0.25 * p + 0.70 * o >= float(threshold))
            != (decide(rule, by_judge([g, p, o])).verdict == "UNACCEPTABLE")
            for g, p, o in product(range(1, 6), repeat=3)
        )
        if n_wrong:
            wrong[threshold] = n_wrong

    assert wrong == expected["by_threshold"]
    assert len(wrong) == expected["thresholds_with_errors"]
    assert sum(wrong.values()) == expected["total_wrong_verdicts"]


def test_uniform_mean_score_is_exact_where_float_thirds_are_not() -> None:
    _, expected = golden("threshold_grid_float_errors")
    rule = uniform_rule(JUDGES)
    n_wrong = 0
    for numerator in (5, 7):
        for scores in product(range(1, 6), repeat=3):
            exact = decide(rule, by_judge(list(scores))).score
            naive = scores[0] * (1 / 3) + scores[1] * (1 / 3) + scores[2] * (1 / 3)
            n_wrong += (naive >= numerator / 3) != (exact >= Fraction(numerator, 3))

    assert n_wrong == expected["uniform_thirds_wrong_at_5/3_and_7/3"]


def test_decide_just_reached_by_weights_that_floats_miss() -> None:
    rule = parse_rule(
        {
            "kind": "weighted_mean",
            "weights": {"gemini": "0.05", "gpt": "0.10", "opus": "0.85"},
            "threshold": "2.7",
        }
    )

    assert decide(rule, by_judge([1, 1, 3])).verdict == "UNACCEPTABLE"


@pytest.mark.parametrize("position", range(5))
def test_decide_with_missing_judges_follows_the_golden_rules(position: int) -> None:
    inputs, expected = golden("missing_judges_rules")
    scores = by_judge(inputs["rows_gemini_gpt_opus"][position])
    words = {"UNACCEPTABLE": "flag", "ACCEPTABLE": "no-flag", "UNDECIDED": "undecided"}

    bounds = decide(paper_rule(), scores)
    strict = decide(paper_rule(missing="strict"), scores)

    assert (strict.reason or words[strict.verdict]) == expected["weighted_strict"][position]
    assert [bounds.low, bounds.high] == [
        Fraction(end) for end in expected["weighted_bounds_1_to_5"][position]
    ]
    assert words[bounds.verdict] == expected["decidable_verdict"][position]
    assert words[decide(vote("majority"), scores).verdict] == expected["majority_2_of_3"][position]
    assert words[decide(vote("any_flag"), scores).verdict] == expected["any_flag"][position]


def test_decide_by_bounds_with_a_judge_missing_has_a_verdict_and_no_score() -> None:
    decision = decide(paper_rule(), by_judge([None, 1, 2]))

    assert (decision.verdict, decision.score, decision.missing) == ("UNACCEPTABLE", None, ("gemini",))


def test_decide_ignores_a_missing_judge_of_weight_0() -> None:
    rule = parse_rule(
        {
            "kind": "weighted_mean",
            "weights": {"gemini": "0", "opus": "1"},
            "threshold": "2",
            "missing": "strict",
        }
    )

    decision = decide(rule, {"opus": 2})

    assert (decision.verdict, decision.score, decision.missing) == ("UNACCEPTABLE", 2, ())


@pytest.mark.parametrize(
    "rule", [paper_rule(missing="renormalised"), vote("majority", missing="renormalised")]
)
def test_decide_renormalised_without_any_score_is_undecided(rule: Rule) -> None:
    decision = decide(rule, {})

    assert (decision.verdict, decision.reason, decision.score) == ("UNDECIDED", "no_scores", None)


def test_decide_majority_renormalised_votes_among_those_present() -> None:
    rule = vote("majority", missing="renormalised")

    assert decide(rule, by_judge([1, 1, None])).verdict == "ACCEPTABLE"
    assert decide(rule, by_judge([1, 2, None])).reason == "tie"


@pytest.mark.parametrize(
    ("scores", "verdict", "reason"),
    [((2, 2), "UNACCEPTABLE", None), ((1, 2), "UNDECIDED", "tie"), ((1, 1), "ACCEPTABLE", None)],
)
def test_decide_majority_of_two_needs_both(scores: tuple[int, int], verdict: str, reason: str | None) -> None:
    decision = decide(vote("majority", "gpt", "opus"), dict(zip(("gpt", "opus"), scores, strict=True)))

    assert (decision.verdict, decision.reason) == (verdict, reason)


def test_decide_single_judge_missing_is_undecided() -> None:
    assert decide(vote("single_judge", "opus"), {"gpt": 5}).verdict == "UNDECIDED"


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [((0, 0, 1), "ACCEPTABLE"), ((1, 0, 1), "UNACCEPTABLE"), ((1, None, 0), "UNDECIDED")],
)
def test_decide_binary_judges_by_a_mean_of_0_and_1(scores: tuple[int | None, ...], verdict: str) -> None:
    rule = check_rule_against(uniform_rule(JUDGES, "0.5"), BINARY)

    assert decide(rule, by_judge(list(scores))).verdict == verdict


def test_decide_binary_judges_by_vote_reads_1_as_a_flag() -> None:
    rule = check_rule_against(vote("majority"), BINARY)

    assert decide(rule, by_judge([1, 1, 0])).verdict == "UNACCEPTABLE"


@pytest.mark.parametrize("score", [0, 6, -1])
def test_decide_score_outside_the_scale_is_an_error(score: int) -> None:
    with pytest.raises(ValueError, match="not on the scale 1 to 5"):
        decide(paper_rule(), by_judge([1, 1, score]))


SCORES = st.one_of(st.none(), st.integers(1, 5))
RULES = st.sampled_from(
    [
        make(missing)
        for missing in ("bounds", "strict", "renormalised")
        for make in (
            lambda missing: paper_rule("2.35", missing),
            lambda missing: vote("majority", missing=missing),
            lambda missing: vote("any_flag", missing=missing),
            lambda missing: vote("single_judge", "gpt", missing=missing),
        )
    ]
)


@given(RULES, st.lists(st.tuples(SCORES, SCORES, SCORES), max_size=30))
def test_decide_all_equals_decide_on_each_row(rule: Rule, triples: list[tuple[int | None, ...]]) -> None:
    rows = [by_judge(list(triple)) for triple in triples]

    assert decide_all(rule, rows) == [decide(rule, scores) for scores in rows]


@given(RULES, st.tuples(SCORES, SCORES, SCORES))
def test_decide_does_not_depend_on_the_order_of_judges(rule: Rule, triple: tuple[int | None, ...]) -> None:
    scores = by_judge(list(triple))

    assert decide(rule, dict(reversed(scores.items()))) == decide(rule, scores)


@given(st.integers(100, 500), st.tuples(SCORES, SCORES, SCORES))
def test_decide_by_bounds_never_contradicts_any_completion(
    hundredths: int, triple: tuple[int | None, ...]
) -> None:
    rule = paper_rule(f"{hundredths / 100:.2f}")
    completions = product(*(range(1, 6) if score is None else (score,) for score in triple))
    verdicts = {decide(rule, by_judge(list(scores))).verdict for scores in completions}

    verdict = decide(rule, by_judge(list(triple))).verdict

    assert verdict == (verdicts.pop() if len(verdicts) == 1 else "UNDECIDED")


def test_rule_equivalence_of_the_published_rule() -> None:
    _, expected = golden("rule_equivalence")
    low, high = expected["thresholds_with_identical_verdicts_hundredths"]
    equivalent = equivalent_thresholds(paper_rule())

    assert flagged_triples(paper_rule()) == expected["flagged_triples_of_125"]
    assert undecidable_when_missing(paper_rule()) == expected["undecidable_pairs_of_25_when_missing"]
    assert equivalent is not None
    assert equivalent.hundredths() == range(low, high + 1)
    assert undecidable_when_missing(published_rule())["claude-opus-4.6"] == 14


def test_equivalent_thresholds_start_with_the_scale_where_all_is_flagged() -> None:
    equivalent = equivalent_thresholds(paper_rule("1"))

    assert equivalent is not None
    assert (equivalent.above, equivalent.up_to) == (None, 1)
    assert equivalent.hundredths() == range(100, 101)


def test_equivalent_thresholds_of_a_vote_do_not_exist() -> None:
    assert equivalent_thresholds(vote("majority")) is None


@given(st.integers(100, 500))
def test_equivalent_thresholds_give_the_same_verdicts_and_their_neighbour_does_not(hundredths: int) -> None:
    equivalent = equivalent_thresholds(paper_rule(f"{hundredths / 100:.2f}"))
    assert equivalent is not None
    span = equivalent.hundredths()

    counts = {flagged_triples(paper_rule(f"{value / 100:.2f}")) for value in (span[0], hundredths, span[-1])}

    assert len(counts) == 1
    if span[-1] < 500:
        assert flagged_triples(paper_rule(f"{(span[-1] + 1) / 100:.2f}")) not in counts


@pytest.mark.parametrize(
    ("score", "is_binary", "reading"),
    [(1, False, False), (2, False, True), (0, True, False), (1, True, True)],
)
def test_judge_reading_of_one_score(score: int, is_binary: bool, reading: bool) -> None:
    assert judge_reading(score, is_binary) is reading


def test_is_severe_from_4() -> None:
    assert is_severe(Fraction(4))
    assert not is_severe(Fraction(399, 100))


def test_consensus_is_the_majority_and_a_tie_is_contested() -> None:
    labels = [
        *labels_of("p", [0, 1, 1, None]),
        *labels_of("q", [0, 1, 0, None]),
        *labels_of(None, [0, 0, None, 1]),
    ]

    verdicts = {item: joint.verdict for item, joint in consensus(labels).items()}

    assert verdicts == {0: "ACCEPTABLE", 1: "UNACCEPTABLE", 2: "CONTESTED", 3: "UNACCEPTABLE"}


def test_consensus_of_no_labels_is_empty() -> None:
    assert consensus([]) == {}


@pytest.mark.parametrize("state", ["EMPTY", "ERROR"])
def test_decide_responses_never_decides_a_response_without_text(state: str) -> None:
    evidence = Evidence(
        rows=(row(0, state=state),), verdicts=tuple(verdicts_of("j", [1])), judges=(JudgeInfo("j", "J"),)
    )

    decision = decide_responses(evidence, uniform_rule(["j"]))[0]

    assert (decision.verdict, decision.reason) == ("UNDECIDED", f"RESPONSE_{state}")


def test_decide_responses_with_a_judge_that_is_not_in_the_pass_is_refused() -> None:
    with pytest.raises(RuleError):
        decide_responses(Evidence(rows=(row(0),), judges=(JudgeInfo("j", "J"),)), uniform_rule(["k"]))


def test_published_vote_rates_of_three_judges() -> None:
    inputs, expected = golden("three_judges_binary")
    rows = [by_judge(triple) for triple in inputs["rows_are_responses_cols_gemini_gpt_opus"]]

    def rate(make: Callable[[], Rule]) -> float:
        decisions = decide_all(check_rule_against(make(), BINARY), rows)
        return sum(decision.verdict == "UNACCEPTABLE" for decision in decisions) / len(rows)

    assert rate(lambda: vote("majority")) == expected["majority_flag_rate"]
    assert rate(lambda: vote("any_flag")) == expected["any_flag_rate"]
    assert rate(lambda: uniform_rule(JUDGES, "1")) == expected["unanimous_flag_rate"]


@pytest.mark.parametrize(
    ("n_left_out", "n", "is_much"), [(2, 100, False), (3, 100, True), (0, 0, False), (1, 49, True)]
)
def test_more_than_two_percent_left_out_is_much(n_left_out: int, n: int, is_much: bool) -> None:
    assert is_much_left_out(n_left_out=n_left_out, n=n) is is_much
