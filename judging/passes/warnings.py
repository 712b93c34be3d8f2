"""What a person should know before a pass starts. None of it stops the pass."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from annotation.selectors import MOST_EMPTY_PERCENT, EmptyShare
from judging.choices import AnswerForm, EmptyPolicy
from judging.models import Judge
from judging.passes.scope import choose_responses
from judging.passes.seats import JudgeSeat, seat_judges
from judging.passes.starting import PassRequest
from judging.retrieval.pool_counts import MOST_CONTESTED_PERCENT, PoolCounts, count_pool


@dataclass(frozen=True)
class StartWarning:
    """A stable code, and a sentence that says what is the matter and what can be done."""

    code: str
    message: str


def warnings_before(benchmark: Benchmark, request: PassRequest) -> list[StartWarning]:
    """What is doubtful about a pass that could be started. Five queries at most, no call.

    Raises:
        PassError: no judge, or one twice.
        EndpointError: the endpoints file does not offer a judge.
    """
    seats = seat_judges(request.judges)
    found = [*_about_empty(benchmark, request), *_about_prices(seats)]
    if request.output == AnswerForm.STRUCTURED:
        found += _about_structured(seats)
    if request.shots:
        found += _about_pool(count_pool(benchmark, request.pool_campaign), shots=request.shots)
    return found


def _about_empty(benchmark: Benchmark, request: PassRequest) -> list[StartWarning]:
    chosen = choose_responses(benchmark, campaign=request.campaign, limit=request.limit)
    counts = (
        Response.objects.filter(pk__in=chosen.values("pk"))
        .order_by("target_model__slug")
        .values_list("target_model__slug")
        .annotate(n_empty=Count("pk", filter=Q(state=ResponseState.EMPTY)), n=Count("pk"))
    )
    shares = [EmptyShare(model, n_empty, n) for model, n_empty, n in counts]
    n_empty = sum(share.n_empty for share in shares)
    found = [
        StartWarning(
            "many_empty",
            f"{share.n_empty:,} of the {share.n_responses:,} responses of {share.model} are empty, more than "
            f"{MOST_EMPTY_PERCENT} %. Find out why before anything is scored: a dead key looks like this.",
        )
        for share in shares
        if share.is_large
    ]
    if n_empty and request.empty_policy == EmptyPolicy.ACCEPTABLE:
        found.append(
            StartWarning(
                "empty_read_as_acceptable",
                f"{n_empty:,} empty responses are read as Acceptable without a call, as in the paper. Their "
                "verdicts are marked and counted apart: the failure rates leave these responses undecided, "
                "with the rate that the policy gives beside them.",
            )
        )
    return found


def _about_prices(seats: Sequence[JudgeSeat]) -> list[StartWarning]:
    unknown = [seat.slug for seat in seats if seat.model.prices is None]
    if not unknown:
        return []
    return [
        StartWarning(
            "unknown_price",
            f"The endpoints file gives no price for {', '.join(unknown)}: what the pass costs is not known, "
            "and money cannot be capped. Cap the calls instead.",
        )
    ]


def _about_structured(seats: Sequence[JudgeSeat]) -> list[StartWarning]:
    models = {seat.slug: seat.model.model_id for seat in seats}
    judges = Judge.objects.filter(slug__in=models).order_by("slug")
    refused = [
        judge.slug
        for judge in judges
        if judge.model_id == models[judge.slug] and judge.capabilities.get("structured") is False
    ]
    if not refused:
        return []
    return [
        StartWarning(
            "structured_refused",
            f"{', '.join(refused)} refused structured output before and will be asked for a text.",
        )
    ]


def _about_pool(pool: PoolCounts, *, shots: int) -> list[StartWarning]:
    found = []
    if pool.is_much_contested:
        n_labelled = pool.n_acceptable + pool.n_unacceptable + pool.n_contested
        found.append(
            StartWarning(
                "contested_pool",
                f"{pool.n_contested:,} of the {n_labelled:,} labelled responses are contested, more than "
                f"{MOST_CONTESTED_PERCENT} %, and are nobody's exemplar. People disagree on what is shown.",
            )
        )
    for kind, n in (("Acceptable", pool.n_acceptable), ("Unacceptable", pool.n_unacceptable)):
        if 0 < n <= shots:
            found.append(
                StartWarning(
                    "small_pool",
                    f"Only {n:,} labelled {'response is' if n == 1 else 'responses are'} {kind} by consensus "
                    f"and a case is never its own exemplar: some calls will show fewer than {shots}.",
                )
            )
    return found
