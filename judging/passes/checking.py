"""Everything to look at before a pass is started: do the judges answer, what is sent, what it comes to."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.errors import DomainError, PassError
from judging.passes.estimating import PassEstimate, estimate_pass
from judging.passes.sampling import SamplePrompt, sample_prompt
from judging.passes.scope import choose_responses
from judging.passes.seats import SeatCheck, check_seats, seat_judges
from judging.passes.starting import PassRequest, check_request, find_judging_rubric, refuse_nothing
from judging.passes.warnings import StartWarning, warnings_before


@dataclass(frozen=True)
class PassCheck:
    """What a pass would be.

    `counts` are the responses that it takes up, by state. There is either a sample or the reason why there
    is none; a reason means that the start would be refused for it too.
    """

    counts: Mapping[str, int]
    judges: tuple[SeatCheck, ...]
    estimate: PassEstimate
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
    estimate = estimate_pass(benchmark, request)
    if request.max_cost is not None and estimate.worst_cost is None:
        raise PassError(
            "A money cap needs the price of every judge, and the endpoints file gives not all. "
            "Add price_in and price_out, or cap the calls.",
            code="unknown_price",
        )
    sample, problem = None, None
    if counts.get(ResponseState.OK):
        try:
            sample = sample_prompt(benchmark, request)
        except DomainError as error:
            problem = error.message
    return PassCheck(
        counts=counts,
        judges=tuple(check_seats(seats)),
        estimate=estimate,
        warnings=tuple(warnings_before(benchmark, request)),
        sample=sample,
        sample_problem=problem,
    )
