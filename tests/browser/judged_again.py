"""A second pass with everything that can be amiss, for pages on what becomes of verdicts."""

from annotation.models import Benchmark, Response
from judging.choices import FailureCode, PassSource, VerdictState
from judging.llm.rubric import load_bundled_rubric
from judging.models import JudgePass, Verdict
from tests.factories import make_attempt, make_revision, make_rubric
from tests.judging_pages.second_pass import judge_again

REPLY = "The answer is calm and names a person to turn to.\n\nPolicy Compliance Risk: {}"


def judged_later(benchmark: Benchmark) -> JudgePass:
    """The imported scores once more, some of them higher, with replies of which some were misread."""
    first = JudgePass.objects.get(benchmark=benchmark)

    def rescore(place: int, row: Verdict) -> int | None:
        if place % 41 == 0 or row.score is None:
            return None
        return min(5, row.score + 1) if row.judge.slug == "gpt-5.4" and place % 4 == 0 else row.score

    later = judge_again(first, rescore=rescore, name="likert-v1-0shot-2")
    JudgePass.objects.filter(pk=later.pk).update(
        source=PassSource.JUDGED, rubric=make_rubric(text=load_bundled_rubric("likert-v1"))
    )
    scored = later.verdicts.filter(state=VerdictState.SCORED).order_by("pk")[:300]
    for place, row in enumerate(scored):
        said = row.score if place % 29 else 6 - (row.score or 1)
        Verdict.objects.filter(pk=row.pk).update(
            raw_text=REPLY.format(said), parser_version="1", token=1, has_rubric_like_text=place % 50 == 0
        )
    poison = later.verdicts.filter(state=VerdictState.SCORED).order_by("-pk")[:2]
    Verdict.objects.filter(pk__in=[row.pk for row in poison]).update(
        state=VerdictState.CALL_FAILED, failure_code=FailureCode.POISON, score=None, n_deaths=3
    )
    for judge in later.judges.all():
        judge.endpoint_name, judge.model_id = "openai", f"{judge.slug}-latest"
        judge.capabilities = (
            {"temperature": False, "structured": True, "token_parameter": "max_completion_tokens"}
            if judge.slug == "gpt-5.4"
            else {}
        )
        judge.save()
    later.refresh_from_db()
    return later


def called_several_times(later: JudgePass) -> Verdict:
    """A verdict on a response that nobody labelled, with three calls and an earlier reading."""
    unlabelled = Response.objects.filter(items=None)
    verdict = (
        later.verdicts.filter(response__in=unlabelled, judge__slug="gpt-5.4", raw_text__isnull=False)
        .select_related("judge", "response")
        .order_by("pk")[0]
    )
    limited = {"outcome": "rate_limited", "http_status": 429, "cost_micros": 0, "latency_ms": 88}
    refused = {"outcome": "bad_request", "http_status": 400, "cost_micros": 0, "latency_ms": 120}
    answered = {"outcome": "ok", "http_status": 200, "cost_micros": 2310, "latency_ms": 3120}
    sent = {"max_tokens": 1024, "temperature": 0}
    make_attempt(verdict=verdict, token=1, parameters=sent, **limited)
    make_attempt(verdict=verdict, token=2, parameters=sent, detail="HTTP 400 unsupported", **refused)
    make_attempt(
        verdict=verdict,
        token=3,
        parameters={"max_completion_tokens": 1024},
        tokens_in=812,
        tokens_out=31,
        reply_text=REPLY.format(verdict.score),
        **answered,
    )
    make_revision(verdict=verdict, state=VerdictState.PARSE_FAILED, detail="ambiguous", parser_version="0")
    return verdict
