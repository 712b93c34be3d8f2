"""Two passes under one rule: what changed, and whether the failure rate moved."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judging.errors import RuleError
from judging.stats.aggregation import Rule, parse_rule
from judging.stats.comparison import measure_changes, pair_rows
from judging.stats.records import Evidence, JudgeInfo
from judging.stats.results import measure_results
from tests.stats.evidence import row, verdicts_of

SINGLE = parse_rule({"kind": "single_judge", "judges": ["j"], "cut": 2})
Scores = Sequence[int | None]


def evidence(scores: Scores, *, judge: str = "j", n_per_prompt: int = 1, is_binary: bool = False) -> Evidence:
    rows = tuple(
        row(n, prompt_id=n // n_per_prompt, rollout=n % n_per_prompt, model="ab"[n % 2])
        for n in range(len(scores))
    )
    judges = (JudgeInfo(judge, judge, is_binary),)
    return Evidence(rows, verdicts=tuple(verdicts_of(judge, scores)), judges=judges)


def measure(before: Scores, after: Scores, *, rule: Rule = SINGLE, **values: Any) -> dict[str, Any]:
    return measure_changes(evidence(before, **values), evidence(after, **values), rule=rule, n_resamples=200)


def test_every_kind_of_change_is_counted_once() -> None:
    #         same       worse  better lost      gained    both undecided
    before = [1, 3, 1, 4, 2, None, None]
    after = [1, 5, 2, 1, None, 1, None]

    overall = measure(before, after)["overall"]

    assert (overall["n_to_unacceptable"], overall["n_to_acceptable"]) == (1, 1)
    assert (overall["n_to_undecided"], overall["n_to_decided"]) == (1, 1)
    assert (overall["n_same"], overall["n_responses"]) == (3, 7)
    assert (overall["n_changed"], overall["n_decided_twice"]) == (2, 4)
    assert overall["changed_share"] == 0.5
    # Rows before, columns after, in the order Acceptable, Unacceptable, Undecided.
    assert overall["verdicts"] == [[1, 1, 0], [1, 1, 1], [1, 0, 1]]


def test_kappa_between_the_passes_is_that_of_the_decided_rows() -> None:
    overall = measure([1, 1, 2, 2, None], [1, 2, 2, 2, 2])["overall"]

    # 2 × 2 table 1 1 / 0 2 by hand: observed 3/4, chance (2·1 + 2·3)/16 = 1/2, so kappa 1/2.
    assert overall["kappa"] == pytest.approx(0.5)


def test_rates_rest_on_the_responses_that_both_passes_decide() -> None:
    overall = measure([5, 5, None, 1], [1, 5, 5, None])["overall"]

    assert (overall["failure_rate_before"], overall["failure_rate_after"]) == (1.0, 0.5)
    assert overall["rate_change"] == -0.5


def test_prompt_weighs_the_same_whatever_its_number_of_decided_rows() -> None:
    # Two rollouts a prompt; the first prompt is decided once, the second twice.
    overall = measure([1, None, 1, 1], [2, 1, 1, 1], n_per_prompt=2)["overall"]

    assert overall["rate_change"] == 0.5


def test_paired_rate_is_the_failure_rate_when_everything_is_decided() -> None:
    before, after = [1, 2, 3, 1, 5, 1] * 5, [2, 2, 1, 1, 5, 4] * 5

    overall = measure(before, after, n_per_prompt=3)["overall"]

    for scores, name in ((before, "failure_rate_before"), (after, "failure_rate_after")):
        alone = measure_results(evidence(scores, n_per_prompt=3), rule=SINGLE)["overall"]
        assert overall[name] == pytest.approx(alone["failure_rate"], abs=1e-15)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([1, 3] * 20, "no_change"),
        ([2, 3] + [1, 3] * 19, "no_shift"),
        ([4, 3] * 20, "shift"),
        ([1, None] * 20, "coverage"),
    ],
    ids=["same", "one-of-40", "all-acceptable-ones", "verdicts-lost"],
)
def test_finding_says_whether_it_mattered(after: Scores, expected: str) -> None:
    assert measure([1, 3] * 20, after)["finding"] == expected


def test_finding_is_unknown_where_there_is_no_interval() -> None:
    measured = measure([1, 3, 1], [1, 3, 4])

    assert measured["finding"] == "unknown"
    assert measured["overall"]["rate_change_interval"] is None
    assert measured["overall"]["undefined"]["rate_change_interval"] == "few_prompts"


def test_passes_without_a_common_response_have_nothing_to_compare() -> None:
    later = evidence([1, 1])
    later = replace(later, graded=frozenset({1}))

    measured = measure_changes(replace(evidence([1, 1]), graded=frozenset({0})), later, rule=SINGLE)

    assert measured["finding"] == "nothing_in_common"
    assert (measured["n_before"], measured["n_after"], measured["n_common"]) == (1, 1, 0)
    assert measured["overall"]["undefined"]["rate_change"] == "no_decided_rows"
    assert measured["judges"][0]["undefined"]["mean_change"] == "no_common_scores"


def test_judge_has_a_table_of_its_scores_in_both_passes() -> None:
    judge = measure([1, 2, 5, None, 3], [1, 3, 4, 2, None])["judges"][0]

    assert judge["scores"][0] == [1, 0, 0, 0, 0]
    assert judge["scores"][1] == [0, 0, 1, 0, 0]
    assert judge["scores"][4] == [0, 0, 0, 1, 0]
    assert (judge["n"], judge["n_same"], judge["n_higher"], judge["n_lower"]) == (3, 1, 1, 1)
    assert (judge["n_gained"], judge["n_lost"]) == (1, 1)
    assert judge["within_one_step"] == 1.0
    assert judge["mean_change"] == 0.0


def test_binary_judge_has_a_table_of_two_by_two() -> None:
    judge = measure([0, 1, 1], [1, 1, 0], is_binary=True)["judges"][0]

    assert judge["scores"] == [[0, 1], [1, 1]]
    assert judge["within_one_step"] is None


def test_models_and_categories_have_the_same_figures() -> None:
    measured = measure([1, 1, 1, 1], [4, 1, 4, 1])

    assert [(group["model"], group["rate_change"]) for group in measured["models"]] == [("a", 1.0), ("b", 0)]
    assert [group["category"] for group in measured["categories"]] == ["c"]


def test_rule_that_does_not_fit_one_pass_is_refused() -> None:
    with pytest.raises(RuleError, match="judges of this pass"):
        measure_changes(evidence([1]), evidence([1], judge="other"), rule=SINGLE)


scores_twice = st.lists(
    st.tuples(st.none() | st.integers(1, 5), st.none() | st.integers(1, 5)), min_size=1, max_size=30
)


@given(pairs=scores_twice)
def test_the_other_way_round_is_the_mirror_image(pairs: list[tuple[int | None, int | None]]) -> None:
    before, after = [a for a, _ in pairs], [b for _, b in pairs]

    there, back = measure(before, after)["overall"], measure(after, before)["overall"]

    assert there["n_to_unacceptable"] == back["n_to_acceptable"]
    assert there["n_to_undecided"] == back["n_to_decided"]
    assert there["verdicts"] == [list(column) for column in zip(*back["verdicts"], strict=True)]
    assert there["kappa"] == pytest.approx(back["kappa"]) if there["kappa"] is not None else True
    if there["rate_change"] is not None:
        assert there["rate_change"] == pytest.approx(-back["rate_change"])


@given(scores=st.lists(st.none() | st.integers(1, 5), min_size=1, max_size=30))
def test_pass_beside_itself_has_changed_nothing(scores: Scores) -> None:
    measured = measure(scores, scores)

    assert measured["finding"] == "no_change"
    assert measured["overall"]["n_changed"] == 0
    assert all(pair.change == "SAME" for pair in pair_rows(evidence(scores), evidence(scores), rule=SINGLE))
