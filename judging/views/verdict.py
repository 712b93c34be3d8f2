"""One verdict with its history: every call with what was sent, cost and latency, and earlier readings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.models import Benchmark
from annotation.templatetags import formatting
from judging.amounts import MICROS
from judging.choices import FailureCode, FailureMode, PassKind, RubricScale, VerdictState
from judging.models import JudgePass, Verdict, VerdictAttempt, VerdictRevision
from judging.staleness import STALE, is_stale
from judging.views.addresses import verdict_address
from judging.views.context import benchmark_page, show_page
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted, missing_words

NOT_CHARGED = "not charged or not known"


@dataclass(frozen=True)
class ShownReply:
    """The text that one call brought back."""

    number: int
    text: str


@require_safe
@benchmark_page
def show_verdict(
    request: HttpRequest, benchmark: Benchmark, public_id: str, response: str, judge: str
) -> HttpResponse:
    """What one judge said of one response in one pass, and how it came to that."""
    passes = JudgePass.objects.select_related("benchmark")
    judge_pass = get_object_or_404(passes, benchmark=benchmark, public_id=public_id)
    verdicts = Verdict.objects.select_related(
        "judge",
        "response__prompt",
        "response__target_model",
        "judge_pass__benchmark",
        "taken_from__judge",
        "taken_from__judge_pass__benchmark",
    )
    verdict = get_object_or_404(
        verdicts, judge_pass=judge_pass, response__public_id=response, judge__slug=judge
    )
    stale = Verdict.objects.filter(is_stale(), pk=verdict.pk).exists()
    attempts = list(verdict.attempts.order_by("token"))
    revisions = list(verdict.revisions.order_by("-at", "-pk"))
    response_url = reverse(
        "judging:response", kwargs={"slug": benchmark.slug, "public_id": verdict.response.public_id}
    )
    return show_page(
        request,
        "judging/verdict.html",
        benchmark=benchmark,
        tab="judges",
        answer=_answer(verdict, is_stale=stale),
        basis=_basis(attempts),
        judge_pass=judge_pass,
        verdict=verdict,
        is_stale=stale,
        facts=_facts(verdict, is_stale=stale),
        calls=_call_table(attempts) if attempts else None,
        replies=_replies(attempts),
        revisions=_revision_table(revisions) if revisions else None,
        taken_from_url=(
            verdict_address(verdict.taken_from, verdict.response) if verdict.taken_from else None
        ),
        # No report can be made of a classification, so the response stands in the default one.
        response_url=response_url
        if judge_pass.kind == PassKind.CLASSIFICATION
        else f"{response_url}?{urlencode({'pass': judge_pass.public_id})}",
    )


def said_in_words(verdict: Verdict | VerdictRevision) -> str:
    """A score, a failure mode, or why there is neither."""
    if verdict.score is not None:
        return str(verdict.score)
    if verdict.failure_mode:
        return str(FailureMode(verdict.failure_mode).label)
    return missing_words(getattr(verdict, "skip_code", None) or verdict.state)


def _answer(verdict: Verdict, *, is_stale: bool) -> str:
    judge = verdict.judge.short_name
    if is_stale:
        return f"What {judge} said counts no more: the response has another text since."
    if verdict.state == VerdictState.SCORED:
        word = "chose" if verdict.failure_mode else "gave"
        return f"{judge} {word} {said_in_words(verdict)}."
    lacks = "named no failure mode" if verdict.scale == RubricScale.FAILURE_MODE else "given no score"
    return f"{judge} has {lacks}: {said_in_words(verdict)}."


def _basis(attempts: Sequence[VerdictAttempt]) -> str:
    if not attempts:
        return "No call was made."
    costs = [attempt.cost_micros for attempt in attempts if attempt.cost_micros is not None]
    cost = f"{sum(costs) / MICROS:,.6f}" if len(costs) == len(attempts) else "not known in full"
    total_ms = sum(attempt.latency_ms or 0 for attempt in attempts)
    waiting = f"{total_ms / 1000:,.1f} s of waiting for the provider"
    return f"{counted(len(attempts), 'call')}; cost {cost}; {waiting}."


def _facts(verdict: Verdict, *, is_stale: bool) -> list[tuple[str, Any]]:
    response = verdict.response
    code = FailureCode(verdict.failure_code).label if verdict.failure_code else None
    facts = [
        ("Case", response.prompt.case_uid),
        ("Model", response.target_model.slug),
        ("Pass", verdict.judge_pass.name),
        ("State", missing_words(STALE if is_stale else verdict.skip_code or verdict.state)),
        ("Said of the earlier text", said_in_words(verdict) if is_stale else None),
        ("Jailbreak score", verdict.jailbreak_score),
        ("Why", code),
        ("Detail", verdict.detail),
        ("By policy", "the pass reads an empty response as Acceptable" if verdict.is_by_policy else None),
        (
            "For review",
            "the response holds text that looks like a judge's answer"
            if verdict.has_rubric_like_text
            else None,
        ),
        ("Workers lost while it was sent", verdict.n_deaths or None),
        ("Read by parser version", verdict.parser_version),
        ("Settled", formatting.moment(verdict.settled_at) if verdict.settled_at else None),
    ]
    return [(term, value) for term, value in facts if value not in (None, "")]


def _call_table(attempts: Sequence[VerdictAttempt]) -> Table:
    return Table(
        id="calls",
        caption="Calls",
        note="Each that was or may have been paid for, oldest first. Sent: beside model and texts.",
        columns=[
            text_column("Call"),
            text_column("Came to"),
            Column("HTTP"),
            Column("Tokens in"),
            Column("Tokens out"),
            Column("Cost", unit="millionths"),
            Column("Latency", unit="ms"),
            text_column("Sent"),
            Column("When"),
        ],
        rows=[
            Row(
                [
                    Cell(number, kind="count"),
                    Cell(_came_to(attempt)),
                    Cell(attempt.http_status, kind="count", reason="no reply"),
                    Cell(attempt.tokens_in, kind="count", reason="not told"),
                    Cell(attempt.tokens_out, kind="count", reason="not told"),
                    Cell(attempt.cost_micros, kind="count", reason=NOT_CHARGED),
                    Cell(attempt.latency_ms, kind="count", reason="not measured"),
                    Cell(sent_in_words(attempt.parameters), reason="not kept"),
                    Cell(attempt.at, kind="moment"),
                ]
            )
            for number, attempt in enumerate(attempts, start=1)
        ],
    )


def _came_to(attempt: VerdictAttempt) -> str:
    """The outcome of a call in words, with its detail."""
    if attempt.outcome == "ok":
        word = "answered"
    elif attempt.outcome in FailureCode.values:
        word = str(FailureCode(attempt.outcome).label)
    else:
        word = missing_words(attempt.outcome.upper())
    return f"{word} ({attempt.detail})" if attempt.detail else word


def sent_in_words(parameters: dict[str, Any] | None) -> str | None:
    """The optional parameters of a call: `temperature 0.0, max_tokens 1024`."""
    if parameters is None:
        return None
    words = [
        f"{name} {value}" if isinstance(value, int | float) else f"{name}"
        for name, value in sorted(parameters.items())
    ]
    return ", ".join(words) or "none of them"


def _replies(attempts: Sequence[VerdictAttempt]) -> list[ShownReply]:
    return [
        ShownReply(number, attempt.reply_text)
        for number, attempt in enumerate(attempts, start=1)
        if attempt.reply_text
    ]


def _revision_table(revisions: Sequence[VerdictRevision]) -> Table:
    return Table(
        id="revisions",
        caption="What it said before",
        note="Until its stored reply was read again, newest first.",
        columns=[
            text_column("Said"),
            text_column("Detail"),
            text_column("Parser version"),
            Column("Until"),
        ],
        rows=[
            Row(
                [
                    Cell(said_in_words(revision)),
                    Cell(revision.detail, reason="nothing to say"),
                    Cell(revision.parser_version, reason="not kept"),
                    Cell(revision.at, kind="moment"),
                ]
            )
            for revision in revisions
        ],
    )
