"""Starting a pass: freeze, preflight, make the rows, wake the workers."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.audit import record_event
from annotation.choices import ItemKind, ResponseState
from annotation.models import Account, Benchmark, Campaign, Response
from judging.choices import PassSource, PassState, PauseReason, SkipCode, VerdictState
from judging.errors import Conflict, PassError
from judging.models import EndpointGate, Judge, JudgePass, Verdict
from judging.passes import budgets
from judging.passes.configuration import (
    MAX_SHOTS,
    digest_of,
    freeze,
    freeze_costs,
    most_prompt_bytes,
)
from judging.passes.control import ACTIVE_STATES
from judging.passes.retrieval import Retrieval, retrieve_exemplars
from judging.passes.seats import JudgeSeat, preflight, seat_judges, store_judges
from judging.passes.waking import wake_workers
from judging.rubrics import find_rubric, store_rubric

BATCH_SIZE = 500
SKIP_CODES = {
    ResponseState.EMPTY: SkipCode.RESPONSE_EMPTY,
    ResponseState.ERROR: SkipCode.RESPONSE_ERROR,
    ResponseState.FILTERED: SkipCode.RESPONSE_FILTERED,
    ResponseState.TRUNCATED: SkipCode.RESPONSE_TRUNCATED,
}


@dataclass(frozen=True)
class PassRequest:
    """What a person asks for when starting a pass.

    Args:
        judges: slugs of the endpoints file's judges.
        rubric: slug of a rubric.
        shots: K exemplars of each kind; 0 is zero-shot.
        campaign: judge only this campaign's responses.
        limit: judge only the first so many responses.
        max_calls: no more calls than this.
        max_cost: no more money than this, in the unit of the endpoints file's prices.
        again: judge although a finished pass has exactly this configuration.
    """

    judges: tuple[str, ...]
    rubric: str
    shots: int = 0
    campaign: Campaign | None = None
    limit: int | None = None
    max_calls: int | None = None
    max_cost: Decimal | None = None
    again: bool = False


def start_pass(benchmark: Benchmark, request: PassRequest, *, actor: Account | None = None) -> JudgePass:
    """Check that every judge answers, freeze the configuration, make the rows and set the pass running.

    Makes one tiny call to each judge before anything is stored. Caps are no part of the configuration.

    Returns:
        The RUNNING pass. Complete responses are PENDING for each judge, the others SKIPPED with the
        reason. Or, without any call, the newest FINISHED pass of exactly this configuration.

    Raises:
        PassError: a judge does not answer, nothing to judge, or a cap that cannot be kept.
        EndpointError: the endpoints file does not offer a judge.
        Conflict: the same configuration is running already.
    """
    _check_numbers(request)
    rubric = find_rubric(request.rubric)
    seats = seat_judges(request.judges)
    responses = list(choose_responses(benchmark, campaign=request.campaign, limit=request.limit))
    judged = [row for row in responses if row.state == ResponseState.OK]
    if not judged:
        raise PassError(
            "There is no complete response to judge. Import or collect responses first.",
            code="nothing_to_judge",
        )
    retrieval = retrieve_exemplars(benchmark, judged, shots=request.shots) if request.shots else None
    configuration = freeze(
        rubric=rubric,
        seats=seats,
        shots=request.shots,
        pool=retrieval.pool if retrieval else None,
        scope=_digest_of_scope(responses),
    )
    digest = digest_of(configuration)
    finished = None if request.again else _finished_twin(benchmark, digest)
    if finished is not None:
        return finished
    longest = most_prompt_bytes(
        rubric,
        item_bytes=max(len(row.prompt.text.encode()) + len(row.text.encode()) for row in judged),
        exemplar_bytes=retrieval.longest_bytes if retrieval else 0,
        shots=request.shots,
    )
    costs = freeze_costs(seats, most_prompt_bytes=longest)
    if request.max_cost is not None and costs["worst_call_micros"] is None:
        raise PassError(
            "A money cap needs the price of every judge, and the endpoints file gives not all. "
            "Add price_in and price_out, or cap the calls with --max-calls.",
            code="unknown_price",
        )
    is_simulated = preflight(seats)
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
                max_cost_micros=budgets.to_micros(request.max_cost),
                created_by=actor,
                started_at=timezone.now(),
            )
            judge_pass.judges.set(judges.values())
            _make_rows(judge_pass, responses, seats, judges, retrieval)
            for name in endpoint_names:
                EndpointGate.objects.get_or_create(name=name)
            record_event(
                actor=actor, action="pass.started", subject=f"pass:{judge_pass.public_id}", digest=digest
            )
            transaction.on_commit(lambda: wake_workers(endpoint_names))
    except IntegrityError as error:
        twins = JudgePass.objects.filter(benchmark=benchmark, digest=digest, state__in=ACTIVE_STATES)
        twin = twins.first()
        if twin is None:
            raise
        way_out = "Resume that one" if twin.state == PassState.PAUSED else "Watch that one"
        if twin.pause_reason == PauseReason.BUDGET:
            way_out = "Resume that one with a higher cap"
        raise Conflict(
            f"The pass {twin.name} ({twin.public_id}) has exactly this configuration and is "
            f"{twin.get_state_display()}. {way_out}, or cancel it first.",
            code="pass_running",
        ) from error
    return judge_pass


def _check_numbers(request: PassRequest) -> None:
    bounds = (
        ("shots", request.shots, 0, MAX_SHOTS),
        ("limit", request.limit, 1, budgets.MOST_NUMBER),
    )
    for name, value, least, most in bounds:
        if value is not None and not least <= value <= most:
            raise PassError(f"{name} is {value}; expected {least} to {most}.", code="bad_number")
    budgets.check_numbers(max_calls=request.max_calls, max_cost=request.max_cost)


def choose_responses(
    benchmark: Benchmark, *, campaign: Campaign | None, limit: int | None
) -> QuerySet[Response]:
    """The responses that a pass would take up, complete or not, with their prompts, oldest first."""
    responses = Response.objects.filter(prompt__benchmark=benchmark).select_related("prompt").order_by("pk")
    if campaign is not None:
        regular = campaign.items.filter(kind=ItemKind.REGULAR).values("response_id")
        responses = responses.filter(pk__in=regular)
    return responses[:limit] if limit else responses


def _finished_twin(benchmark: Benchmark, digest: str) -> JudgePass | None:
    passes = JudgePass.objects.filter(
        benchmark=benchmark, digest=digest, source=PassSource.JUDGED, state=PassState.FINISHED
    )
    return passes.order_by("-pk").first()


def _make_rows(
    judge_pass: JudgePass,
    responses: Sequence[Response],
    seats: Sequence[JudgeSeat],
    judges: Mapping[str, Judge],
    retrieval: Retrieval | None,
) -> None:
    rows = []
    for response in responses:
        exemplars = retrieval.exemplars.get(response.pk) if retrieval else None
        skip_code = SKIP_CODES.get(ResponseState(response.state))
        for seat in seats:
            rows.append(
                Verdict(
                    judge_pass=judge_pass,
                    response=response,
                    judge=judges[seat.slug],
                    endpoint_name=seat.endpoint.name,
                    scale=judge_pass.scale,
                    state=VerdictState.SKIPPED if skip_code else VerdictState.PENDING,
                    skip_code=skip_code,
                    settled_at=judge_pass.started_at if skip_code else None,
                    exemplars=exemplars,
                    n_exemplars_acceptable=_count(exemplars, unacceptable=False),
                    n_exemplars_unacceptable=_count(exemplars, unacceptable=True),
                )
            )
    Verdict.objects.bulk_create(rows, batch_size=BATCH_SIZE)


def _count(exemplars: list[dict[str, object]] | None, *, unacceptable: bool) -> int | None:
    if exemplars is None:
        return None
    return sum(exemplar["unacceptable"] is unacceptable for exemplar in exemplars)


def _new_name(benchmark: Benchmark, request: PassRequest) -> str:
    stem = f"{request.rubric}-{request.shots}shot"
    taken = set(
        JudgePass.objects.filter(benchmark=benchmark, name__startswith=stem).values_list("name", flat=True)
    )
    return next(name for n in itertools.count(1) if (name := f"{stem}-{n}") not in taken)


def _digest_of_scope(responses: Sequence[Response]) -> str:
    digest = hashlib.sha256()
    for response in responses:
        digest.update(f"{response.pk}|{response.state}|{response.text_hash}\n".encode())
    return digest.hexdigest()
