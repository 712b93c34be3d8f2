"""What a pass would come to, said before it starts. Makes no call and stores nothing."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Max

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.amounts import MICROS
from judging.choices import AnswerForm, RubricScale
from judging.llm.endpoints import Endpoint
from judging.models import JudgePass, Rubric, VerdictAttempt
from judging.passes.configuration import most_prompt_bytes, worst_call_micros
from judging.passes.request_tokens import BOTH_TEXTS, count_request_tokens
from judging.passes.scope import choose_responses
from judging.passes.seats import JudgeSeat, seat_judges
from judging.passes.starting import PassRequest
from judging.retrieval.pool_counts import count_pool
from judging.rubrics import find_rubric

MOST_RECENT_CALLS = 200
MOST_RECENT_PASSES = 3
# Until a judge has answered here: three sentences and two lines; a word; a small object.
ASSUMED_ANSWER_TOKENS = 120
ASSUMED_WORD_TOKENS = 10
ASSUMED_OBJECT_TOKENS = 30
ASSUMED_LATENCY_S = 5.0


@dataclass(frozen=True)
class JudgeEstimate:
    """One judge's share of a pass. `cost` and `worst_cost` are None when its price is unknown.

    `has_history`: latency and length of its answers are those of its recent calls, else assumptions.
    """

    slug: str
    endpoint_name: str
    n_calls: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None
    worst_cost: Decimal | None
    latency_s: float
    has_history: bool


@dataclass(frozen=True)
class PassEstimate:
    """A pass in which each response is answered at the first call.

    `n_counted` of the responses had their tokens counted; for the others they follow from the length.
    """

    n_responses: int
    n_counted: int
    seconds: float
    judges: tuple[JudgeEstimate, ...]

    @property
    def n_judges(self) -> int:
        return len(self.judges)

    @property
    def n_calls(self) -> int:
        return sum(judge.n_calls for judge in self.judges)

    @property
    def tokens_in(self) -> int:
        return sum(judge.tokens_in for judge in self.judges)

    @property
    def tokens_out(self) -> int:
        return sum(judge.tokens_out for judge in self.judges)

    @property
    def cost(self) -> Decimal | None:
        """What it likely costs; None when a price is unknown."""
        return _sum_known([judge.cost for judge in self.judges])

    @property
    def worst_cost(self) -> Decimal | None:
        """What it cannot cost more than without retries; None when a price is unknown."""
        return _sum_known([judge.worst_cost for judge in self.judges])


def estimate_pass(benchmark: Benchmark, request: PassRequest) -> PassEstimate:
    """Calls, tokens, cost and time of a pass. The number of queries depends on the number of judges alone.

    Retries come on top, and a cap on calls counts them. The worst cost takes every request to be as long as
    the longest and every answer to use up its larger budget; exemplars count as the benchmark's longest
    response. The likely cost takes tokens as counted, exemplars at their mean length, and answers as long
    as the judge's recent ones. Endpoints work side by side, each as fast as its limits and the judges'
    recent latency let it.

    Raises:
        PassError: no judge, one twice, or an unknown rubric.
        EndpointError: the endpoints file does not offer a judge.
    """
    seats = seat_judges(request.judges)
    rubric = find_rubric(request.rubric)
    chosen = Response.objects.filter(
        pk__in=choose_responses(benchmark, campaign=request.campaign, limit=request.limit).values("pk"),
        state=ResponseState.OK,
    )
    pool = count_pool(benchmark, request.pool_campaign) if request.shots else None
    tokens = count_request_tokens(chosen, rubric=rubric, shots=request.shots, pool=pool)
    n_responses, longest_bytes = chosen.count(), _longest(benchmark)
    longest = most_prompt_bytes(
        rubric,
        item_bytes=longest_bytes,
        exemplar_bytes=longest_bytes if request.shots else 0,
        shots=request.shots,
    )
    judges = tuple(
        _estimate_judge(
            seat,
            n_calls=n_responses,
            tokens_in=tokens.total,
            worst_micros=worst_call_micros(seat, most_prompt_bytes=longest),
            rubric=rubric,
            output=request.output,
        )
        for seat in seats
    )
    return PassEstimate(
        n_responses=n_responses,
        n_counted=tokens.n_counted,
        seconds=_duration_s({seat.endpoint.name: seat.endpoint for seat in seats}, judges),
        judges=judges,
    )


def _estimate_judge(
    seat: JudgeSeat,
    *,
    n_calls: int,
    tokens_in: int,
    worst_micros: int | None,
    rubric: Rubric,
    output: str,
) -> JudgeEstimate:
    latency_s, answer_tokens, has_history = _recent_answers(seat, rubric=rubric, output=output)
    tokens_out = n_calls * answer_tokens
    prices = seat.model.prices
    micros = prices.cost_micros(tokens_in=tokens_in, tokens_out=tokens_out) if prices else None
    return JudgeEstimate(
        slug=seat.slug,
        endpoint_name=seat.endpoint.name,
        n_calls=n_calls,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=None if micros is None else Decimal(micros) / MICROS,
        worst_cost=None if worst_micros is None else Decimal(n_calls * worst_micros) / MICROS,
        latency_s=latency_s,
        has_history=has_history,
    )


def _recent_answers(seat: JudgeSeat, *, rubric: Rubric, output: str) -> tuple[float, int, bool]:
    """Median latency and mean tokens of a judge's recent answers to the rubric, or what is assumed."""
    passes = JudgePass.objects.filter(rubric__slug=rubric.slug, judges__slug=seat.slug).order_by("-pk")
    recent = list(
        VerdictAttempt.objects.filter(
            verdict__judge_pass__in=list(passes.values_list("pk", flat=True)[:MOST_RECENT_PASSES]),
            verdict__judge__slug=seat.slug,
            verdict__judge__model_id=seat.model.model_id,
            tokens_out__isnull=False,
            latency_ms__isnull=False,
        )
        .order_by("-pk")
        .values_list("latency_ms", "tokens_out")[:MOST_RECENT_CALLS]
    )
    if recent:
        latencies, lengths = zip(*recent, strict=True)
        return statistics.median(latencies) / 1000, round(statistics.fmean(lengths)), True
    assumed = ASSUMED_WORD_TOKENS if rubric.scale == RubricScale.BINARY else ASSUMED_ANSWER_TOKENS
    if output == AnswerForm.STRUCTURED:
        assumed = ASSUMED_OBJECT_TOKENS
    return ASSUMED_LATENCY_S, assumed, False


def _duration_s(endpoints: Mapping[str, Endpoint], judges: Sequence[JudgeEstimate]) -> float:
    """Seconds until the slowest endpoint is done; 0 without a call."""
    slowest = 0.0
    for name, endpoint in endpoints.items():
        own = [judge for judge in judges if judge.endpoint_name == name]
        n_calls = sum(judge.n_calls for judge in own)
        busy_s = sum(judge.n_calls * judge.latency_s for judge in own)
        bounds = [busy_s / endpoint.max_in_flight]
        if endpoint.requests_per_minute is not None:
            bounds.append(60 * n_calls / endpoint.requests_per_minute)
        if endpoint.tokens_per_minute is not None:
            n_tokens = sum(judge.tokens_in + judge.tokens_out for judge in own)
            bounds.append(60 * n_tokens / endpoint.tokens_per_minute)
        slowest = max(slowest, *bounds)
    return slowest


def _longest(benchmark: Benchmark) -> int:
    """Bytes of the benchmark's longest prompt and response together."""
    longest = Response.objects.filter(prompt__benchmark=benchmark).aggregate(longest=Max(BOTH_TEXTS))
    return longest["longest"] or 0


def _sum_known(costs: Sequence[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None
