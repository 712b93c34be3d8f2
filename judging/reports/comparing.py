"""Two passes side by side under one rule: the document behind page, API, command and table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Benchmark
from judging.choices import PassKind
from judging.errors import PassError
from judging.models import JudgePass
from judging.reports.building import DEFAULT_SEED
from judging.reports.comparison_words import answer_in_words
from judging.reports.digests import code_version, digest_of_input
from judging.reports.rule_choice import ChosenRule, choose_rule
from judging.selectors import load_evidence, passes_of
from judging.stats.records import Evidence
from judging.stats.rules import check_rule_against

# What is frozen beside the configuration of a pass and affects no score.
NOT_COMPARED = frozenset({"prices", "worst_call_micros", "call_tokens"})


@dataclass(frozen=True)
class PassPair:
    """Two passes of one benchmark and the rule that reads both."""

    benchmark: Benchmark
    before: JudgePass
    after: JudgePass
    chosen: ChosenRule
    evidence_before: Evidence
    evidence_after: Evidence


def pair_passes(
    benchmark: Benchmark,
    *,
    before: JudgePass,
    after: JudgePass,
    rule: str | Mapping[str, object] | None = None,
) -> PassPair:
    """Load two passes and choose the rule that both are read by.

    The default is the benchmark's rule if it fits the judges that both passes have on one scale, else
    a default over those.

    Raises:
        PassError: one pass twice, a pass that gives no scores, or no judge in common.
        RuleError: the rule is unknown, malformed, or does not fit both passes.
    """
    _check_comparable(before, after)
    evidence_before = load_evidence(benchmark, judge_pass=before)
    evidence_after = load_evidence(benchmark, judge_pass=after)
    scales = {judge.slug: judge.is_binary for judge in evidence_before.judges}
    common = [judge for judge in evidence_after.judges if scales.get(judge.slug) == judge.is_binary]
    chosen = choose_rule(benchmark, common, rule) if common else None
    if chosen is None:
        raise PassError(
            f"The passes {before.name} and {after.name} have no judge in common that answers on the same "
            "scale; expected at least one. Compare passes of the same judges.",
            code="no_common_judge",
        )
    check_rule_against(chosen.rule, evidence_before.judges)
    return PassPair(benchmark, before, after, chosen, evidence_before, evidence_after)


def compare_passes(
    benchmark: Benchmark,
    *,
    before: JudgePass,
    after: JudgePass,
    rule: str | Mapping[str, object] | None = None,
    seed: int = DEFAULT_SEED,
) -> dict[str, Any]:
    """Compute which verdicts differ between two passes, and whether the failure rate moved.

    Nothing is stored.

    Returns:
        The figures of `stats.comparison.measure_changes`, with both passes, the rule, the sentence that
        says whether it mattered under `answer`, what the configurations differ in under `differences`,
        and the digests of the reports that rest on the same input under `digests`.

    Raises:
        PassError, RuleError: as `pair_passes`.
    """
    return describe_pair(pair_passes(benchmark, before=before, after=after, rule=rule), seed=seed)


def describe_pair(pair: PassPair, *, seed: int = DEFAULT_SEED) -> dict[str, Any]:
    """The document of `compare_passes` for passes that are loaded already."""
    from judging.stats.aggregation import rule_in_words
    from judging.stats.comparison import measure_changes

    short_names = {judge.slug: judge.short_name for judge in pair.evidence_after.judges}
    differences = list(_differences(pair.before.configuration, pair.after.configuration))
    figures = measure_changes(pair.evidence_before, pair.evidence_after, rule=pair.chosen.rule, seed=seed)
    return {
        "answer": answer_in_words(figures),
        "benchmark": pair.benchmark.slug,
        "is_simulated": any((pair.benchmark.is_simulated, pair.before.is_simulated, pair.after.is_simulated)),
        "before": _describe(pair.before),
        "after": _describe(pair.after),
        "rule": pair.chosen.rule.to_json(),
        "rule_name": pair.chosen.name,
        "rule_source": pair.chosen.source,
        "rule_in_words": rule_in_words(pair.chosen.rule, short_names),
        "differences": differences,
        **figures,
        "digests": {
            side: digest_of_input(
                evidence, benchmark=pair.benchmark, judge_pass=judge_pass, chosen=pair.chosen, seed=seed
            )
            for side, judge_pass, evidence in (
                ("before", pair.before, pair.evidence_before),
                ("after", pair.after, pair.evidence_after),
            )
        },
        "code_version": code_version(),
        "seed": seed,
    }


def comparable_passes(benchmark: Benchmark) -> list[JudgePass]:
    """The passes that can be compared, newest first. One query."""
    return list(passes_of(benchmark, PassKind.JUDGING))


def _check_comparable(before: JudgePass, after: JudgePass) -> None:
    if before.pk == after.pk:
        raise PassError(
            f"The pass {before.name} is named twice; expected two passes. Name another one as the earlier "
            "or the later.",
            code="same_pass",
        )
    for judge_pass in (before, after):
        if judge_pass.kind != PassKind.JUDGING:
            raise PassError(
                f"The pass {judge_pass.name} is for {judge_pass.get_kind_display()} and gives no scores; "
                "expected a pass of judges.",
                code="no_judging_pass",
            )


def _describe(judge_pass: JudgePass) -> dict[str, Any]:
    return {
        "pass": judge_pass.public_id,
        "name": judge_pass.name,
        "state": judge_pass.state,
        "source": judge_pass.source,
        "is_simulated": judge_pass.is_simulated,
        "finished_at": judge_pass.finished_at.isoformat() if judge_pass.finished_at else None,
        "configuration_digest": judge_pass.digest,
    }


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Each setting that the configurations do not share, by its dotted name."""
    old, new = dict(_flatten(before)), dict(_flatten(after))
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield {"setting": name, "before": old.get(name), "after": new.get(name)}


def _flatten(configuration: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in configuration.items():
        if not prefix and name in NOT_COMPARED:
            continue
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
