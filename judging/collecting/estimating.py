"""What a collection would come to, said before it starts. Makes no call and stores nothing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg

from annotation.models import Benchmark
from judging.amounts import MICROS
from judging.collecting.configuration import call_tokens, worst_call_micros
from judging.collecting.planning import CollectionPlan, CollectionRequest, check_request, plan_collection
from judging.collecting.targets import seat_targets
from judging.llm.endpoints import Endpoint
from judging.llm.tokens import estimate_tokens
from judging.models import GenerationAttempt
from judging.passes.seats import JudgeSeat

# How long an answer takes where none was timed yet.
ASSUMED_LATENCY_S = 10.0
N_TIMED_ATTEMPTS = 200


@dataclass(frozen=True)
class CollectionEstimate:
    """Calls, tokens, cost and time of a collection in which every prompt is answered at the first call.

    Args:
        plan: what is missing.
        tokens_in: estimate of what is sent, characters / 4.
        most_tokens_out: the most that may be answered; most answers are shorter.
        worst_cost: None when the price of a model is unknown.
        seconds: at the endpoints' limits, taking `latency_s` for an answer.
        latency_s: mean of the latest calls to these models, or an assumption.
        is_latency_measured: which of the two.
    """

    plan: CollectionPlan
    tokens_in: int
    most_tokens_out: int
    worst_cost: Decimal | None
    seconds: float
    latency_s: float
    is_latency_measured: bool

    @property
    def n_calls(self) -> int:
        return len(self.plan.missing)


def estimate_collection(benchmark: Benchmark, request: CollectionRequest) -> CollectionEstimate:
    """Work out a collection. Five queries at most.

    Retries come on top, and a cap on calls counts them. The cost takes every prompt to be as long as the
    longest and every answer to use up its limit.

    Raises:
        PassError: a number or text that cannot be used, no model, or one that is no target.
        EndpointError: the endpoints file does not offer a model.
    """
    check_request(request)
    seats = seat_targets(request.models)
    plan = plan_collection(benchmark, request)
    n_by_model = Counter(slug for _, slug, _ in plan.missing)
    latency_s = _measured_latency_s(request.models)
    return CollectionEstimate(
        plan=plan,
        tokens_in=_tokens_in(request, plan),
        most_tokens_out=len(plan.missing) * request.max_tokens,
        worst_cost=_worst_cost(request, seats, plan, n_by_model),
        seconds=_seconds(
            seats,
            n_by_model,
            latency_s=latency_s or ASSUMED_LATENCY_S,
            tokens_each=call_tokens(request, plan.prompts),
        ),
        latency_s=latency_s or ASSUMED_LATENCY_S,
        is_latency_measured=latency_s is not None,
    )


def _tokens_in(request: CollectionRequest, plan: CollectionPlan) -> int:
    tokens = {prompt.pk: estimate_tokens(prompt.text) for prompt in plan.prompts}
    n_system = estimate_tokens(request.system_prompt or "")
    return sum(tokens[prompt_id] + n_system for prompt_id, _, _ in plan.missing)


def _worst_cost(
    request: CollectionRequest,
    seats: Sequence[JudgeSeat],
    plan: CollectionPlan,
    n_by_model: Counter[str],
) -> Decimal | None:
    total = 0
    for seat in seats:
        worst = worst_call_micros(request, seat=seat, prompts=plan.prompts)
        if worst is None:
            return None
        total += n_by_model[seat.slug] * worst
    return Decimal(total) / MICROS


def _seconds(
    seats: Sequence[JudgeSeat], n_by_model: Counter[str], *, latency_s: float, tokens_each: int
) -> float:
    """The slowest endpoint decides: they are called side by side."""
    n_by_endpoint: Counter[str] = Counter()
    endpoints: dict[str, Endpoint] = {}
    for seat in seats:
        n_by_endpoint[seat.endpoint.name] += n_by_model[seat.slug]
        endpoints[seat.endpoint.name] = seat.endpoint
    return max(
        (
            _seconds_at(endpoints[name], n, latency_s=latency_s, tokens_each=tokens_each)
            for name, n in n_by_endpoint.items()
        ),
        default=0.0,
    )


def _seconds_at(endpoint: Endpoint, n_calls: int, *, latency_s: float, tokens_each: int) -> float:
    limits = [n_calls * latency_s / endpoint.max_in_flight]
    if endpoint.requests_per_minute is not None:
        limits.append(n_calls * 60 / endpoint.requests_per_minute)
    if endpoint.tokens_per_minute is not None:
        limits.append(n_calls * tokens_each * 60 / endpoint.tokens_per_minute)
    return max(limits)


def _measured_latency_s(models: Sequence[str]) -> float | None:
    """Mean time of the latest answered calls to these models, None when there was none."""
    latest = GenerationAttempt.objects.filter(
        generation__target_model__slug__in=models, outcome="ok", latency_ms__isnull=False
    ).order_by("-pk")
    mean = GenerationAttempt.objects.filter(
        pk__in=list(latest.values_list("pk", flat=True)[:N_TIMED_ATTEMPTS])
    ).aggregate(mean=Avg("latency_ms"))["mean"]
    return None if mean is None else float(mean) / 1000
