import json
from typing import Any

import pytest

from judging.errors import RuleError
from judging.stats.aggregation import Rule, parse_rule, uniform_rule
from judging.stats.intervals import wilson
from judging.stats.records import Evidence, JudgeInfo, JudgeVerdict, ResponseRow
from judging.stats.results import SEVERITY_METRICS, measure_results
from tests.stats.evidence import golden, row, verdicts_of

ONE_JUDGE = uniform_rule(["j"])
KEYS = {
    "n_responses",
    "n_prompts",
    "n_decided",
    "n_undecided",
    "n_missing",
    "failure_rate",
    "failure_rate_interval",
    "failure_rate_bounds",
    "sd_between_rollouts",
    "undefined",
    *SEVERITY_METRICS,
}


def evidence_of(rows: list[ResponseRow], scores: list[int | None], **options: Any) -> Evidence:
    """Return one judge's scores of these rows; rows are numbered from 0."""
    return Evidence(
        rows=tuple(rows),
        verdicts=tuple(verdicts_of("j", scores)),
        judges=(JudgeInfo("j", "J"),),
        **options,
    )


def measure(evidence: Evidence, rule: Rule = ONE_JUDGE) -> dict[str, Any]:
    return json.loads(json.dumps(measure_results(evidence, rule=rule), allow_nan=False))


def model_of(evidence: Evidence, rule: Rule = ONE_JUDGE) -> dict[str, Any]:
    (model,) = measure(evidence, rule)["models"]
    return model


def rollouts_of(flags_by_prompt: list[list[int | None]]) -> Evidence:
    """Return one model's rollouts: 1 flagged, 0 not, None undecided."""
    rows: list[ResponseRow] = []
    scores: list[int | None] = []
    for prompt_id, flags in enumerate(flags_by_prompt):
        for rollout, flag in enumerate(flags):
            rows.append(row(len(rows), prompt_id=prompt_id, rollout=rollout))
            scores.append(None if flag is None else 1 + flag)
    return evidence_of(rows, scores)


def test_cluster_by_prompt_rate_of_a_model() -> None:
    inputs, expected = golden("cluster_by_prompt_rate")
    _, wilson_expected = golden("wilson_with_design_effect")

    model = model_of(rollouts_of(inputs["flags_by_prompt"]))

    assert model["failure_rate"] == pytest.approx(expected["rate"], abs=1e-8)
    assert model["sd_between_rollouts"] == pytest.approx(expected["replicate_sd_ddof1"], abs=1e-8)
    assert model["n_eff"] == pytest.approx(wilson_expected["n_eff"], abs=1e-8)
    assert model["failure_rate_interval"] == pytest.approx(wilson_expected["ci95"], abs=1e-8)


def test_failure_rate_weighs_prompts_alike_and_the_pooled_rate_rows() -> None:
    model = model_of(rollouts_of([[1, 1, 1], [0, None, None]]))

    assert model["failure_rate"] == 0.5
    assert model["pooled_rate"] == 0.75


def test_failure_rate_bounds_put_undecided_rows_at_both_ends() -> None:
    model = model_of(rollouts_of([[1, None], [0, 0], [None, None]]))

    assert (model["n_decided"], model["n_undecided"], model["n_prompts_decided"]) == (3, 3, 2)
    assert model["failure_rate"] == 0.5
    assert model["failure_rate_bounds"] == pytest.approx([1 / 6, 2 / 3])


@pytest.mark.parametrize(("flag", "rate"), [(0, 0.0), (1, 1.0)])
def test_failure_rate_interval_at_the_extremes_counts_prompts(flag: int, rate: float) -> None:
    model = model_of(rollouts_of([[flag] * 3] * 4))

    assert model["failure_rate_interval"] == pytest.approx(wilson(rate, 4))


def test_failure_rate_interval_with_one_response_a_prompt_is_plain_wilson() -> None:
    model = model_of(rollouts_of([[1], [0], [0], [1], [1]]))

    assert model["failure_rate_interval"] == pytest.approx(wilson(0.6, 5))


def test_failure_rate_interval_of_one_prompt_is_undefined() -> None:
    model = model_of(rollouts_of([[1, 0]]))

    assert model["failure_rate"] == 0.5
    assert model["failure_rate_interval"] is None
    assert model["undefined"]["failure_rate_interval"] == "one_prompt"


def test_failure_rate_without_a_decided_row_is_undefined_never_0() -> None:
    model = model_of(rollouts_of([[None], [None]]))

    assert (model["failure_rate"], model["failure_rate_interval"]) == (None, None)
    assert model["undefined"]["failure_rate"] == "no_decided_rows"
    assert model["failure_rate_bounds"] == [0.0, 1.0]


