"""The single entry to every number: pages, API, commands and exports all come through here."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from annotation.models import Benchmark, Campaign
from judging.choices import PassState
from judging.errors import RuleError
from judging.models import GradingRule, JudgePass, Report
from judging.selectors import adopted_rule, default_pass, load_evidence
from judging.stats.records import Evidence
from judging.stats.rules import PUBLISHED_WEIGHTS, Rule, parse_rule, published_rule, uniform_rule

SCHEMA_VERSION = 1
DEFAULT_SEED = 20260629
PUBLISHED_RULE_NAME = "published"
UNIFORM_RULE_NAME = "uniform"
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


@dataclass(frozen=True)
class Grading:
    """The rows behind a report: evidence, the rule's decision and the consensus of each response.

    `digest` is the one of the report with the default seed that rests on the same input.
    """

    benchmark: Benchmark
    judge_pass: JudgePass | None
    chosen: ChosenRule | None
    evidence: Evidence
    decisions: Mapping[int, Any]
    consensus: Mapping[int, Any]
    digest: str


def build_report(
    benchmark: Benchmark,
    *,
    judge_pass: JudgePass | None = None,
    rule: str | Mapping[str, object] | None = None,
    campaign: Campaign | None = None,
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """Compute every number of a benchmark, or return the stored ones computed from the same input.

    Args:
        benchmark: whose responses, labels and verdicts.
        judge_pass: whose verdicts; the newest finished pass when None.
        rule: name or JSON form of a rule; the benchmark's default when None.
        campaign: only this campaign's labels.
        seed: of all resampling.

    Returns:
        The document of `build_report --json`: rates 0-1 unrounded, undefined values None with a
        reason, `agreement` as in `agreement --json`. Without any pass there is no rule and the
        lists of models, categories and cells are empty.

    Raises:
        RuleError: the rule is unknown, malformed, or names judges that are not in the pass.
    """
    content, is_stored = _find_or_compute(
        benchmark, judge_pass=judge_pass, rule=rule, campaign=campaign, seed=seed
    )
    if not is_stored:
        _store(content, benchmark=benchmark)
    return content | {"passes": _list_passes(benchmark)}


def read_report(
    benchmark: Benchmark,
    *,
    judge_pass: JudgePass | None = None,
    rule: str | Mapping[str, object] | None = None,
    campaign: Campaign | None = None,
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """The document of `build_report`, computed where it is not stored, and nothing written.

    For transactions that may only read, such as the snapshot of an export.

    Raises:
        RuleError: as `build_report`.
    """
    content, _ = _find_or_compute(benchmark, judge_pass=judge_pass, rule=rule, campaign=campaign, seed=seed)
    return content | {"passes": _list_passes(benchmark)}


def grade_responses(
    benchmark: Benchmark,
    *,
    judge_pass: JudgePass | None = None,
    rule: str | Mapping[str, object] | None = None,
    campaign: Campaign | None = None,
) -> Grading:
    """Decide every response by the rule and every labelled one by its labels.

    The same evidence and rule as `build_report` with these arguments; exports and the lists
    behind each number use it.

    Raises:
        RuleError: as `build_report`.
    """
    from judging.stats.aggregation import consensus, decide_responses

    judge_pass = judge_pass or default_pass(benchmark)
    evidence = load_evidence(benchmark, judge_pass=judge_pass, campaign=campaign)
    chosen = choose_rule(benchmark, evidence, rule)
    return Grading(
        benchmark=benchmark,
        judge_pass=judge_pass,
        chosen=chosen,
        evidence=evidence,
        decisions=decide_responses(evidence, chosen.rule) if chosen else {},
        consensus=consensus(evidence.labels),
        digest=_digest_of(
            evidence, benchmark=benchmark, judge_pass=judge_pass, chosen=chosen, seed=DEFAULT_SEED
        ),
    )


def choose_rule(
    benchmark: Benchmark, evidence: Evidence, rule: str | Mapping[str, object] | None
) -> ChosenRule | None:
    """The rule of a report: the given one, else the adopted one, else a default; None without judges.

    Raises:
        RuleError: no rule of that name, malformed JSON, or judges that are not in the pass.
    """
    from judging.stats.rules import check_rule_against

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
        return ChosenRule(rule=parse_rule(rule), name="given", source="given")
    text = rule.strip()
    if text.startswith("{"):
        try:
            definition = json.loads(text)
        except json.JSONDecodeError as error:
            raise RuleError(
                f"The rule is no JSON ({error.msg} at character {error.pos + 1}). Correct it or give a "
                "rule's name."
            ) from error
        return ChosenRule(rule=parse_rule(definition), name="given", source="given")
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


def _find_or_compute(
    benchmark: Benchmark,
    *,
    judge_pass: JudgePass | None,
    rule: str | Mapping[str, object] | None,
    campaign: Campaign | None,
    seed: int,
) -> tuple[dict[str, Any], bool]:
    """The report without the list of passes, and whether it was stored before."""
    judge_pass = judge_pass or default_pass(benchmark)
    evidence = load_evidence(benchmark, judge_pass=judge_pass, campaign=campaign)
    chosen = choose_rule(benchmark, evidence, rule)
    digest = _digest_of(evidence, benchmark=benchmark, judge_pass=judge_pass, chosen=chosen, seed=seed)
    stored = Report.objects.filter(digest=digest).first()
    if stored is not None:
        return stored.content, True
    content = _compute(evidence, benchmark=benchmark, judge_pass=judge_pass, chosen=chosen, seed=seed)
    return content | {"digest": digest, "code_version": settings.CODE_VERSION, "seed": seed}, False


def _compute(
    evidence: Evidence,
    *,
    benchmark: Benchmark,
    judge_pass: JudgePass | None,
    chosen: ChosenRule | None,
    seed: int,
) -> dict[str, Any]:
    from judging.stats.aggregation import rule_in_words
    from judging.stats.agreement import measure_agreement
    from judging.stats.results import measure_results

    short_names = {judge.slug: judge.short_name for judge in evidence.judges}
    results: dict[str, Any] = {"models": [], "categories": [], "cells": []}
    if chosen is not None:
        results = dict(measure_results(evidence, rule=chosen.rule))
    return {
        "benchmark": benchmark.slug,
        "is_simulated": benchmark.is_simulated or bool(judge_pass and judge_pass.is_simulated),
        "rule": chosen.rule.to_json() if chosen else None,
        "rule_name": chosen.name if chosen else None,
        "rule_source": chosen.source if chosen else None,
        "rule_in_words": rule_in_words(chosen.rule, short_names) if chosen else None,
        "pass": judge_pass.public_id if judge_pass else None,
        "pass_name": judge_pass.name if judge_pass else None,
        "judges": [{"judge": judge.slug, "short_name": judge.short_name} for judge in evidence.judges],
        **results,
        "agreement": measure_agreement(
            evidence,
            rule=chosen.rule if chosen else None,
            rule_name=chosen.name if chosen else None,
            seed=seed,
        ),
    }


def _list_passes(benchmark: Benchmark) -> list[dict[str, Any]]:
    passes = JudgePass.objects.filter(benchmark=benchmark).order_by("-created_at", "-pk")
    return [
        {
            "pass": judge_pass.public_id,
            "name": judge_pass.name,
            "state": judge_pass.state,
            "source": judge_pass.source,
            "is_finished": judge_pass.state == PassState.FINISHED,
        }
        for judge_pass in passes
    ]


def _digest_of(
    evidence: Evidence,
    *,
    benchmark: Benchmark,
    judge_pass: JudgePass | None,
    chosen: ChosenRule | None,
    seed: int,
) -> str:
    head = {
        "schema_version": SCHEMA_VERSION,
        "code_version": settings.CODE_VERSION,
        "benchmark": [benchmark.slug, benchmark.is_simulated],
        "pass": [judge_pass.public_id, judge_pass.digest, judge_pass.is_simulated] if judge_pass else None,
        "rule": [chosen.name, chosen.source, chosen.rule.to_json()] if chosen else None,
        "seed": seed,
    }
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for records in (evidence.rows, evidence.labels, evidence.verdicts, evidence.judges):
        digest.update(f"\n{len(records)}\n".encode())
        for record in records:
            # repr of a frozen dataclass names every field: a new field changes the digest.
            digest.update(repr(record).encode())
    digest.update(repr(sorted(evidence.graded or ())).encode())
    return digest.hexdigest()


def _store(content: dict[str, Any], *, benchmark: Benchmark) -> None:
    try:
        with transaction.atomic():
            Report.objects.create(
                benchmark=benchmark,
                schema_version=SCHEMA_VERSION,
                digest=content["digest"],
                seed=content["seed"],
                code_version=content["code_version"],
                content=content,
            )
    except IntegrityError:
        # Another request computed the same report meanwhile; theirs equals this one.
        return
