"""Which rule a report grades by: the one asked for, the adopted one, or a default."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from annotation.models import Benchmark
from judging.choices import JUDGE_ALIASES
from judging.errors import RuleError
from judging.models import GradingRule
from judging.selectors import adopted_rule
from judging.stats.records import JudgeInfo
from judging.stats.rules import (
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
MAX_RULE_CHARACTERS = 4000
KEPT_NAME = re.compile(r"[-a-zA-Z0-9_]{1,64}\Z")


@dataclass(frozen=True)
class ChosenRule:
    """The rule of a report and why it is this one.

    `source` is `given`, `adopted`, `published` (the default where its judges are in the pass) or
    `uniform` (the default elsewhere). `unfit_adopted` names the adopted rule where a default
    stands in for it, because it does not fit the judges.
    """

    rule: Rule
    name: str
    source: str
    unfit_adopted: str | None = None


def choose_rule(
    benchmark: Benchmark, judges: Sequence[JudgeInfo], rule: str | Mapping[str, object] | None
) -> ChosenRule | None:
    """The rule of a report: the given one, else the adopted one if it fits, else a default. Two queries.

    None without judges.

    Raises:
        RuleError: no rule of that name, malformed or oversized JSON, or a given rule that does not
            fit the judges.
    """
    if not judges:
        if rule is not None:
            raise RuleError(
                "A rule needs judges, and this benchmark has no finished pass. Import scores or judge first."
            )
        return None
    if rule is None:
        return _default_rule(benchmark, judges)
    chosen = _named_rule(benchmark, judges, rule) if isinstance(rule, str) else _given_rule(rule)
    return replace(chosen, rule=check_rule_against(chosen.rule, judges))


def fitting_rules(benchmark: Benchmark, judges: Sequence[JudgeInfo]) -> list[str]:
    """Names that `choose_rule` takes for these judges: built-in rules, then kept ones. One query."""
    if not judges:
        return []
    built_in = [PUBLISHED_RULE_NAME] if _fits(published_rule(), judges) else []
    kept = GradingRule.objects.filter(benchmark=benchmark).order_by("name")
    fitting = (stored.name for stored in kept if _fits(parse_rule(stored.definition), judges))
    return [*built_in, UNIFORM_RULE_NAME, *fitting]


def _default_rule(benchmark: Benchmark, judges: Sequence[JudgeInfo]) -> ChosenRule:
    adoption = adopted_rule(benchmark)
    if adoption is None:
        return _built_in_rule(judges)
    adopted = parse_rule(adoption.rule.definition)
    if not _fits(adopted, judges):
        # It was adopted for another pass, with other judges or another scale.
        return replace(_built_in_rule(judges), unfit_adopted=adoption.rule.name)
    return ChosenRule(check_rule_against(adopted, judges), name=adoption.rule.name, source="adopted")


def _built_in_rule(judges: Sequence[JudgeInfo]) -> ChosenRule:
    published = published_rule()
    if _fits(published, judges):
        return ChosenRule(published, name=PUBLISHED_RULE_NAME, source="published")
    return _uniform_rule(judges, source="uniform")


def _fits(rule: Rule, judges: Sequence[JudgeInfo]) -> bool:
    try:
        check_rule_against(rule, judges)
    except RuleError:
        return False
    return True


def _uniform_rule(judges: Sequence[JudgeInfo], *, source: str) -> ChosenRule:
    slugs = [judge.slug for judge in judges]
    is_binary = all(judge.is_binary for judge in judges)
    rule = uniform_rule(slugs, threshold=UNIFORM_BINARY_THRESHOLD) if is_binary else uniform_rule(slugs)
    return ChosenRule(rule=check_rule_against(rule, judges), name=UNIFORM_RULE_NAME, source=source)


def _named_rule(benchmark: Benchmark, judges: Sequence[JudgeInfo], rule: str) -> ChosenRule:
    text = rule.strip()
    if len(text) > MAX_RULE_CHARACTERS:
        raise RuleError(
            f"The rule has {len(text):,} characters; at most {MAX_RULE_CHARACTERS:,} are read. Give a rule's "
            "name or a shorter JSON."
        )
    if text.startswith("{"):
        return _rule_from_json(text)
    if text == PUBLISHED_RULE_NAME:
        return ChosenRule(rule=published_rule(), name=text, source="given")
    if text == UNIFORM_RULE_NAME:
        return _uniform_rule(judges, source="given")
    kept = GradingRule.objects.filter(benchmark=benchmark)
    # A text that no name can be is not looked up: a database may refuse to compare it.
    stored = kept.filter(name=text).first() if KEPT_NAME.match(text) else None
    if stored is None:
        names = kept.order_by("name").values_list("name", flat=True)
        known = ", ".join([PUBLISHED_RULE_NAME, UNIFORM_RULE_NAME, *names])
        raise RuleError(
            f"There is no rule {text[:80]!r}. Known: {known}. Or give a rule as JSON.", code="unknown_rule"
        )
    return ChosenRule(rule=parse_rule(stored.definition), name=stored.name, source="given")


def _rule_from_json(text: str) -> ChosenRule:
    try:
        return _given_rule(json.loads(text))
    except json.JSONDecodeError as error:
        raise RuleError(
            f"The rule is no JSON ({error.msg} at character {error.pos + 1}). Correct it or give a "
            "rule's name."
        ) from error
    except (ValueError, RecursionError) as error:
        # Numbers of thousands of digits, and lists within lists within lists.
        raise RuleError(
            "The rule's JSON is nested too deeply or holds too long a number. A rule is one object of "
            "names and short decimals; write it like that, or give a rule's name."
        ) from error


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