@pytest.mark.parametrize("state", ["EMPTY", "ERROR"])
def test_failed_generations_are_undecided_even_with_a_score(state: str) -> None:
    rows = [row(0), row(1, state=state)]

    model = model_of(evidence_of(rows, [2, 1]))

    assert (model["n_decided"], model["n_undecided"], model["failure_rate"]) == (1, 1, 1.0)
    assert model["n_missing"] == {f"RESPONSE_{state}": 1}
    assert model["failure_rate_bounds"] == [0.5, 1.0]


def test_n_missing_names_the_state_of_each_missing_verdict() -> None:
    rows = [row(0), row(1), row(2, state="TRUNCATED"), row(3)]
    verdicts = (
        JudgeVerdict(0, "j", "SCORED", 2),
        JudgeVerdict(0, "k", "REFUSED"),
        JudgeVerdict(1, "j", "CALL_FAILED"),
        JudgeVerdict(1, "k", "CALL_FAILED"),
        JudgeVerdict(3, "j", "SCORED", 1),
    )
    judges = (JudgeInfo("j", "J"), JudgeInfo("k", "K"))

    model = model_of(Evidence(rows=tuple(rows), verdicts=verdicts, judges=judges), uniform_rule(["j", "k"]))

    assert model["n_missing"] == {"CALL_FAILED": 2, "NOT_JUDGED": 1, "REFUSED": 1, "RESPONSE_TRUNCATED": 2}
    assert model["n_responses"] == model["n_decided"] + model["n_undecided"] == 4


def test_a_row_decided_with_a_judge_missing_has_a_verdict_and_no_score() -> None:
    verdicts = (
        JudgeVerdict(0, "j", "SCORED", 5),
        JudgeVerdict(0, "k", "REFUSED"),
        JudgeVerdict(1, "j", "SCORED", 5),
        JudgeVerdict(1, "k", "SCORED", 3),
    )
    judges = (JudgeInfo("j", "J"), JudgeInfo("k", "K"))
    evidence = Evidence(rows=(row(0), row(1)), verdicts=verdicts, judges=judges)

    model = model_of(evidence, uniform_rule(["j", "k"]))

    assert (model["n_flagged"], model["n_flagged_with_score"]) == (2, 1)
    assert (model["mean_score_flagged"], model["n_severe"], model["severe_share"]) == (4.0, 1, 1.0)


def test_renormalised_rows_are_marked_and_enter_no_severity_figure() -> None:
    verdicts = (JudgeVerdict(0, "j", "SCORED", 5), JudgeVerdict(0, "k", "REFUSED"))
    evidence = Evidence(rows=(row(0),), verdicts=verdicts, judges=(JudgeInfo("j", "J"), JudgeInfo("k", "K")))
    rule = parse_rule(
        {"kind": "uniform_mean", "judges": ["j", "k"], "threshold": "2", "missing": "renormalised"}
    )

    model = model_of(evidence, rule)

    assert (model["n_flagged"], model["n_renormalised"], model["n_flagged_with_score"]) == (1, 1, 0)


def test_severity_of_flagged_rows() -> None:
    rows = [row(item, prompt_id=item // 2, rollout=item % 2) for item in range(6)]

    model = model_of(evidence_of(rows, [1, 2, 4, 5, 5, None]))

    assert model["mean_score_flagged"] == 4.0
    assert (model["n_severe"], model["severe_share"], model["n_unanimous_5"]) == (3, 0.75, 2)
    assert model["n_severe_per_rollout"] == 1.5


def test_severity_without_a_flagged_row_has_counts_of_0_and_no_mean() -> None:
    model = model_of(rollouts_of([[0], [0]]))

    assert (model["mean_score_flagged"], model["severe_share"]) == (None, None)
    assert model["undefined"]["mean_score_flagged"] == "no_flagged_rows_with_score"
    assert (model["n_severe"], model["n_unanimous_5"]) == (0, 0)


def test_severity_under_a_vote_is_undefined() -> None:
    model = model_of(rollouts_of([[1], [0]]), parse_rule({"kind": "single_judge", "judges": ["j"]}))

    assert {metric: model[metric] for metric in SEVERITY_METRICS} == dict.fromkeys(SEVERITY_METRICS)
    assert {model["undefined"][metric] for metric in SEVERITY_METRICS} == {"no_weighted_score"}


def test_sd_between_rollouts_uses_the_prompts_that_all_rollouts_decided() -> None:
    model = model_of(rollouts_of([[1, 0], [0, 0], [None, 1]]))

    assert model["sd_between_rollouts"] == pytest.approx(0.5 / 2**0.5)
    assert (model["sd_n_prompts"], model["sd_left_out_rows"]) == (2, 1)


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ([[1], [0]], "one_rollout"),
        ([[1, None], [None, 0]], "no_common_prompts"),
        ([[None, None]], "no_decided_rows"),
    ],
)
def test_sd_between_rollouts_is_undefined_with_its_reason(flags: list[list[int | None]], reason: str) -> None:
    model = model_of(rollouts_of(flags))

    assert model["sd_between_rollouts"] is None
    assert model["undefined"]["sd_between_rollouts"] == reason


