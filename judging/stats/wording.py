"""A rule in words, from the combinations of scores that it flags. Decides nothing itself."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from judging.stats.rules import Rule, decimal_text, integer_form

MOST_CLAUSES_SPELT_OUT: Final = 8

Point = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """One judge's part of a clause: its score is `score`, or at least that.

    `is_exact` where a higher score needs no mention, because a simpler clause already covers it.
    """

    judge: str
    score: int
    is_exact: bool


Clause = tuple[Condition, ...]


def clauses_of(rule: Rule, flagged: Collection[Point]) -> tuple[Clause, ...]:
    """Return the smallest flagged combinations as clauses, simplest first, heaviest judge first.

    Args:
        rule: gives the judges, their order and their scale.
        flagged: every flagged combination, scores in the order of `rule.voters`; raising a
            score never takes a combination out.
    """
    form = integer_form(rule)
    lowest = rule.scale[0]
    order = sorted(range(len(form.judges)), key=lambda position: (-form.weights[position], position))
    minimal = [point for point in flagged if not any(below in flagged for below in _one_lower(point, lowest))]
    minimal.sort(
        key=lambda point: (
            _n_conditions(point, lowest),
            [point[position] == lowest for position in order],
            [-point[position] for position in order],
        )
    )
    return tuple(
        tuple(
            Condition(
                form.judges[position],
                point[position],
                point[position] == rule.scale[-1] or _is_covered_above(point, position, minimal, lowest),
            )
            for position in order
            if point[position] > lowest
        )
        for point in minimal
    )


def words_of(rule: Rule, clauses: Sequence[Clause] | None, short_names: Mapping[str, str]) -> str:
    """Write a rule's clauses as a phrase; as its formula when there are none to give or too many."""
    names = {judge: short_names.get(judge, judge) for judge in rule.judges}
    if rule.kind == "majority" and len(rule.judges) > 1:
        return _majority(rule, list(names.values()))
    if clauses is None or len(clauses) > MOST_CLAUSES_SPELT_OUT:
        return _formula(rule, names)
    if not clauses:
        return "never, whatever the scores"
    if () in clauses:
        return "always, whatever the scores"
    return ", or ".join(" and ".join(_condition(rule, part, names) for part in clause) for clause in clauses)


def _one_lower(point: Point, lowest: int) -> list[Point]:
    return [
        (*point[:position], score - 1, *point[position + 1 :])
        for position, score in enumerate(point)
        if score > lowest
    ]


def _n_conditions(point: Point, lowest: int) -> int:
    return sum(score > lowest for score in point)


def _is_covered_above(point: Point, position: int, minimal: Sequence[Point], lowest: int) -> bool:
    """Whether one score higher here already falls under a clause of fewer conditions.

    Fewer, because two clauses of one length could each leave their overlap to the other.
    """
    raised = (*point[:position], point[position] + 1, *point[position + 1 :])
    return any(
        _n_conditions(other, lowest) < _n_conditions(point, lowest)
        and all(low <= high for low, high in zip(other, raised, strict=True))
        for other in minimal
    )


def _condition(rule: Rule, condition: Condition, names: Mapping[str, str]) -> str:
    if rule.is_binary:
        return f"{names[condition.judge]} flags"
    return f"{names[condition.judge]} {'=' if condition.is_exact else '≥'} {condition.score}"


def _majority(rule: Rule, names: Sequence[str]) -> str:
    flag = "flag" if rule.is_binary else f"≥ {rule.cut}"
    tie = "; an even split is undecided" if len(names) % 2 == 0 else ""
    return f"at least {len(names) // 2 + 1} of {_listed(names)} {flag}{tie}"


def _formula(rule: Rule, names: Mapping[str, str]) -> str:
    if rule.threshold is None:
        flag = "flags" if rule.is_binary else f"≥ {rule.cut}"
        return f"any of {_listed(list(names.values()))} {flag}"
    threshold = decimal_text(rule.threshold)
    if rule.kind == "uniform_mean":
        return f"the mean of {_listed(list(names.values()))} ≥ {threshold}"
    terms = (
        f"{decimal_text(weight)} × {names[judge]}"
        for judge, weight in zip(rule.judges, rule.weights, strict=True)
        if weight
    )
    return f"{' + '.join(terms)} ≥ {threshold}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
