"""Everything to look at before a pass is started: do the judges answer, what is sent, what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.errors import DomainError
from judging.passes.estimating import PassEstimate, estimate_pass
from judging.passes.sampling import SamplePrompt, sample_prompt
from judging.passes.scope import choose_responses
from judging.passes.seats import SeatCheck, check_seats, seat_judges
from judging.passes.starting import (
    PassRequest,
    check_request,
    find_judging_rubric,
    refuse_nothing,
    refuse_unknown_price,
)
from judging.passes.warnings import StartWarning, warnings_before
from judging.retrieval.embedding_estimate import EmbeddingEstimate, estimate_embeddings


@dataclass(frozen=True)
class PassCheck:
    """What a pass would be.

    `counts` are the responses that it takes up, by state; `embeddings` are the vectors that a model of the
    endpoints file would be asked for, if any. There is either a sample or the reason why there is none, for
    which the start would be refused too; neither, when no response is complete.
    """

    counts: Mapping[str, int]
    judges: tuple[SeatCheck, ...]
    estimate: PassEstimate
    embeddings: EmbeddingEstimate | None
    warnings: tuple[StartWarning, ...]
    sample: SamplePrompt | None
    sample_problem: str | None

    @property
    def is_answered(self) -> bool:
        """True when every judge answered."""
        return all(judge.fault is None for judge in self.judges)

    @property
    def is_simulated(self) -> bool:
        """True when a judge is the loopback provider."""
        return any(judge.is_simulated for judge in self.judges)


def check_pass(benchmark: Benchmark, request: PassRequest) -> PassCheck:
    """Make one tiny call to each judge, and work out the rest. Stores nothing of a pass.

    Raises:
        PassError: the pass could not be started as asked; with the reason.
        EndpointError: the endpoints file does not offer a judge.
    """
    check_request(request)
    find_judging_rubric(request.rubric, shots=request.shots)
    seats = seat_judges(request.judges)
    chosen = choose_responses(benchmark, campaign=request.campaign, limit=request.limit)
    by_state = Response.objects.filter(pk__in=chosen.values("pk")).order_by("state").values_list("state")
    counts = dict(by_state.annotate(n=Count("pk")))
    refuse_nothing(counts, request)
    refuse_unknown_price(seats, request)
    sample, problem = None, None
    if counts.get(ResponseState.OK):
        try:
            sample = sample_prompt(benchmark, request)
        except DomainError as error:
            problem = error.message
    return PassCheck(
        counts=counts,
        judges=tuple(check_seats(seats)),
        estimate=estimate_pass(benchmark, request),
        embeddings=_estimate_embeddings(benchmark, chosen, request),
        warnings=tuple(warnings_before(benchmark, request)),
        sample=sample,
        sample_problem=problem,
    )


def _estimate_embeddings(
    benchmark: Benchmark, chosen: QuerySet[Response], request: PassRequest
) -> EmbeddingEstimate | None:
    if not request.shots:
        return None
    return estimate_embeddings(
        benchmark, chosen, embedder=request.embedder, pool_campaign=request.pool_campaign
    )
