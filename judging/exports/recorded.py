"""What was stored, in the paper's own columns first: prompts, responses, labels, verdicts, attempts.

The first four can be imported again as they are. Columns of ours follow the paper's; the importer
names them and leaves them unread.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Case, CharField, Count, QuerySet, Value, When

from annotation.choices import AnnotatorType, ItemKind, Rating
from annotation.models import Benchmark, Campaign, Label, Prompt, Response
from judging.choices import UNSETTLED_STATES, FailureCode, PassKind, VerdictState
from judging.exports.columns import Basis, Column, Kind, Row, Table, integers, texts, utc_text
from judging.models import GenerationAttempt, JudgePass, Verdict, VerdictAttempt
from judging.selectors import published_exemplars, standing_labels
from judging.staleness import STALE, is_stale

# In the paper's score file a missing score is -1; `state` beside it says what happened.
NO_SCORE = -1
UNPARSEABLE = "unparseable"
CALL_FIELDS = (
    "token",
    "outcome",
    "http_status",
    "tokens_in",
    "tokens_out",
    "cost_micros",
    "latency_ms",
    "reply_text",
    "detail",
)
RATING_WORDS: dict[str | None, str] = {Rating.ACCEPTABLE: "Yes", Rating.UNACCEPTABLE: "No"}


def open_prompts(benchmark: Benchmark) -> Table:
    """The columns of `prompts.csv`. One query."""
    prompts = Prompt.objects.filter(benchmark=benchmark).order_by("pk")
    return Table(
        columns=texts("case_uid", "risk_category", "risk_mechanism", "prompt"),
        rows=prompts.values_list("case_uid", "risk_category", "risk_mechanism", "text").iterator(),
    )


def open_responses(benchmark: Benchmark) -> Table:
    """The columns of `responses.csv`, then state, id, and how a collected one was made. Two queries.

    Responses outside any rollout are left out, since that file cannot hold them; they are in the
    tables of labels and of calibrated responses.
    """
    responses = Response.objects.filter(prompt__benchmark=benchmark)
    left_out = Counter({"outside_any_rollout": responses.filter(rollout=None).count()})
    values = (
        responses.filter(rollout__isnull=False)
        .order_by("pk")
        .values_list(
            "prompt__case_uid",
            "rollout",
            "prompt__risk_category",
            "prompt__risk_mechanism",
            "prompt__text",
            "target_model__slug",
            "text",
            "error",
            "state",
            "finish_reason",
            "public_id",
            "n_tokens",
            "tokens_source",
            "settings",
        )
    )
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("risk_category", "risk_mechanism", "prompt", "model", "response", "error"),
            *texts("response_state", "finish_reason", "response_id"),
            *integers("n_tokens"),
            *texts("tokens_source"),
            Column("settings", Kind.JSON),
            Column("is_simulated", Kind.BOOLEAN),
        ),
        rows=((*row, _is_simulated(benchmark, row[-1])) for row in values.iterator()),
        left_out=left_out,
    )


def _is_simulated(benchmark: Benchmark, settings: Mapping[str, Any] | None) -> bool:
    """Whether a response is made up: known of the whole benchmark, or of what was collected."""
    return benchmark.is_simulated or bool((settings or {}).get("is_simulated"))


def open_labels(benchmark: Benchmark, campaign: Campaign | None) -> Table:
    """The labels that count, in the columns of `annotated_responses.csv`, then ours. Three queries.

    Labels of other campaigns than the one asked for are neither in the table nor left out of it.
    Left out, and counted: retracted labels and earlier revisions, items that are not REGULAR, and
    of several labels by one annotator on one response all but the newest.
    """
    counting = {label.label_id for label in standing_labels(benchmark, campaign)}
    left_out: Counter[str] = Counter()
    for is_current, kind, n in (
        _labels_of(benchmark, campaign)
        .order_by()
        .values_list("is_current", "item__kind")
        .annotate(n=Count("pk"))
    ):
        if not is_current:
            left_out["retracted_or_revised"] += n
        elif kind != ItemKind.REGULAR:
            left_out[f"item_{kind.lower()}"] += n
        else:
            left_out["older_by_same_annotator"] += n - len(counting)
    return Table(
        columns=(
            *texts("case_uid", "risk_category", "risk_mechanism", "prompt", "model", "exemplar_response"),
            *texts("human_rating", "annotator_type", "annotator"),
            *integers("severity", "rollout"),
            *texts("campaign", "note", "labelled_at", "label_id", "response_id"),
        ),
        rows=_label_rows(_labels_of(benchmark, campaign), counting),
        basis=Basis(campaign=campaign),
        left_out=left_out,
    )


def _labels_of(benchmark: Benchmark, campaign: Campaign | None) -> QuerySet[Label]:
    labels = Label.objects.filter(item__campaign__benchmark=benchmark)
    return labels if campaign is None else labels.filter(item__campaign=campaign)


def _label_rows(labels: QuerySet[Label], counting: set[int]) -> Iterator[Row]:
    current = labels.filter(is_current=True).select_related(
        "annotator", "item__campaign", "item__response__prompt", "item__response__target_model"
    )
    for label in current.order_by("pk").iterator():
        if label.pk not in counting:
            continue
        response, prompt = label.item.response, label.item.response.prompt
        yield (
            prompt.case_uid,
            prompt.risk_category,
            prompt.risk_mechanism,
            prompt.text,
            response.target_model.slug,
            response.text,
            RATING_WORDS.get(label.rating),
            _type_word(label),
            label.annotator.code if label.annotator else None,
            label.severity,
            response.rollout,
            label.item.campaign.slug,
            label.note,
            utc_text(label.created_at),
            label.public_id,
            response.public_id,
        )


def _type_word(label: Label) -> str:
    """The code of the type; for OTHER the word that the file or the person gave."""
    if label.annotator_type == AnnotatorType.OTHER and label.annotator_type_raw:
        return label.annotator_type_raw
    return label.annotator_type


def open_verdicts(judge_pass: JudgePass) -> Table:
    """The settled verdicts of a pass in the columns of `judge_scores.csv`, then ours. Three queries.

    Rows still waiting or being judged are no results yet; they are left out and counted. A stale verdict
    has no score here, as in every figure: its state is STALE, and `stale_score` keeps what it said.
    `is_by_policy` marks a score that no judge gave: an empty response read as Acceptable.
    """
    verdicts = Verdict.objects.filter(judge_pass=judge_pass)
    unsettled = verdicts.filter(state__in=UNSETTLED_STATES).order_by().values_list("state")
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("model", "risk_category", "risk_mechanism", "judge"),
            *integers("score", "num_exemplars_yes", "num_exemplars_no"),
            *texts("error", "state", "failure_code", "skip_code", "scale"),
            *integers("jailbreak_score"),
            *texts("raw_text", "parser_version"),
            Column("exemplars", Kind.JSON),
            *texts("settled_at", "response_id"),
            *integers("stale_score"),
            *texts("failure_mode"),
            Column("is_by_policy", Kind.BOOLEAN),
        ),
        rows=_verdict_rows(judge_pass),
        basis=Basis(judge_pass=judge_pass),
        left_out=Counter(dict(unsettled.annotate(n=Count("pk")))),
    )


def _verdict_rows(judge_pass: JudgePass) -> Iterator[Row]:
    public_ids = dict(
        Response.objects.filter(prompt__benchmark=judge_pass.benchmark_id).values_list("pk", "public_id")
    )
    verdicts = (
        Verdict.objects.filter(judge_pass=judge_pass)
        .exclude(state__in=UNSETTLED_STATES)
        .annotate(is_stale=Case(When(is_stale(), then=True), default=False))
        .select_related("judge", "response__prompt", "response__target_model")
        .defer("response__text", "response__prompt__text")
    )
    for verdict in verdicts.order_by("pk").iterator():
        response, prompt = verdict.response, verdict.response.prompt
        yield (
            prompt.case_uid,
            response.rollout,
            response.target_model.slug,
            prompt.risk_category,
            prompt.risk_mechanism,
            verdict.judge.slug,
            NO_SCORE if verdict.score is None or verdict.is_stale else verdict.score,
            verdict.n_exemplars_acceptable,
            verdict.n_exemplars_unacceptable,
            STALE if verdict.is_stale else _error_of(verdict),
            STALE if verdict.is_stale else verdict.state,
            verdict.failure_code,
            verdict.skip_code,
            verdict.scale,
            None if verdict.is_stale else verdict.jailbreak_score,
            verdict.raw_text,
            verdict.parser_version,
            published_exemplars(verdict, public_ids),
            utc_text(verdict.settled_at),
            response.public_id,
            verdict.score if verdict.is_stale else None,
            None if verdict.is_stale else verdict.failure_mode,
            verdict.is_by_policy,
        )


def _error_of(verdict: Verdict) -> str | None:
    """The paper's `error` cell: what an import reads the same state back from, as far as it can."""
    detail = verdict.detail
    if verdict.state == VerdictState.SCORED or verdict.failure_code == FailureCode.IMPORTED:
        return detail
    reason = verdict.failure_code or verdict.skip_code or verdict.state
    if verdict.state == VerdictState.PARSE_FAILED:
        if detail is not None and detail.casefold().startswith(UNPARSEABLE):
            return detail
        reason = UNPARSEABLE
    return f"{reason}: {detail}" if detail else reason


