"""Reads of passes, verdicts and the evidence that reports rest on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation.choices import Rating, ResponseState
from annotation.models import Benchmark, Campaign, Response
from annotation.selectors import current_labels
from judging.choices import PassKind, PassSource, PassState, RubricScale
from judging.errors import DomainError, PassError
from judging.models import Generation, JudgePass, RuleAdoption, Verdict
from judging.staleness import reported_score, reported_state
from judging.stats.records import Evidence, HumanLabel, JudgeInfo, JudgeVerdict, ResponseRow


@dataclass(frozen=True, slots=True)
class StandingLabel:
    """The label of one person on one response that counts. `annotator` is None for an anonymous one."""

    label_id: int
    response_id: int
    annotator: str | None
    annotator_type: str
    rating: str | None
    severity: int | None


def find_benchmark(slug: str) -> Benchmark:
    """The benchmark called `slug`.

    Raises:
        DomainError: there is none; the message lists those there are.
    """
    found = Benchmark.objects.filter(slug=slug).first() if _is_storable(slug) else None
    if found is None:
        known = ", ".join(Benchmark.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise DomainError(
            f"There is no benchmark {slug[:100]!r}. Known: {known}. Import files to make one.",
            code="unknown_benchmark",
        )
    return found


def find_campaign(benchmark: Benchmark, name: str) -> Campaign:
    """The campaign with this slug or public id.

    Raises:
        DomainError: there is none.
    """
    campaigns = Campaign.objects.filter(Q(slug=name) | Q(public_id=name), benchmark=benchmark)
    found = campaigns.first() if _is_storable(name) else None
    if found is None:
        known = ", ".join(benchmark.campaigns.order_by("slug").values_list("slug", flat=True)) or "none"
        raise DomainError(
            f"There is no campaign {name[:100]!r} in {benchmark.slug}. Known: {known}.",
            code="unknown_campaign",
        )
    return found


def find_pass(benchmark: Benchmark, name: str) -> JudgePass:
    """The pass with this public id or name.

    Raises:
        PassError: there is none.
    """
    passes = JudgePass.objects.filter(Q(public_id=name) | Q(name=name), benchmark=benchmark)
    found = passes.first() if _is_storable(name) else None
    if found is None:
        known = ", ".join(
            JudgePass.objects.filter(benchmark=benchmark).order_by("pk").values_list("name", flat=True)
        )
        raise PassError(
            f"There is no pass {name[:100]!r} in {benchmark.slug}. Known: {known or 'none'}.",
            code="unknown_pass",
        )
    return found


def find_pass_anywhere(public_id: str) -> JudgePass:
    """The pass with this public id, in whichever benchmark.

    Raises:
        PassError: there is none.
    """
    passes = JudgePass.objects.filter(public_id=public_id).select_related("benchmark")
    found = passes.first() if _is_storable(public_id) else None
    if found is None:
        raise PassError(
            f"There is no pass {public_id[:100]!r}. start_pass prints the id; the Judges page lists them.",
            code="unknown_pass",
        )
    return found


def _is_storable(name: str) -> bool:
    """False for a text that no row can hold and that a database may refuse to compare."""
    return "\0" not in name and not any("\ud800" <= char <= "\udfff" for char in name)


def holds_simulated_responses(benchmark: Benchmark) -> bool:
    """Whether the loopback provider made a response here, so that what rests on the benchmark says so.

    True for a benchmark that is simulated as a whole. At most one query, which most benchmarks end at once.
    """
    if benchmark.is_simulated:
        return True
    made = Generation.objects.filter(
        judge_pass__benchmark=benchmark,
        judge_pass__kind=PassKind.COLLECTION,
        judge_pass__is_simulated=True,
        response__settings__is_simulated=True,
    )
    return made.exists()


def count_rollout_responses(benchmark: Benchmark) -> int:
    """How many responses stand in a rollout: what a report over the whole benchmark rests on."""
    return Response.objects.filter(prompt__benchmark=benchmark, rollout__isnull=False).count()


def count_complete_responses(benchmark: Benchmark) -> int:
    """How many responses a pass over the whole benchmark would judge."""
    return Response.objects.filter(prompt__benchmark=benchmark, state=ResponseState.OK).count()


def passes_of(benchmark: Benchmark, kind: PassKind = PassKind.JUDGING) -> QuerySet[JudgePass]:
    """A benchmark's passes of one kind, newest first."""
    return JudgePass.objects.filter(benchmark=benchmark, kind=kind).order_by("-created_at", "-pk")


def default_pass(benchmark: Benchmark) -> JudgePass | None:
    """The newest finished judging pass, None when there is none."""
    finished = passes_of(benchmark).filter(state=PassState.FINISHED)
    return finished.order_by("-finished_at", "-pk").first()


def adopted_rule(benchmark: Benchmark) -> RuleAdoption | None:
    """The newest adoption, None when no rule was adopted."""
    adoptions = RuleAdoption.objects.filter(benchmark=benchmark).select_related("rule")
    return adoptions.order_by("-adopted_at", "-pk").first()


def imported_scores(judge_pass: JudgePass) -> Iterator[tuple[int, str, str, int | None]]:
    """(response id, judge slug, state, score) of every verdict. One query."""
    rows = Verdict.objects.filter(judge_pass=judge_pass).order_by("pk")
    return rows.values_list("response_id", "judge__slug", "state", "score").iterator()


