"""Starting a pass: preflight, freeze, make the rows, wake the workers."""

import hashlib
import itertools
from collections.abc import Mapping, Sequence
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
from judging.models import EndpointGate, Judge, JudgePass, Rubric, Verdict
from judging.passes.configuration import (
    MAX_SHOTS,
    digest_of,
    find_rubric,
    freeze,
    store_rubric,
    worst_call_micros,
)
from judging.passes.retrieval import Retrieval, retrieve_exemplars
from judging.passes.seats import JudgeSeat, preflight, seat_judges, store_judges

BATCH_SIZE = 500
MICROS = 1_000_000
# Fences and headings around the rubric and the texts, generously.
FRAME_BYTES = 10_000
JUDGE_TASK = "judging.judge_endpoint"
WAKE_EXPIRES_S = 10
MOST_NUMBER = 1_000_000_000
ACTIVE_STATES = (PassState.READY, PassState.RUNNING, PassState.PAUSED)
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
    longest = _most_prompt_bytes(rubric, judged, retrieval, shots=request.shots)
    worst = worst_call_micros(seats, most_prompt_bytes=longest)
    if request.max_cost is not None and worst is None:
        raise PassError(
            "A money cap needs the price of every judge, and the endpoints file gives not all. "
            "Add price_in and price_out, or cap the calls with --max-calls.",
            code="unknown_price",
        )
    digest = digest_of(configuration)
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
                configuration=configuration | {"worst_call_micros": worst},
                digest=digest,
                is_simulated=benchmark.is_simulated or is_simulated,
                state=PassState.RUNNING,
                max_calls=request.max_calls,
                max_cost_micros=None if request.max_cost is None else int(request.max_cost * MICROS),
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
        if not JudgePass.objects.filter(benchmark=benchmark, digest=digest, state__in=ACTIVE_STATES).exists():
            raise
        raise Conflict(
            "A pass with exactly this configuration is running or paused already. Watch or resume that one.",
            code="pass_running",
        ) from error
    return judge_pass


def wake_workers(endpoint_names: Sequence[str]) -> None:
    """Send a message for each endpoint; with the memory broker the worker's own sweep finds the rows."""
    if settings.USES_MEMORY_BROKER:
        return
    for name in endpoint_names:
        current_app.send_task(JUDGE_TASK, args=[name], expires=WAKE_EXPIRES_S)


def _check_numbers(request: PassRequest) -> None:
    bounds = (
        ("shots", request.shots, 0, MAX_SHOTS),
        ("limit", request.limit, 1, MOST_NUMBER),
        ("max_calls", request.max_calls, 1, MOST_NUMBER),
    )
    for name, value, least, most in bounds:
        if value is not None and not least <= value <= most:
            raise PassError(f"{name} is {value}; expected {least} to {most}.", code="bad_number")
    cost = request.max_cost
    if cost is not None and not (cost.is_finite() and 0 < cost <= MOST_NUMBER):
        raise PassError(f"max_cost is {cost}; expected an amount above 0.", code="bad_number")


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


def _most_prompt_bytes(
    rubric: Rubric, responses: Sequence[Response], retrieval: Retrieval | None, *, shots: int
) -> int:
    item = max(len(row.prompt.text.encode()) + len(row.text.encode()) for row in responses)
    exemplar = retrieval.longest_bytes if retrieval else 0
    return FRAME_BYTES + len(rubric.text.encode()) + item + 2 * shots * exemplar