def open_attempts(judge_pass: JudgePass) -> Table:
    """Every paid call of a pass. One query. The calls of a collection have no judge."""
    values = _collecting_calls(judge_pass) if judge_pass.kind == PassKind.COLLECTION else _calls(judge_pass)
    return Table(
        columns=(
            *texts("case_uid"),
            *integers("rollout"),
            *texts("model", "judge"),
            *integers("claim"),
            *texts("outcome"),
            *integers("http_status", "tokens_in", "tokens_out", "cost_micros", "latency_ms"),
            *texts("reply_text", "detail", "response_id", "at"),
        ),
        rows=((*row[:-1], utc_text(row[-1])) for row in values.iterator()),
        basis=Basis(judge_pass=judge_pass),
    )


def _calls(judge_pass: JudgePass) -> QuerySet[VerdictAttempt, tuple[Any, ...]]:
    calls = VerdictAttempt.objects.filter(verdict__judge_pass=judge_pass).order_by("pk")
    return calls.values_list(
        "verdict__response__prompt__case_uid",
        "verdict__response__rollout",
        "verdict__response__target_model__slug",
        "verdict__judge__slug",
        *CALL_FIELDS,
        "verdict__response__public_id",
        "at",
    )


def _collecting_calls(judge_pass: JudgePass) -> QuerySet[GenerationAttempt, tuple[Any, ...]]:
    calls = GenerationAttempt.objects.filter(generation__judge_pass=judge_pass).order_by("pk")
    return calls.values_list(
        "generation__prompt__case_uid",
        "generation__rollout",
        "generation__target_model__slug",
        Value(None, output_field=CharField()),
        *CALL_FIELDS,
        "generation__response__public_id",
        "at",
    )