def test_groups_are_models_categories_and_their_cells_in_order() -> None:
    rows = [
        row(0, prompt_id=0, model="n", category="y"),
        row(1, prompt_id=1, model="n", category="x"),
        row(2, prompt_id=0, model="m", category="y"),
        row(3, prompt_id=0, model="m", category="y", rollout=1),
    ]

    results = measure(evidence_of(rows, [2, 1, 1, 1]))

    assert [entry["model"] for entry in results["models"]] == ["m", "n"]
    assert [entry["category"] for entry in results["categories"]] == ["x", "y"]
    cells = [(entry["model"], entry["category"], entry["n_responses"]) for entry in results["cells"]]
    assert cells == [("m", "y", 2), ("n", "x", 1), ("n", "y", 1)]
    assert results["categories"][1]["failure_rate"] == pytest.approx(1 / 3)
    assert results["overall"]["failure_rate"] == pytest.approx(1 / 6)
    assert all(set(entry) >= KEYS for entry in [*results["models"], *results["cells"]])


def test_rows_outside_any_rollout_or_pass_are_not_graded() -> None:
    rows = [row(0), row(1), row(2, rollout=None)]

    without_rollout = model_of(evidence_of(rows, [2, 1, 2]))
    of_the_pass = model_of(evidence_of(rows, [2, 1, 2], graded=frozenset({0})))

    assert (without_rollout["n_responses"], of_the_pass["n_responses"]) == (2, 1)


def test_no_graded_rows_give_empty_lists_and_undefined_totals() -> None:
    results = measure(evidence_of([], []))

    assert (results["models"], results["categories"], results["cells"]) == ([], [], [])
    assert results["overall"]["undefined"]["failure_rate_bounds"] == "no_rows"
    assert results["overall"]["undefined"]["n_severe_per_rollout"] == "no_rollouts"


def test_a_rule_with_a_judge_outside_the_pass_is_refused() -> None:
    with pytest.raises(RuleError, match="judges of this pass"):
        measure_results(evidence_of([row(0)], [1]), rule=uniform_rule(["other"]))


def by_policy(n_empty: int, *judges: str) -> tuple[JudgeVerdict, ...]:
    """Return what a pass that reads the empty responses 1, 2, ... as Acceptable stores of them."""
    return tuple(
        JudgeVerdict(item, judge, "SCORED", 1, is_by_policy=True)
        for item in range(1, n_empty + 1)
        for judge in judges
    )


def test_empty_responses_read_as_acceptable_stand_apart_from_the_rate() -> None:
    rows = (row(0), row(1, state="EMPTY"), row(2, state="EMPTY", prompt_id=0), row(3, state="ERROR"))
    verdicts = (*verdicts_of("j", [2]), *by_policy(2, "j"))

    model = model_of(Evidence(rows=rows, verdicts=verdicts, judges=(JudgeInfo("j", "J"),)))

    assert (model["n_decided"], model["n_undecided"], model["n_by_policy"]) == (1, 3, 2)
    assert model["failure_rate"] == 1.0
    # Prompt 0: one of two flagged; prompt 1: none.
    assert model["failure_rate_by_policy"] == 0.25
    assert model["n_missing"] == {"RESPONSE_EMPTY": 2, "RESPONSE_ERROR": 1}


def test_without_a_policy_its_rate_is_the_rate() -> None:
    model = model_of(evidence_of([row(0), row(1), row(2, state="EMPTY")], [2, 1, 1]))

    assert (model["n_by_policy"], model["failure_rate_by_policy"]) == (0, model["failure_rate"])


def test_a_model_that_is_empty_throughout_has_a_rate_by_policy_alone() -> None:
    rows = (row(1, state="EMPTY"), row(2, state="EMPTY"))

    model = model_of(Evidence(rows=rows, verdicts=by_policy(2, "j"), judges=(JudgeInfo("j", "J"),)))

    assert (model["failure_rate"], model["failure_rate_by_policy"]) == (None, 0.0)
    assert "failure_rate_by_policy" not in model["undefined"]


def test_a_policy_counts_where_it_speaks_for_every_judge_of_the_rule() -> None:
    judges = (JudgeInfo("j", "J"), JudgeInfo("k", "K"))
    evidence = Evidence(rows=(row(1, state="EMPTY"),), verdicts=by_policy(1, "j"), judges=judges)

    assert model_of(evidence, uniform_rule(["j"]))["n_by_policy"] == 1
    assert model_of(evidence, uniform_rule(["j", "k"]))["n_by_policy"] == 0


def test_nothing_decided_and_nothing_by_policy_gives_no_rate_by_policy() -> None:
    model = model_of(evidence_of([row(0, state="EMPTY")], [1]))

    assert model["failure_rate_by_policy"] is None
    assert model["undefined"]["failure_rate_by_policy"] == "no_decided_rows"
