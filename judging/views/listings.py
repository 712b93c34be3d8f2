"""Counts of what a benchmark holds, for the pages that list it. Reads only; no figure of a report."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery

from annotation.choices import ItemKind, ResponseState
from annotation.models import AuditEvent, Benchmark, Campaign, Prompt, Response
from annotation.selectors import current_labels
from judging.choices import UNSETTLED_STATES, FailureCode, PassKind, VerdictState
from judging.importing.storing import IMPORT_ACTION
from judging.models import Judge, JudgePass, Verdict, VerdictAttempt
from judging.queue.claiming import SUSPECT_AFTER_DEATHS
from judging.staleness import has_score, is_stale, reported_state

MOST_IMPORTS_LISTED = 50
MOST_POISON_LISTED = 50


@dataclass(frozen=True)
class ListedCampaign:
    """A campaign with its regular items, members, current labels and the responses these are on."""

    campaign: Campaign
    n_items: int
    n_members: int
    n_labels: int
    n_responses: int


@dataclass(frozen=True)
class ListedPass:
    """A pass with its judges and its verdicts: waiting, scored, settled without a score."""

    judge_pass: JudgePass
    judges: tuple[str, ...]
    n_waiting: int
    n_scored: int
    n_missing: int


def responses_by(benchmark: Benchmark, field: str) -> dict[str, Counter[str]]:
    """Number of responses by state, for each value of `field`, in its order. One query."""
    counts: dict[str, Counter[str]] = {}
    rows = Response.objects.filter(prompt__benchmark=benchmark).values_list(field, "state")
    for value, state, n in rows.annotate(n=Count("pk")).order_by(field, "state"):
        counts.setdefault(value, Counter())[state] += n
    return counts


@dataclass(frozen=True)
class Gap:
    """What one model lacks: responses that are not there or failed, in the rollouts that it has begun."""

    n_rollouts: int
    n_missing: int


def gaps_by_model(benchmark: Benchmark, *, n_prompts: int) -> dict[str, Gap]:
    """What each model with responses in rollouts lacks, by slug. One query."""
    rows = Response.objects.filter(prompt__benchmark=benchmark, rollout__isnull=False).values_list(
        "target_model__slug"
    )
    counts = rows.annotate(
        n_rollouts=Max("rollout") + 1, n_there=Count("pk", filter=~Q(state=ResponseState.ERROR))
    )
    return {
        slug: Gap(n_rollouts, n_missing=n_rollouts * n_prompts - n_there)
        for slug, n_rollouts, n_there in counts.order_by("target_model__slug")
    }


def prompts_by_category(benchmark: Benchmark) -> dict[str, int]:
    """Number of prompts in each risk category, by name. One query."""
    rows = Prompt.objects.filter(benchmark=benchmark).values_list("risk_category")
    return dict(rows.annotate(n=Count("pk")).order_by("risk_category"))


def imports_of(benchmark: Benchmark) -> QuerySet[AuditEvent]:
    """The newest imports, newest first, with who did them. One query."""
    events = AuditEvent.objects.filter(subject=f"benchmark:{benchmark.slug}", action=IMPORT_ACTION)
    return events.select_related("actor").order_by("-at", "-pk")[:MOST_IMPORTS_LISTED]


def campaigns_of(benchmark: Benchmark) -> list[ListedCampaign]:
    """Campaigns, newest first. Two queries."""
    campaigns = benchmark.campaigns.annotate(
        n_items=Count("items", filter=Q(items__kind=ItemKind.REGULAR), distinct=True),
        n_members=Count("memberships", distinct=True),
    ).order_by("-created_at", "-pk")
    labels = (
        current_labels(benchmark)
        .order_by()
        .values_list("item__campaign")
        .annotate(n_labels=Count("pk"), n_responses=Count("item__response", distinct=True))
    )
    counts = {campaign_id: (n_labels, n_responses) for campaign_id, n_labels, n_responses in labels}
    return [
        ListedCampaign(campaign, campaign.n_items, campaign.n_members, *counts.get(campaign.pk, (0, 0)))
        for campaign in campaigns
    ]


def labels_by_annotator(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Current labels of each annotator: code, type, Acceptable, Unacceptable, with a severity. One query.

    Anonymous labels are one line for each type, with the code None.
    """
    rows = (
        current_labels(benchmark)
        .order_by()
        .values("annotator__code", "annotator_type")
        .annotate(
            n_acceptable=Count("pk", filter=Q(rating="ACCEPTABLE")),
            n_unacceptable=Count("pk", filter=Q(rating="UNACCEPTABLE")),
            n_severities=Count("severity"),
        )
    )
    return sorted(
        (dict(row) for row in rows),
        key=lambda row: (row["annotator__code"] is None, row["annotator__code"] or "", row["annotator_type"]),
    )


