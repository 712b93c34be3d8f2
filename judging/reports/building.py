"""Building a report, or finding the stored one that was computed from the same input."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction

from annotation.models import Benchmark, Campaign
from judging.choices import PassKind, PassState
from judging.errors import PassError
from judging.models import JudgePass, Report
from judging.reports.digests import SCHEMA_VERSION, code_version, digest_of_input
from judging.reports.rule_choice import ChosenRule, choose_rule
from judging.selectors import (
    count_rollout_responses,
    default_pass,
    holds_simulated_responses,
    load_evidence,
    load_labels,
    passes_of,
)
from judging.stats.records import Evidence

DEFAULT_SEED = 20260629
MOST_REPORTS_KEPT = 20


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

    The newest `MOST_REPORTS_KEPT` reports of a benchmark stay stored; older ones make room, and are
    computed again where they are asked for.

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
        PassError: the pass is of a kind that scores no response.
    """
    content, is_stored = _find_or_compute(
        benchmark, judge_pass=judge_pass, rule=rule, campaign=campaign, seed=seed
    )
    if not is_stored:
        _store(content, benchmark=benchmark)
    return content | _about(benchmark)


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
        RuleError, PassError: as `build_report`.
    """
    content, _ = _find_or_compute(benchmark, judge_pass=judge_pass, rule=rule, campaign=campaign, seed=seed)
    return content | _about(benchmark)


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
        RuleError, PassError: as `build_report`.
    """
    from judging.stats.aggregation import consensus, decide_responses

    judge_pass = _judging_pass(benchmark, judge_pass)
    evidence = load_evidence(benchmark, judge_pass=judge_pass, campaign=campaign)
    chosen = choose_rule(benchmark, evidence.judges, rule)
    return Grading(
        benchmark=benchmark,
        judge_pass=judge_pass,
        chosen=chosen,
        evidence=evidence,
        decisions=decide_responses(evidence, chosen.rule) if chosen else {},
        consensus=consensus(evidence.labels),
        digest=digest_of_input(
            evidence, benchmark=benchmark, judge_pass=judge_pass, chosen=chosen, seed=DEFAULT_SEED
        ),
    )


def count_labels(benchmark: Benchmark, *, campaign: Campaign | None = None) -> dict[str, int]:
    """The counts under `agreement.labels` of `build_report`, without the rest of it. One query."""
    from judging.stats import agreement

    return agreement.count_labels(load_labels(benchmark, campaign))


def _judging_pass(benchmark: Benchmark, judge_pass: JudgePass | None) -> JudgePass | None:
    """The pass asked for, or the newest finished one.

    Raises:
        PassError: it is of a kind that scores no response.
    """
    if judge_pass is not None and judge_pass.kind != PassKind.JUDGING:
        raise PassError(
            f"The pass {judge_pass.name} is for {judge_pass.get_kind_display()} and scores no response. "
            "Name a judging pass.",
            code="not_a_judging_pass",
        )
    return judge_pass or default_pass(benchmark)


def _find_or_compute(
    benchmark: Benchmark,
    *,
    judge_pass: JudgePass | None,
    rule: str | Mapping[str, object] | None,
    campaign: Campaign | None,
    seed: int,
) -> tuple[dict[str, Any], bool]:
    """The report without the list of passes, and whether it was stored before."""
    judge_pass = _judging_pass(benchmark, judge_pass)
    evidence = load_evidence(benchmark, judge_pass=judge_pass, campaign=campaign)
    chosen = choose_rule(benchmark, evidence.judges, rule)
    digest = digest_of_input(evidence, benchmark=benchmark, judge_pass=judge_pass, chosen=chosen, seed=seed)
    stored = Report.objects.filter(digest=digest).first()
    if stored is not None:
        return stored.content, True
    content = _compute(evidence, benchmark=benchmark, judge_pass=judge_pass, chosen=chosen, seed=seed)
    return content | {"digest": digest, "code_version": code_version(), "seed": seed}, False


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
        "is_simulated": bool(judge_pass and judge_pass.is_simulated) or holds_simulated_responses(benchmark),
        "rule": chosen.rule.to_json() if chosen else None,
        "rule_name": chosen.name if chosen else None,
        "rule_source": chosen.source if chosen else None,
        "unfit_adopted_rule": chosen.unfit_adopted if chosen else None,
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


def _about(benchmark: Benchmark) -> dict[str, Any]:
    """What a report says of the benchmark as it is now, beside what it was computed from."""
    return {
        "passes": _list_passes(benchmark),
        "n_responses_of_benchmark": count_rollout_responses(benchmark),
    }


def _list_passes(benchmark: Benchmark) -> list[dict[str, Any]]:
    return [
        {
            "pass": judge_pass.public_id,
            "name": judge_pass.name,
            "state": judge_pass.state,
            "source": judge_pass.source,
            "is_finished": judge_pass.state == PassState.FINISHED,
        }
        for judge_pass in passes_of(benchmark)
    ]


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
            kept = Report.objects.filter(benchmark=benchmark).order_by("-pk")
            surplus = list(kept.values_list("pk", flat=True)[MOST_REPORTS_KEPT:])
            Report.objects.filter(pk__in=surplus).delete()
    except IntegrityError:
        # Another request computed the same report meanwhile; theirs equals this one.
        return
