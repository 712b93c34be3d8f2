"""The failure modes of a benchmark's Unacceptable responses: one document for page, API, command, export."""

from typing import Any

from annotation.models import Benchmark
from judging.choices import FailureMode, PassKind, PassState, VerdictState
from judging.errors import PassError
from judging.models import JudgePass, Verdict
from judging.reports.rule_choice import choose_rule
from judging.selectors import default_pass, find_pass, judges_of, passes_of
from judging.staleness import reported_state
from judging.stats.rules import parse_rule


def default_classification(benchmark: Benchmark) -> JudgePass | None:
    """The newest finished classification, else the newest one, None when there is none. Two queries."""
    classifications = passes_of(benchmark, PassKind.CLASSIFICATION)
    finished = classifications.filter(state=PassState.FINISHED).order_by("-finished_at", "-pk")
    return finished.first() or classifications.first()


def find_classification(benchmark: Benchmark, name: str) -> JudgePass:
    """The classification with this public id or name.

    Raises:
        PassError: no such pass in this benchmark, or one of another kind.
    """
    found = find_pass(benchmark, name)
    if found.kind != PassKind.CLASSIFICATION:
        raise PassError(
            f"The pass {found.name} is for {found.get_kind_display()}; expected a classification. Leave the "
            "pass out for the newest one.",
            code="not_a_classification",
        )
    return found


def newest_of(judge_pass: JudgePass) -> JudgePass | None:
    """The newest classification that graded this judging pass, finished ones first. Two queries."""
    of_pass = passes_of(judge_pass.benchmark, PassKind.CLASSIFICATION).filter(
        configuration__graded__pass=judge_pass.public_id
    )
    finished = of_pass.filter(state=PassState.FINISHED).order_by("-finished_at", "-pk")
    return finished.first() or of_pass.first()


def build_failure_modes(benchmark: Benchmark, *, classification: JudgePass | None = None) -> dict[str, Any]:
    """Count the failure modes of one classification. Nine queries at most; no texts are read.

    Args:
        benchmark: whose responses.
        classification: `default_classification` when None.

    Returns:
        `pass` and what it froze (classifier, graded pass, rule in words), whether reports still rest on
        these (`is_of_default_pass`, `is_by_default_rule`), and `overall`, `models`, `categories` and
        `cells` as `stats.failure_modes.measure_failure_modes` gives them. Without any classification
        `pass` is None and the lists are empty. A verdict on a text that changed since counts as
        unclassified, with the reason STALE.
    """
    from judging.stats.failure_modes import measure_failure_modes

    classification = classification or default_classification(benchmark)
    rows = [] if classification is None else classified_rows(classification)
    return {
        "benchmark": benchmark.slug,
        "is_simulated": benchmark.is_simulated or bool(classification and classification.is_simulated),
        **_about(classification),
        **measure_failure_modes(rows, modes=FailureMode.values),
        "passes": [
            {"pass": other.public_id, "name": other.name, "state": other.state}
            for other in passes_of(benchmark, PassKind.CLASSIFICATION)
        ],
    }


def classified_rows(classification: JudgePass) -> list[Any]:
    """Every row of a classification as the statistics read it, by response. One query."""
    from judging.stats.failure_modes import ClassifiedRow

    values = (
        Verdict.objects.filter(judge_pass=classification)
        .order_by("response_id")
        .values_list(
            "response_id",
            "response__prompt_id",
            "response__target_model__slug",
            "response__prompt__risk_category",
            reported_state(),
            "failure_mode",
        )
    )
    return [
        ClassifiedRow(
            response_id=response_id,
            prompt_id=prompt_id,
            model=model,
            category=category,
            state=state,
            mode=mode if state == VerdictState.SCORED else None,
        )
        for response_id, prompt_id, model, category, state, mode in values.iterator()
    ]


def classified_responses(
    classification: JudgePass, *, counted_as: str | None = None, state: str | None = None
) -> set[int]:
    """Ids of the responses behind a count of `build_failure_modes`. One query.

    Args:
        classification: whose rows.
        counted_as: a failure mode, UNPARSED or UNCLASSIFIED; None for every response that it took up.
        state: under which state, such as PARSE_FAILED or STALE; None for any.
    """
    return {
        row.response_id
        for row in classified_rows(classification)
        if counted_as in (None, row.bucket) and state in (None, row.state)
    }


def graded_pass(classification: JudgePass) -> JudgePass | None:
    """The judging pass whose Unacceptable responses a classification names modes for. One query."""
    public_id = classification.configuration["graded"]["pass"]
    return JudgePass.objects.filter(benchmark=classification.benchmark_id, public_id=public_id).first()


def _about(classification: JudgePass | None) -> dict[str, Any]:
    """What a classification is of. Six queries."""
    from judging.stats.aggregation import rule_in_words

    names = ("pass", "pass_name", "state", "classifier", "graded_pass", "graded_pass_name", "rule")
    if classification is None:
        more = ("rule_name", "rule_in_words", "is_of_default_pass", "is_by_default_rule")
        return dict.fromkeys((*names, *more))
    frozen = classification.configuration["graded"]
    graded = graded_pass(classification)
    rule = parse_rule(frozen["rule"])
    judges = judges_of(graded)
    short_names = {judge.slug: judge.short_name for judge in judges}
    default_rule = choose_rule(classification.benchmark, judges, None)
    return {
        "pass": classification.public_id,
        "pass_name": classification.name,
        "state": classification.state,
        "classifier": next(iter(classification.configuration["judges"])),
        "graded_pass": frozen["pass"],
        "graded_pass_name": graded.name if graded else None,
        "rule": frozen["rule"],
        "rule_name": frozen["rule_name"],
        "rule_in_words": rule_in_words(rule, short_names),
        "is_of_default_pass": graded is not None and graded == default_pass(classification.benchmark),
        "is_by_default_rule": default_rule is not None and default_rule.rule.to_json() == rule.to_json(),
    }