def passes_of(benchmark: Benchmark) -> list[ListedPass]:
    """Judging passes, newest first, with their judges. Two queries."""
    unsettled = Q(verdicts__state__in=UNSETTLED_STATES)
    scored = has_score("verdicts__")
    passes = (
        JudgePass.objects.filter(benchmark=benchmark, kind=PassKind.JUDGING)
        .prefetch_related("judges")
        .annotate(
            n_waiting=Count("verdicts", filter=unsettled),
            n_scored=Count("verdicts", filter=scored),
            n_missing=Count("verdicts", filter=~unsettled & ~scored),
        )
        .order_by("-created_at", "-pk")
    )
    return [
        ListedPass(
            judge_pass,
            judges=tuple(sorted(judge.short_name for judge in judge_pass.judges.all())),
            n_waiting=judge_pass.n_waiting,
            n_scored=judge_pass.n_scored,
            n_missing=judge_pass.n_missing,
        )
        for judge_pass in passes
    ]


def verdict_counts(judge_pass: JudgePass) -> dict[str, Counter[str]]:
    """By judge: number of verdicts in each reported state (`judging.staleness`). One query."""
    counts: dict[str, Counter[str]] = {}
    rows = judge_pass.verdicts.annotate(reported=reported_state()).values_list("judge__slug", "reported")
    for slug, state, n in rows.annotate(n=Count("pk")).order_by("judge__slug", "reported"):
        counts.setdefault(slug, Counter())[state] += n
    return counts


def policy_counts(judge_pass: JudgePass) -> dict[str, int]:
    """By judge: number of scores that follow from a policy and no call. One query."""
    rows = judge_pass.verdicts.filter(has_score(), is_by_policy=True).values_list("judge__slug")
    return dict(rows.annotate(n=Count("pk")).order_by("judge__slug"))


def failure_counts(judge_pass: JudgePass) -> dict[str, int]:
    """Number of failed calls by failure code. One query."""
    rows = judge_pass.verdicts.filter(~is_stale(), state=VerdictState.CALL_FAILED)
    failed = rows.values_list("failure_code")
    return dict(failed.annotate(n=Count("pk")).order_by("failure_code"))


def score_counts(judge_pass: JudgePass) -> dict[str, Counter[int]]:
    """By judge: number of verdicts with each score. One query."""
    counts: dict[str, Counter[int]] = {}
    rows = judge_pass.verdicts.filter(has_score()).values_list("judge__slug", "score")
    for slug, score, n in rows.annotate(n=Count("pk")).order_by("judge__slug", "score"):
        counts.setdefault(slug, Counter())[score] += n
    return counts


def poison_rows(judge_pass: JudgePass) -> list[Verdict]:
    """The first rows that several workers died with, given up or still waiting. One query."""
    rows = judge_pass.verdicts.filter(
        Q(failure_code=FailureCode.POISON) | Q(n_deaths__gte=SUSPECT_AFTER_DEATHS)
    )
    rows = rows.select_related("judge", "judge_pass__benchmark", "response__prompt", "response__target_model")
    return list(rows.order_by("pk")[:MOST_POISON_LISTED])


def count_rubric_like(judge_pass: JudgePass) -> int:
    """Responses of a pass with text that looks like a judge's answer. One query."""
    flagged = judge_pass.verdicts.filter(has_rubric_like_text=True)
    return flagged.aggregate(n=Count("response", distinct=True))["n"]


def called_judges(benchmark: Benchmark) -> list[Judge]:
    """Judges of the benchmark's passes that are called here, with what each was last sent. One query."""
    latest = VerdictAttempt.objects.filter(verdict__judge=OuterRef("pk")).order_by("-pk")
    seats = JudgePass.judges.through.objects.filter(judgepass__benchmark=benchmark).values("judge")
    judges = Judge.objects.filter(pk__in=seats, endpoint_name__isnull=False).order_by("slug")
    return list(judges.annotate(last_sent=Subquery(latest.values("parameters")[:1])))


def listed_responses(ids: list[int]) -> list[Response]:
    """These responses in the order of the ids, with prompt and model. One query."""
    found = Response.objects.filter(pk__in=ids).select_related("prompt", "target_model").in_bulk()
    return [found[pk] for pk in ids if pk in found]


def verdicts_on(response: Response) -> list[Any]:
    """Every verdict on a response, newest pass first, with judge, pass and `reported` state. One query."""
    verdicts = Verdict.objects.filter(response=response).annotate(reported=reported_state())
    verdicts = verdicts.select_related("judge", "judge_pass__benchmark")
    return list(verdicts.order_by("-judge_pass__created_at", "-judge_pass__pk", "judge__slug"))


def n_responses_by_state(counts: dict[str, Counter[str]]) -> list[str]:
    """States that occur, in the order in which they are declared."""
    present = {state for states in counts.values() for state in states}
    return [state for state in ResponseState.values if state in present]
