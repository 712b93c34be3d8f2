"""Responses for a campaign, chosen by what judges said: score band, disagreement, nearness to the threshold.

The choice is the researcher's and stays with the campaign's record; annotators never learn of it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from annotation.choices import Allocation
from annotation.models import Benchmark
from annotation.selectors import choose_responses
from annotation.selectors.sampling import stratified_sample
from judging.choices import Disagreement
from judging.errors import PassError, RuleError
from judging.models import JudgePass
from judging.reports import Grading, grade_responses


@dataclass(frozen=True, kw_only=True)
class ScoreCriteria:
    """What a response must fulfil, all of it; None and empty ask for nothing.

    `score_from` and `score_to` bound the rule's weighted score, ends included; `near_threshold` is the
    largest distance of that score from the rule's threshold.
    """

    judge_pass: JudgePass | None = None
    rule: str | None = None
    score_from: Decimal | None = None
    score_to: Decimal | None = None
    near_threshold: Decimal | None = None
    disagreement: Disagreement | None = None
    risk_categories: Collection[str] = ()
    models: Collection[str] = ()
    n_at_most: int | None = None
    seed: int = 0

    @property
    def needs_weighted_score(self) -> bool:
        return any(bound is not None for bound in (self.score_from, self.score_to, self.near_threshold))


@dataclass(frozen=True)
class ScoredChoice:
    """The chosen responses, how they were found, and how it is written down.

    `n_considered` readable responses of the categories and models were looked at; `n_without_score` of
    them lack what the criteria need, `n_fitting` fulfil them, and the rest do not.
    """

    response_ids: list[int]
    n_considered: int
    n_without_score: int
    n_fitting: int
    selection: Mapping[str, Any]


def choose_by_scores(benchmark: Benchmark, criteria: ScoreCriteria) -> ScoredChoice:
    """Choose readable responses by their scores in one pass, and draw some at random if there are more.

    A response with a judge missing has no weighted score; with fewer than two scores, no disagreement.

    Raises:
        PassError: there is no finished pass, or the pass scores no response.
        RuleError: the rule is unknown or unfit, or counts votes where a weighted score is asked for.
    """
    from judging.stats.aggregation import distance_from_threshold, scores_differ

    grading = grade_responses(benchmark, judge_pass=criteria.judge_pass, rule=criteria.rule)
    if grading.judge_pass is None or grading.chosen is None:
        raise PassError(
            f"No judge has scored a response of {benchmark.slug} yet. Finish a pass or import scores first.",
            code="no_pass",
        )
    rule = grading.chosen.rule
    if criteria.needs_weighted_score and rule.threshold is None:
        raise RuleError(
            f"The rule {grading.chosen.name} counts votes and has no weighted score. Choose by disagreement, "
            "or name a rule with weights.",
            code="no_weighted_score",
        )
    considered = choose_responses(
        benchmark, risk_categories=criteria.risk_categories, model_slugs=criteria.models
    )
    scores = _scores_by_response(grading)
    n_without_score, fitting = 0, []
    for pk in considered:
        tests: list[bool | None] = []
        decision = grading.decisions.get(pk)
        score = decision.score if decision is not None and not decision.missing else None
        if criteria.needs_weighted_score:
            tests.append(None if score is None else _is_within(score, criteria))
        if criteria.near_threshold is not None:
            distance = None if score is None else distance_from_threshold(rule, score)
            tests.append(None if distance is None else distance <= Fraction(criteria.near_threshold))
        if criteria.disagreement is not None:
            tests.append(
                scores_differ(scores.get(pk, []), by=criteria.disagreement.n_steps, is_binary=rule.is_binary)
            )
        if None in tests:
            n_without_score += 1
        elif all(tests):
            fitting.append(pk)
    n_at_most = len(fitting) if criteria.n_at_most is None else criteria.n_at_most
    drawn = stratified_sample(
        {"all": fitting}, n_at_most=n_at_most, allocation=Allocation.EQUAL, seed=criteria.seed
    )
    return ScoredChoice(
        response_ids=sorted(drawn),
        n_considered=len(considered),
        n_without_score=n_without_score,
        n_fitting=len(fitting),
        selection=_written_down(criteria, grading, n_fitting=len(fitting)),
    )


def _scores_by_response(grading: Grading) -> dict[int, list[int]]:
    scores: dict[int, list[int]] = {}
    for verdict in grading.evidence.verdicts:
        if verdict.score is not None:
            scores.setdefault(verdict.response_id, []).append(verdict.score)
    return scores


def _is_within(score: Fraction, criteria: ScoreCriteria) -> bool:
    return (criteria.score_from is None or score >= Fraction(criteria.score_from)) and (
        criteria.score_to is None or score <= Fraction(criteria.score_to)
    )


def _written_down(criteria: ScoreCriteria, grading: Grading, *, n_fitting: int) -> dict[str, Any]:
    """What the campaign keeps of the choice: numbers as text, since JSON would round them."""
    judge_pass, chosen = grading.judge_pass, grading.chosen
    return {
        "chosen_by": "scores",
        "pass": judge_pass.public_id if judge_pass else None,
        "rule": chosen.rule.to_json() if chosen else None,
        "score_from": _text(criteria.score_from),
        "score_to": _text(criteria.score_to),
        "near_threshold": _text(criteria.near_threshold),
        "disagreement": criteria.disagreement.value if criteria.disagreement else None,
        "risk_categories": sorted(criteria.risk_categories),
        "models": sorted(criteria.models),
        "n_at_most": criteria.n_at_most,
        "n_fitting": n_fitting,
        "seed": criteria.seed,
    }


def _text(number: Decimal | None) -> str | None:
    return None if number is None else str(number)
