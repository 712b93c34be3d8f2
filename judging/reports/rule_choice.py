"""Which rule a report grades by: the one asked for, the adopted one, or a default."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import Benchmark
from judging.choices import JUDGE_ALIASES
from judging.errors import RuleError
from judging.models import GradingRule
from judging.selectors import adopted_rule
from judging.stats.records import Evidence
from judging.stats.rules import (
    PUBLISHED_WEIGHTS,
    Rule,
    check_rule_against,
    parse_rule,
    published_rule,
    uniform_rule,
)

PUBLISHED_RULE_NAME = "published"
UNIFORM_RULE_NAME = "uniform"
GIVEN_RULE_NAME = "given"
UNIFORM_BINARY_THRESHOLD = "0.5"


@dataclass(frozen=True)
class ChosenRule:
    """The rule of a report and why it is this one.

    `source` is `given`, `adopted`, `published` (the default where its judges are in the pass) or
    `uniform` (the default elsewhere).
    """

    rule: Rule
    name: str
    source: str


def choose_rule(
    benchmark: Benchmark, evidence: Evidence, rule: str | Mapping[str, object] | None
) -> ChosenRule | None:
    """The rule of a report: the given one, else the adopted one, else a default; None without judges.

    Raises:
        RuleError: no rule of that name, malformed JSON, or judges that are not in the pass.
    """
    if not evidence.judges:
        if rule is not None:
            raise RuleError(
                "A rule needs judges, and this benchmark has no finished pass. Import scores or judge first."
            )
        return None
    chosen = (
        _named_rule(benchmark, evidence, rule) if rule is not None else _default_rule(benchmark, evidence)
    )
    return ChosenRule(
        rule=check_rule_against(chosen.rule, evidence.judges), name=chosen.name, source=chosen.source
    )


def _default_rule(benchmark: Benchmark, evidence: Evidence) -> ChosenRule:
    slugs = {judge.slug for judge in evidence.judges}
    adoption = adopted_rule(benchmark)
    if adoption is not None:
        adopted = parse_rule(adoption.rule.definition)
        if slugs.issuperset(adopted.judges):
            return ChosenRule(rule=adopted, name=adoption.rule.name, source="adopted")
    if slugs.issuperset(PUBLISHED_WEIGHTS) and not any(judge.is_binary for judge in evidence.judges):
        return ChosenRule(rule=published_rule(), name=PUBLISHED_RULE_NAME, source="published")
    return _uniform_rule(evidence, source="uniform")


def _uniform_rule(evidence: Evidence, *, source: str) -> ChosenRule:
    slugs = [judge.slug for judge in evidence.judges]
    is_binary = all(judge.is_binary for judge in evidence.judges)
    rule = uniform_rule(slugs, threshold=UNIFORM_BINARY_THRESHOLD) if is_binary else uniform_rule(slugs)
    return ChosenRule(rule=rule, name=UNIFORM_RULE_NAME, source=source)


def _named_rule(benchmark: Benchmark, evidence: Evidence, rule: str | Mapping[str, object]) -> ChosenRule:
    if not isinstance(rule, str):
        return _given_rule(rule)
    text = rule.strip()
    if text.startswith("{"):
        try:
            definition = json.loads(text)
        except json.JSONDecodeError as error:
            raise RuleError(
                f"The rule is no JSON ({error.msg} at character {error.pos + 1}). Correct it or give a "
                "rule's name."
            ) from error
        return _given_rule(definition)
    if text == PUBLISHED_RULE_NAME:
        return ChosenRule(rule=published_rule(), name=text, source="given")
    if text == UNIFORM_RULE_NAME:
        return _uniform_rule(evidence, source="given")
    stored = GradingRule.objects.filter(benchmark=benchmark, name=text).first()
    if stored is None:
        names = (
            GradingRule.objects.filter(benchmark=benchmark).order_by("name").values_list("name", flat=True)
        )
        known = ", ".join([PUBLISHED_RULE_NAME, UNIFORM_RULE_NAME, *names])
        raise RuleError(
            f"There is no rule {text[:80]!r}. Known: {known}. Or give a rule as JSON.", code="unknown_rule"
        )
    return ChosenRule(rule=parse_rule(stored.definition), name=stored.name, source="given")


def _given_rule(definition: object) -> ChosenRule:
    if not isinstance(definition, Mapping):
        raise RuleError(f"The rule is a JSON {type(definition).__name__}; expected an object with its kind.")
    return ChosenRule(rule=parse_rule(_with_slugs(definition)), name=GIVEN_RULE_NAME, source="given")


def _with_slugs(definition: Mapping[str, object]) -> dict[str, object]:
    """The definition with the paper's file names of judges replaced by their slugs."""
    renamed = dict(definition)
    weights, judges = renamed.get("weights"), renamed.get("judges")
    if isinstance(weights, Mapping):
        renamed["weights"] = {_slug_of(name): weight for name, weight in weights.items()}
    if isinstance(judges, list):
        renamed["judges"] = [
            JUDGE_ALIASES.get(name, name) if isinstance(name, str) else name for name in judges
        ]
    return renamed


def _slug_of(name: object) -> object:
    return JUDGE_ALIASES.get(name, name) if isinstance(name, str) else name
