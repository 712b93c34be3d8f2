"""Starting a pass: preflight, freeze, make the rows, wake the workers."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from celery import current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.audit import record_event
from annotation.choices import ItemKind, ResponseState
from annotation.models import Account, Benchmark, Campaign, Response
from judging.choices import PassSource, PassState, SkipCode, VerdictState
from judging.errors import Conflict, PassError
from judging.llm.calls import CallOutcome
from judging.llm.client import Deadlines, JudgeClient
from judging.models import EndpointGate, JudgePass, Verdict
from judging.passes.configuration import (
    MAX_SHOTS,
    JudgeSeat,
    digest_of,
    find_rubric,
    freeze,
    seat_judges,
    worst_call_micros,
)
from judging.passes.retrieval import Retrieval, retrieve_exemplars

BATCH_SIZE = 500
MICROS = 1_000_000
# System message and frame of a rubric beside the texts, generously.
FRAME_BYTES = 20_000
JUDGE_TASK = "judging.judge_endpoint"
WAKE_EXPIRES_S = 10
PREFLIGHT_MOST_S = 60.0
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
    """

    judges: tuple[str, ...]
    rubric: str
    shots: int = 0
    campaign: Campaign | None = None
    limit: int | None = None
    max_calls: int | None = None
    max_cost: Decimal | None = None


def start_pass(benchmark: Benchmark, request: PassRequest, *, actor: Account | None = None) -> JudgePass:
    """Check that every judge answers, freeze the configuration, make the rows and set the pass running.

    Makes one tiny call to each judge before anything is stored.

    Returns:
        The RUNNING pass. Complete responses are PENDING for each judge, the others SKIPPED with the
        reason.

    Raises:
        PassError: a judge does not answer, nothing to judge, or a cap that cannot be kept.
        EndpointError: the endpoints file does not offer a judge.
        Conflict: the same configuration is running already.
    """
    _check_numbers(request)
    rubric = find_rubric(request.rubric)
    seats = seat_judges(request.judges)
    responses = _choose_responses(benchmark, request)
    judged = [row for row in responses if row.state == ResponseState.OK]
    if not judged:
        raise PassError(
            "There is no complete response to judge. Import or collect responses first.",
            code="nothing_to_judge",
        )
    is_simulated = preflight(seats)
    retrieval = retrieve_exemplars(benchmark, judged, shots=request.shots) if request.shots else None
    configuration = freeze(
        rubric=rubric,
        seats=seats,
        shots=request.shots,
        pool=retrieval.pool if retrieval else None,
        scope=_digest_of_scope(responses),
    )
    worst = worst_call_micros(seats, most_prompt_bytes=_most_prompt_bytes(judged, shots=request.shots))
    if request.max_cost is not None and worst is None:
        raise PassError(
            "A money cap needs the price of every judge, and the endpoints file gives not all. "
            "Add price_in and price_out, or cap the calls with --max-calls.",
            code="unknown_price",
        )
    digest = digest_of(configuration)
    try:
        with transaction.atomic():
            judge_pass = JudgePass.objects.create(
                benchmark=benchmark,
                name=_new_name(benchmark, request),
                source=PassSource.JUDGED,
                rubric=rubric,
                scale=rubric.scale,
                configuration=configuration | {"worst_call_micros": worst},
                digest=digest,
                is_simulated=benchmark.is_simulated or is_simulated,
                state=PassState.RUNNING,
                max_calls=request.max_calls,
                max_cost_micros=None if request.max_cost is None else int(request.max_cost * MICROS),
                created_by=actor,
                started_at=timezone.now(),
            )
            judge_pass.judges.set([seat.judge for seat in seats])
            _make_rows(judge_pass, responses, seats, retrieval)
            for name in sorted({seat.endpoint.name for seat in seats}):
                EndpointGate.objects.get_or_create(name=name)
            record_event(
                actor=actor, action="pass.started", subject=f"pass:{judge_pass.public_id}", digest=digest
            )
            transaction.on_commit(lambda: wake_workers(sorted({seat.endpoint.name for seat in seats})))
    except IntegrityError as error:
        # The digest of an active pass, or the name of one that was started at the same moment.
        raise Conflict(
            "A pass with exactly this configuration is running or paused already, or one was started at this "
            "moment. Watch or resume that one, or start again.",
            code="pass_running",
        ) from error
    return judge_pass


