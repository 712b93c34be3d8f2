"""Keeping a rule under a name, and saying from when a benchmark's verdicts follow it."""

import re

from django.db import IntegrityError, transaction

from annotation.audit import record_event
from annotation.models import Account, Benchmark
from judging.errors import Conflict, RuleError
from judging.models import GradingRule, JudgePass, RuleAdoption
from judging.reports import PUBLISHED_RULE_NAME, UNIFORM_RULE_NAME, choose_rule
from judging.selectors import default_pass, judges_of

RULE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")


def adopt_rule(
    benchmark: Benchmark,
    *,
    rule: str,
    name: str,
    judge_pass: JudgePass | None = None,
    actor: Account | None = None,
) -> RuleAdoption:
    """Keep a rule under a name and make it the benchmark's default from now on.

    A kept rule never changes: adopting the same definition under its name again adopts that one.

    Args:
        benchmark: whose default it becomes.
        rule: a rule's name or JSON, as reports take it.
        name: lower-case letters, digits, hyphen and underscore; not the name of a built-in rule.
        judge_pass: the pass whose judges the rule must fit; the newest finished one when None.
        actor: who adopts it.

    Raises:
        RuleError: the rule is unknown, malformed or does not fit the judges; or the name cannot be used.
        Conflict: another definition stands under the name.
    """
    if not RULE_NAME.match(name) or name in (PUBLISHED_RULE_NAME, UNIFORM_RULE_NAME):
        raise RuleError(
            f"{name[:80]!r} cannot name a rule: expected up to 64 lower-case letters, digits, - or _, and "
            f"neither {PUBLISHED_RULE_NAME} nor {UNIFORM_RULE_NAME}. Choose another name.",
            code="bad_rule_name",
        )
    chosen = choose_rule(benchmark, judges_of(judge_pass or default_pass(benchmark)), rule)
    if chosen is None:
        raise RuleError("A rule needs judges, and this benchmark has no finished pass.")
    definition = chosen.rule.to_json()
    try:
        with transaction.atomic():
            kept, _ = GradingRule.objects.get_or_create(
                benchmark=benchmark, name=name, defaults={"definition": definition}
            )
            if kept.definition != definition:
                raise Conflict(
                    f"Another rule is kept as {name!r}, and a kept rule never changes. Choose another name.",
                    code="rule_name_taken",
                )
            adoption = RuleAdoption.objects.create(benchmark=benchmark, rule=kept, adopted_by=actor)
            record_event(actor=actor, action="rule.adopted", subject=f"benchmark:{benchmark.slug}", rule=name)
    except IntegrityError as error:
        raise Conflict(
            f"Somebody kept a rule as {name!r} at this moment. Look at it, then try again.",
            code="rule_name_taken",
        ) from error
    return adoption
