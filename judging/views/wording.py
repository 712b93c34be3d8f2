"""Words for the codes that reports hold: why a figure is missing, and what a missing verdict was."""

from collections.abc import Mapping

from annotation.choices import ResponseState
from judging.choices import GenerationState, PassKind, PassSource, PassState, SkipCode, VerdictState
from judging.staleness import STALE

REASONS: Mapping[str, str] = {
    "no_common_scale": "no common 1-5 scale: one side gives only the two classes",
    "one_class": "only one class is present on both sides",
    "few_prompts": "fewer than 20 prompts in common, too few for an interval",
    "undefined_resamples": "the figure was undefined in more than 5 % of the resamples",
    "not_among_50_largest": "intervals are drawn for the 50 pairs with the most responses",
    "no_defined_kappa": "no pair has a defined kappa",
    "too_many_pairs": "intervals are drawn for up to 50 pairs of people",
    "no_item_rated_twice": "no response has two ratings",
    "no_decided_rows": "no response is decided",
    "one_prompt": "a single prompt gives no interval",
    "no_rows": "no response",
    "one_rollout": "one rollout only",
    "no_common_prompts": "no prompt is decided in every rollout",
    "no_weighted_score": "the rule counts votes and has no weighted score",
    "binary_judges": "the judges flag or do not flag; there is no 1-5 score",
    "no_flagged_rows_with_score": "no Unacceptable response has a weighted score",
    "no_rollouts": "no rollout is decided",
    "fewer_than_two_judges": "fewer than two judges",
    "no_complete_rows": "no response was scored by every judge",
}
MISSING_WORDS: Mapping[str, str] = {
    **{state.value: str(state.label) for state in VerdictState},
    **{code.value: str(code.label) for code in SkipCode},
    **{f"RESPONSE_{state.value}": f"response {state.label}" for state in ResponseState},
    "NOT_JUDGED": "never judged",
    STALE: "text changed since",
}
RULE_SOURCES: Mapping[str, str] = {
    "given": "chosen on this page",
    "adopted": "the rule adopted for this benchmark",
    "published": "the published rule, since its three judges are in the pass",
    "uniform": "the default: all judges weigh the same",
}
PAIR_KINDS: Mapping[str, str] = {
    "rule-human": "rule with people",
    "judge-human": "judge with people",
    "human-human": "people with each other",
    "judge-judge": "judges with each other",
}


def reason_words(code: str | None) -> str:
    """Why a figure has no value, in words; an unknown code is shown as it is."""
    return REASONS.get(code or "", (code or "no value").replace("_", " "))


def missing_words(state: str) -> str:
    """What a missing verdict was, in words; an unknown state is shown as it is."""
    return MISSING_WORDS.get(state, state)


def row_state_words(kind: str) -> dict[str, str]:
    """The states of a pass's rows in the order in which a row goes through them, with their words."""
    states = GenerationState if kind == PassKind.COLLECTION else VerdictState
    return {state.value: str(state.label) for state in states}


def pass_state_words(state: str) -> str:
    return str(PassState(state).label)


def pass_source_words(source: str) -> str:
    return str(PassSource(source).label)


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """`1 prompt`, `1,204 prompts`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
