"""What a pass would come to, said before it starts. Makes no call and stores nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Func, IntegerField, Max
from django.db.models.sql.compiler import SQLCompiler

from annotation.choices import ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.passes.budgets import MICROS
from judging.passes.configuration import most_prompt_bytes, worst_call_micros
from judging.passes.scope import choose_responses
from judging.passes.seats import seat_judges
from judging.rubrics import find_rubric


@dataclass(frozen=True)
class PassEstimate:
    """The calls of a pass in which each response is answered at the first call, and the most they can cost.

    `worst_cost` is None when the price of a judge is unknown.
    """

    n_responses: int
    n_judges: int
    worst_cost: Decimal | None

    @property
    def n_calls(self) -> int:
        return self.n_responses * self.n_judges


class _ByteLength(Func):
    """Length of a text in UTF-8."""

    function = "OCTET_LENGTH"
    output_field = IntegerField()

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **context: Any) -> Any:
        # SQLite knows OCTET_LENGTH from 3.43 on.
        return self.as_sql(compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context)


def estimate_pass(
    benchmark: Benchmark,
    *,
    judges: Sequence[str],
    rubric: str,
    shots: int,
    campaign: Campaign | None = None,
    limit: int | None = None,
) -> PassEstimate:
    """Calls and worst-case cost of a pass over the chosen responses. Three queries at most.

    Retries come on top, and a cap on calls counts them. The cost takes every request to be as long as the
    longest and every answer to use up its larger budget; exemplars count as the benchmark's longest response.

    Raises:
        PassError: no judge, one twice, or an unknown rubric.
        EndpointError: the endpoints file does not offer a judge.
    """
    seats = seat_judges(judges)
    chosen = Response.objects.filter(
        pk__in=choose_responses(benchmark, campaign=campaign, limit=limit).values("pk"),
        state=ResponseState.OK,
    )
    n_responses, longest_bytes = chosen.count(), _longest(benchmark)
    longest = most_prompt_bytes(
        find_rubric(rubric),
        item_bytes=longest_bytes,
        exemplar_bytes=longest_bytes if shots else 0,
        shots=shots,
    )
    worst = [worst_call_micros(seat, most_prompt_bytes=longest) for seat in seats]
    known = [cost for cost in worst if cost is not None]
    return PassEstimate(
        n_responses=n_responses,
        n_judges=len(seats),
        worst_cost=Decimal(n_responses * sum(known)) / MICROS if len(known) == len(worst) else None,
    )


def _longest(benchmark: Benchmark) -> int:
    """Bytes of the benchmark's longest prompt and response together."""
    both = _ByteLength("text") + _ByteLength("prompt__text")
    longest = Response.objects.filter(prompt__benchmark=benchmark).aggregate(longest=Max(both))
    return longest["longest"] or 0
