"""The failure mode of every response that a classification took up."""

from collections import Counter
from collections.abc import Iterator

from annotation.models import Benchmark
from judging.choices import PassKind, VerdictState
from judging.errors import ExportError
from judging.exports.columns import Basis, Row, Table, integers, texts, utc_text
from judging.exports.requests import ExportRequest
from judging.models import JudgePass, Verdict
from judging.reports.failure_modes import build_failure_modes, default_classification, newest_of
from judging.staleness import reported_state


def open_failure_modes(benchmark: Benchmark, request: ExportRequest) -> Table:
    """One row for each Unacceptable response of a classification, whatever became of it. Nine queries.

    `failure_mode` is blank where the state is not SCORED; nothing is left out.

    Raises:
        ExportError: there is no classification, or none of the pass that is asked for.
    """
    classification = _classification_of(benchmark, request.judge_pass)
    document = build_failure_modes(benchmark, classification=classification)
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("risk_category", "risk_mechanism", "model", "classifier", "failure_mode", "state"),
            *texts("failure_code", "detail", "reply", "settled_at", "pass", "graded_pass", "response_id"),
        ),
        rows=_rows(classification, graded_pass=document["graded_pass_name"]),
        basis=Basis(
            judge_pass=classification,
            rule=document["rule"],
            rule_name=document["rule_name"],
            rule_in_words=document["rule_in_words"],
        ),
        left_out=Counter(),
        figures={name: document[name] for name in ("overall", "models", "categories")},
    )


def _classification_of(benchmark: Benchmark, judge_pass: JudgePass | None) -> JudgePass:
    """The classification asked for by itself, or by the judging pass that it graded."""
    if judge_pass is None:
        found = default_classification(benchmark)
    elif judge_pass.kind == PassKind.CLASSIFICATION:
        found = judge_pass
    else:
        found = newest_of(judge_pass)
    if found is None:
        raise ExportError(
            f"The benchmark {benchmark.slug} has no classification"
            f"{f' of the pass {judge_pass.name}' if judge_pass else ''}. Start one with classify_failures.",
            code="no_classification",
        )
    return found


def _rows(classification: JudgePass, *, graded_pass: str | None) -> Iterator[Row]:
    verdicts = (
        Verdict.objects.filter(judge_pass=classification)
        .annotate(shown_state=reported_state())
        .select_related("response__prompt", "response__target_model", "judge")
        .order_by("response_id")
    )
    for verdict in verdicts.iterator():
        response, prompt = verdict.response, verdict.response.prompt
        is_scored = verdict.shown_state == VerdictState.SCORED
        yield (
            prompt.case_uid,
            response.rollout,
            prompt.risk_category,
            prompt.risk_mechanism,
            response.target_model.slug,
            verdict.judge.slug,
            verdict.failure_mode if is_scored else None,
            verdict.shown_state,
            verdict.failure_code,
            verdict.detail,
            verdict.raw_text,
            utc_text(verdict.settled_at),
            classification.name,
            graded_pass,
            response.public_id,
        )