def exemplar_ids(verdicts: Iterable[Verdict]) -> dict[int, str]:
    """Public ids, by primary key, of the responses that these verdicts' judges were shown. One query."""
    wanted = {exemplar["response"] for verdict in verdicts for exemplar in verdict.exemplars or ()}
    return dict(Response.objects.filter(pk__in=wanted).values_list("pk", "public_id"))


def published_exemplars(verdict: Verdict, public_ids: Mapping[int, str]) -> list[dict[str, Any]] | None:
    """The exemplars of a verdict as they may leave the database: `response` is the public id.

    None where the judge was shown none by design; a response that is no more has the id None.
    """
    if verdict.exemplars is None:
        return None
    return [exemplar | {"response": public_ids.get(exemplar["response"])} for exemplar in verdict.exemplars]


def load_evidence(
    benchmark: Benchmark, *, judge_pass: JudgePass | None, campaign: Campaign | None = None
) -> Evidence:
    """Everything a report of this pass rests on. Four queries; no texts are read.

    Prompts are numbered in the order of their `case_uid`, so that seeded resampling draws the same
    prompts in whatever order the files were imported.

    Only current labels of REGULAR items count; of several by one annotator on one response the
    newest. Graded rows are the pass's responses with a rollout; for imported passes, and without
    a pass, all of the benchmark's. A SKIPPED verdict's state is its skip code, which says why; one
    whose response has another text since is STALE and has no score.
    """
    labels = load_labels(benchmark, campaign)
    verdicts, judges = _verdicts_of(judge_pass), judges_of(judge_pass)
    judged_ids = {verdict.response_id for verdict in verdicts}
    rows = _rows_of(benchmark)
    covers_all = judge_pass is None or judge_pass.source == PassSource.IMPORTED
    graded = frozenset(
        row.response_id
        for row in rows
        if row.rollout is not None and (covers_all or row.response_id in judged_ids)
    )
    mentioned = graded | judged_ids | {label.response_id for label in labels}
    return Evidence(
        rows=tuple(row for row in rows if row.response_id in mentioned),
        labels=tuple(labels),
        verdicts=tuple(verdicts),
        judges=judges,
        graded=graded,
    )


def load_labels(benchmark: Benchmark, campaign: Campaign | None = None) -> list[HumanLabel]:
    """The labels of `load_evidence`, by themselves. One query."""
    return [
        HumanLabel(
            response_id=label.response_id,
            annotator=label.annotator,
            unacceptable=label.rating == Rating.UNACCEPTABLE,
            severity=label.severity,
        )
        for label in standing_labels(benchmark, campaign)
    ]


def _rows_of(benchmark: Benchmark) -> list[ResponseRow]:
    values = list(
        Response.objects.filter(prompt__benchmark=benchmark)
        .order_by("pk")
        .values_list(
            "pk", "prompt__case_uid", "target_model__slug", "prompt__risk_category", "rollout", "state"
        )
    )
    numbers = {case_uid: n for n, case_uid in enumerate(sorted({case_uid for _, case_uid, *_ in values}))}
    return [
        ResponseRow(pk, numbers[case_uid], model, category, rollout, state)
        for pk, case_uid, model, category, rollout, state in values
    ]


def standing_labels(benchmark: Benchmark, campaign: Campaign | None = None) -> list[StandingLabel]:
    """The labels that every figure rests on, by response and annotator. One query.

    Current labels of REGULAR items; of several by one annotator on one response (in two
    campaigns) the newest. Anonymous labels all count.
    """
    values = (
        current_labels(benchmark, campaign)
        .order_by("created_at", "pk")
        .values_list(
            "pk",
            "item__response_id",
            "annotator_id",
            "annotator__code",
            "annotator_type",
            "rating",
            "severity",
        )
    )
    named: dict[tuple[int, int], StandingLabel] = {}
    anonymous: list[StandingLabel] = []
    for label_id, response_id, annotator_id, code, annotator_type, rating, severity in values.iterator():
        label = StandingLabel(label_id, response_id, code, annotator_type, rating, severity)
        if annotator_id is None:
            anonymous.append(label)
        else:
            named[response_id, annotator_id] = label
    return sorted([*named.values(), *anonymous], key=lambda label: (label.response_id, label.annotator or ""))


def judges_of(judge_pass: JudgePass | None) -> tuple[JudgeInfo, ...]:
    """The judges of a pass by slug, none without a pass. One query."""
    if judge_pass is None:
        return ()
    is_binary = judge_pass.scale == RubricScale.BINARY
    return tuple(
        JudgeInfo(slug=judge.slug, short_name=judge.short_name, is_binary=is_binary)
        for judge in judge_pass.judges.order_by("slug")
    )


def _verdicts_of(judge_pass: JudgePass | None) -> list[JudgeVerdict]:
    if judge_pass is None:
        return []
    values = (
        Verdict.objects.filter(judge_pass=judge_pass)
        .order_by("response_id", "judge__slug")
        .values_list("response_id", "judge__slug", reported_state(), reported_score(), "is_by_policy")
    )
    return [
        JudgeVerdict(
            response_id=response_id,
            judge=slug,
            state=state,
            score=score,
            is_by_policy=is_by_policy and score is not None,
        )
        for response_id, slug, state, score, is_by_policy in values.iterator()
    ]