def preflight(seats: Sequence[JudgeSeat]) -> bool:
    """Make one tiny call to each judge.

    Returns:
        True when any of them is the loopback provider, whose answers are simulated.

    Raises:
        PassError: one does not answer, with its reason; no pass may start.
    """
    outcomes = asyncio.run(_preflight_all(seats))
    # A busy provider is alive: the pass's own back-off deals with it.
    faults = [
        _fault_in_words(seat, outcome)
        for seat, outcome in zip(seats, outcomes, strict=True)
        if outcome.kind not in ("ok", "rate_limited")
    ]
    if faults:
        raise PassError(
            f"No call was made: {'; '.join(faults)}. "
            "Correct the endpoints file or the key, then start again.",
            code="preflight_failed",
        )
    return any(outcome.is_simulated for outcome in outcomes)


def wake_workers(endpoint_names: Sequence[str]) -> None:
    """Send a message for each endpoint; with the memory broker the worker's own sweep finds the rows."""
    if settings.USES_MEMORY_BROKER:
        return
    for name in endpoint_names:
        current_app.send_task(JUDGE_TASK, args=[name], expires=WAKE_EXPIRES_S)


async def _preflight_all(seats: Sequence[JudgeSeat]) -> list[CallOutcome]:
    return await asyncio.gather(*(_preflight_one(seat) for seat in seats))


async def _preflight_one(seat: JudgeSeat) -> CallOutcome:
    deadlines = Deadlines(
        connect_s=settings.CALL_CONNECT_S,
        read_s=min(settings.CALL_READ_S, PREFLIGHT_MOST_S),
        total_s=min(settings.CALL_TOTAL_S, PREFLIGHT_MOST_S),
    )
    async with JudgeClient(
        seat.endpoint, deadlines=deadlines, uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES
    ) as client:
        return await client.preflight(seat.model.model_id)


def _fault_in_words(seat: JudgeSeat, outcome: CallOutcome) -> str:
    status = f", HTTP {outcome.http_status}" if outcome.http_status else ""
    return (
        f"{seat.judge.slug} at {seat.endpoint.name} answered with {outcome.kind}{status} ({outcome.detail})"
    )


def _check_numbers(request: PassRequest) -> None:
    bounds = (
        ("shots", request.shots, 0, MAX_SHOTS),
        ("limit", request.limit, 1, None),
        ("max_calls", request.max_calls, 1, None),
    )
    for name, value, least, most in bounds:
        if value is not None and (value < least or (most is not None and value > most)):
            expected = f"{least} to {most}" if most is not None else f"at least {least}"
            raise PassError(f"{name} is {value}; expected {expected}.", code="bad_number")
    if request.max_cost is not None and not request.max_cost > 0:
        raise PassError(f"max_cost is {request.max_cost}; expected an amount above 0.", code="bad_number")


def _choose_responses(benchmark: Benchmark, request: PassRequest) -> list[Response]:
    responses = Response.objects.filter(prompt__benchmark=benchmark).select_related("prompt").order_by("pk")
    if request.campaign is not None:
        regular = request.campaign.items.filter(kind=ItemKind.REGULAR).values("response_id")
        responses = responses.filter(pk__in=regular)
    return list(responses[: request.limit] if request.limit else responses)


def _make_rows(
    judge_pass: JudgePass,
    responses: Sequence[Response],
    seats: Sequence[JudgeSeat],
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
                    judge=seat.judge,
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
    n_before = JudgePass.objects.filter(benchmark=benchmark, name__startswith=f"{stem}-").count()
    return f"{stem}-{n_before + 1}"


def _digest_of_scope(responses: Sequence[Response]) -> str:
    digest = hashlib.sha256()
    for response in responses:
        digest.update(f"{response.pk}|{response.state}|{response.text_hash}\n".encode())
    return digest.hexdigest()


def _most_prompt_bytes(responses: Sequence[Response], *, shots: int) -> int:
    longest = max(len(row.prompt.text.encode()) + len(row.text.encode()) for row in responses)
    return FRAME_BYTES + longest * (1 + 2 * shots)
