"""Starting a pass: freeze, preflight, make the rows, wake the workers."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.audit import record_event
from annotation.choices import ResponseState
from annotation.models import Account, Benchmark, Campaign, Response
from judging.amounts import to_micros
from judging.choices import (
    AnswerForm,
    EmptyPolicy,
    ExclusionPolicy,
    PassSource,
    PassState,
    PauseReason,
)
from judging.errors import Conflict, PassError
from judging.llm.rubric import parse_rubric
from judging.models import EndpointGate, JudgePass, Rubric
from judging.passes import budgets
from judging.passes.configuration import (
    MAX_SHOTS,
    digest_of,
    freeze,
    freeze_costs,
    most_prompt_bytes,
)
from judging.passes.row_making import make_rows
from judging.passes.scope import choose_responses, measure_scope
from judging.passes.seats import JudgeSeat, preflight, seat_judges, store_judges
from judging.passes.taking_over import refuse_other_settings, responses_of, take_over
from judging.passes.waking import wake_workers
from judging.retrieval.proofs import store_proofs
from judging.retrieval.retrieving import Retrieval, retrieve_exemplars
from judging.retrieval.vector_calls import EmbeddingSpend
from judging.rubrics import JUDGING_SCALES, find_rubric, store_rubric

ACTIVE_STATES = (PassState.READY, PassState.RUNNING, PassState.PAUSED)
DEFAULT_EMBEDDER = "tfidf"


class PassRunning(Conflict):
    """A pass of exactly this configuration has not ended; `judge_pass` is it."""

    code = "pass_running"

    def __init__(self, message: str, *, judge_pass: JudgePass) -> None:
        super().__init__(message)
        self.judge_pass = judge_pass


@dataclass(frozen=True)
class PassRequest:
    """What a person asks for when starting a pass.

    Args:
        judges: slugs of the endpoints file's judges.
        rubric: slug of a rubric, with the 1-5 scale or a binary one.
        shots: K exemplars of each kind; 0 is zero-shot.
        campaign: judge only this campaign's responses.
        limit: judge only the first so many responses.
        max_calls: no more calls than this.
        max_cost: no more money than this, in the unit of the endpoints file's prices.
        again: judge although a finished pass has exactly this configuration.
        output: ask for a text or for structured output.
        exclusion: which labelled responses count as the case itself.
        embedder: how likeness to the labelled responses is measured; plays no part in zero-shot.
        pool_campaign: exemplars come from this campaign's labels only.
        empty_policy: what becomes of empty responses.
    """

    judges: tuple[str, ...]
    rubric: str
    shots: int = 0
    campaign: Campaign | None = None
    limit: int | None = None
    max_calls: int | None = None
    max_cost: Decimal | None = None
    again: bool = False
    output: str = AnswerForm.TEXT
    exclusion: str = ExclusionPolicy.CASE
    embedder: str = DEFAULT_EMBEDDER
    pool_campaign: Campaign | None = None
    empty_policy: str = EmptyPolicy.SKIP


def start_pass(
    benchmark: Benchmark,
    request: PassRequest,
    *,
    actor: Account | None = None,
    continues: JudgePass | None = None,
) -> JudgePass:
    """Check that every judge answers, freeze the configuration, make the rows and set the pass running.

    Makes one tiny call to each judge before anything is stored. Caps are no part of the configuration.
    Zero-shot needs the memory of one batch of responses, whatever their number.

    Args:
        benchmark: whose responses are judged.
        request: what is asked for.
        actor: who starts it.
        continues: an earlier pass with the same settings. Its responses are judged, and its scores on
            unchanged texts are taken over instead of being paid for again.

    Returns:
        The RUNNING pass. Complete responses are PENDING for each judge; the others are SKIPPED with the
        reason, or read as Acceptable where the policy says so. Or, without any call, the newest FINISHED
        pass of exactly this configuration.

    Raises:
        PassError: a judge does not answer, nothing to judge, a rubric that does not fit, or a cap that
            cannot be kept.
        EndpointError: the endpoints file does not offer a judge.
        PassRunning: the same configuration is running already.
        Conflict: the responses changed meanwhile.
    """
    check_request(request)
    rubric = find_judging_rubric(request.rubric, shots=request.shots)
    seats = seat_judges(request.judges)
    refuse_unknown_price(seats, request)
    if continues is None:
        responses = choose_responses(benchmark, campaign=request.campaign, limit=request.limit)
    else:
        responses = responses_of(continues)
    scope = measure_scope(responses)
    refuse_nothing(scope.counts, request)
    retrieval = retrieve_for(benchmark, responses, request) if request.shots else None
    configuration = freeze(
        rubric=rubric,
        seats=seats,
        shots=request.shots,
        pool=retrieval.pool if retrieval else None,
        scope=scope.digest,
        output=request.output,
        exclusion=request.exclusion,
        empty_policy=request.empty_policy,
    )
    if continues is not None:
        refuse_other_settings(continues, configuration)
    digest = digest_of(configuration)
    finished = None if request.again else _finished_twin(benchmark, digest)
    if finished is not None:
        return finished
    longest = most_prompt_bytes(
        rubric,
        item_bytes=scope.longest_bytes,
        exemplar_bytes=retrieval.longest_bytes if retrieval else 0,
        shots=request.shots,
    )
    costs = freeze_costs(seats, most_prompt_bytes=longest)
    is_simulated = preflight(seats) or (retrieval is not None and retrieval.is_simulated)
    spent = retrieval.spent if retrieval else EmbeddingSpend()
    endpoint_names = sorted({seat.endpoint.name for seat in seats})
    try:
        with transaction.atomic():
            # One start at a time for a benchmark, so that names and the check for a twin are sure.
            Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
            judges = store_judges(seats)
            judge_pass = JudgePass.objects.create(
                benchmark=benchmark,
                name=_new_name(benchmark, request),
                source=PassSource.JUDGED,
                rubric=store_rubric(rubric),
                scale=rubric.scale,
                configuration=configuration | costs,
                digest=digest,
                is_simulated=benchmark.is_simulated or is_simulated,
                state=PassState.RUNNING,
                max_calls=request.max_calls,
                max_cost_micros=to_micros(request.max_cost),
                # Finding the exemplars may have cost calls and money, which the caps count too.
                n_calls_reserved=spent.n_calls,
                cost_reserved_micros=spent.cost_micros or 0,
                cost_settled_micros=spent.cost_micros or 0,
                created_by=actor,
                started_at=timezone.now(),
            )
            judge_pass.judges.set(judges.values())
            make_rows(
                judge_pass,
                responses,
                scope=scope,
                empty_policy=EmptyPolicy(request.empty_policy),
                exemplars=retrieval.exemplars if retrieval else None,
            )
            if retrieval is not None:
                store_proofs(judge_pass, retrieval.exemplars)
            origin: dict[str, Any] = {}
            if continues is not None:
                n_taken_over = take_over(judge_pass, continues)
                origin = {"continues": continues.public_id, "n_taken_over": n_taken_over}
            for name in endpoint_names:
                EndpointGate.objects.get_or_create(name=name)
            record_event(
                actor=actor,
                action="pass.started",
                subject=f"pass:{judge_pass.public_id}",
                digest=digest,
                **origin,
            )
            transaction.on_commit(lambda: wake_workers(endpoint_names))
    except IntegrityError as error:
        twins = JudgePass.objects.filter(benchmark=benchmark, digest=digest, state__in=ACTIVE_STATES)
        twin = twins.first()
        if twin is None:
            raise
        raise running_twin(twin) from error
    return judge_pass


def check_request(request: PassRequest) -> None:
    """Check numbers and choices, without a look at the database.

    Raises:
        PassError: a number out of bounds, or a choice that is not known.
    """
    bounds = (
        ("shots", request.shots, 0, MAX_SHOTS),
        ("limit", request.limit, 1, budgets.MOST_NUMBER),
    )
    for name, value, least, most in bounds:
        if value is not None and not least <= value <= most:
            raise PassError(f"{name} is {value}; expected {least} to {most}.", code="bad_number")
    budgets.check_numbers(max_calls=request.max_calls, max_cost=request.max_cost)
    choices = (
        ("output", request.output, AnswerForm.values),
        ("exclusion", request.exclusion, ExclusionPolicy.values),
        ("empty_policy", request.empty_policy, EmptyPolicy.values),
    )
    for name, choice, known in choices:
        if choice not in known:
            raise PassError(
                f"{name} is {choice[:40]!r}; expected one of {', '.join(known)}.", code="bad_choice"
            )


def find_judging_rubric(slug: str, *, shots: int) -> Rubric:
    """The rubric of that name, once it is known to score responses and to have a place for exemplars.

    Raises:
        PassError: no rubric of that name, one of another kind of pass, or one that would show none of the
            `shots` exemplars.
    """
    rubric = find_rubric(slug)
    if rubric.scale not in JUDGING_SCALES:
        raise PassError(
            f"The rubric {slug} asks for a {rubric.get_scale_display()}; expected one that scores responses, "
            "on 1-5 or with a flag. Choose another rubric.",
            code="wrong_rubric",
        )
    if shots and parse_rubric(rubric.text).exemplar is None:
        raise PassError(
            f"The rubric {slug} has no place for exemplars, and {shots} of each kind were asked for. "
            "Use --shots 0, or a rubric with {{exemplars}} and a section that shows one.",
            code="rubric_without_exemplars",
        )
    return rubric


def retrieve_for(benchmark: Benchmark, responses: QuerySet[Response], request: PassRequest) -> Retrieval:
    """The exemplars of the complete ones among the responses, chosen as the request says.

    Raises:
        PassError: the pool has no response of one kind.
    """
    return retrieve_exemplars(
        benchmark,
        responses,
        shots=request.shots,
        exclusion=request.exclusion,
        embedder=request.embedder,
        pool_campaign=request.pool_campaign,
        max_calls=request.max_calls,
        max_cost=request.max_cost,
    )


def refuse_unknown_price(seats: Sequence[JudgeSeat], request: PassRequest) -> None:
    """Check that a cap on money can be kept.

    Raises:
        PassError: the price of a judge is unknown.
    """
    if request.max_cost is not None and any(seat.model.prices is None for seat in seats):
        raise PassError(
            "A money cap needs the price of every judge, and the endpoints file gives not all. "
            "Add price_in and price_out, or cap the calls with --max-calls.",
            code="unknown_price",
        )


def refuse_nothing(counts: Mapping[str, int], request: PassRequest) -> None:
    """Check that a pass would have a verdict to give.

    Args:
        counts: the responses that it takes up, by state.
        request: says what becomes of empty ones.

    Raises:
        PassError: it takes up no complete response, nor an empty one that counts as Acceptable.
    """
    is_empty_read = request.empty_policy == EmptyPolicy.ACCEPTABLE
    if not counts.get(ResponseState.OK) and not (is_empty_read and counts.get(ResponseState.EMPTY)):
        raise PassError(
            "There is no complete response to judge. Import or collect responses first.",
            code="nothing_to_judge",
        )


def _finished_twin(benchmark: Benchmark, digest: str) -> JudgePass | None:
    passes = JudgePass.objects.filter(
        benchmark=benchmark, digest=digest, source=PassSource.JUDGED, state=PassState.FINISHED
    )
    return passes.order_by("-pk").first()


def running_twin(twin: JudgePass) -> PassRunning:
    """The refusal to start what `twin` does already, with the way out."""
    way_out = "Resume that one" if twin.state == PassState.PAUSED else "Watch that one"
    if twin.pause_reason == PauseReason.BUDGET:
        way_out = "Resume that one with a higher cap"
    return PassRunning(
        f"The pass {twin.name} ({twin.public_id}) has exactly this configuration and is "
        f"{twin.get_state_display()}. {way_out}, or cancel it first.",
        judge_pass=twin,
    )


def _new_name(benchmark: Benchmark, request: PassRequest) -> str:
    stem = f"{request.rubric}-{request.shots}shot"
    taken = set(
        JudgePass.objects.filter(benchmark=benchmark, name__startswith=stem).values_list("name", flat=True)
    )
    return next(name for n in itertools.count(1) if (name := f"{stem}-{n}") not in taken)
