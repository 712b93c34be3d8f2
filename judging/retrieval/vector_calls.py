"""Calls for vectors, made one after another or a few at a time: retried, paced, counted and capped.

They are made by the process that starts a pass, before there is a pass or a row to claim. So they keep
to the endpoint's requests per minute by themselves, and the caps of the pass are kept here.
"""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings

from judging.llm.calls import CallOutcome
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.embedding import Matrix
from judging.llm.embedding_calls import EmbeddingRequest, reply_cap_bytes
from judging.llm.retrying import RetryPolicy, backoff_s
from judging.retrieval.embedders import EmbedderSeat

BATCH_TEXTS = 64
MOST_IN_FLIGHT = 8
# Someone is waiting for the start: a provider that asks for more patience than this is told as a reason.
MOST_WAIT_S = 30.0
POLICY = RetryPolicy(max_attempts=4, max_rate_limited=6, backoff_cap_s=20.0)

# No later try can change these, and the provider charges nothing for them or for a 429.
_HOPELESS = frozenset({"auth", "bad_request", "encoding"})
_FREE = _HOPELESS | {"rate_limited"}

Texts = Mapping[str, str]


@dataclass(frozen=True)
class EmbeddingCaps:
    """What may be spent on vectors: calls, and millionths of the prices' unit. None is no cap."""

    max_calls: int | None = None
    max_cost_micros: int | None = None


@dataclass
class EmbeddingSpend:
    """What was spent on vectors. `cost_micros` is None when the price is unknown.

    A call that is under way, or whose outcome is unknown, counts at its worst case, a token for each byte.
    """

    n_calls: int = 0
    n_texts: int = 0
    n_tokens: int = 0
    cost_micros: int | None = 0


@dataclass(frozen=True)
class Given:
    """Texts by hash with their vectors, or with the call that failed for good (None: a cap forbade it)."""

    texts: Texts
    vectors: Matrix | None
    call: CallOutcome | None


class VectorCalls:
    """Calls a model for vectors. Make it and use it in one event loop: `async with VectorCalls(...)`."""

    def __init__(self, seat: EmbedderSeat, *, caps: EmbeddingCaps) -> None:
        self.spent = EmbeddingSpend(cost_micros=None if seat.prices is None else 0)
        self._seat = seat
        self._caps = caps
        self._random = random.Random()
        self._next_call_s = 0.0
        self._client = JudgeClient(
            seat.endpoint,
            deadlines=Deadlines(
                connect_s=settings.CALL_CONNECT_S, read_s=settings.CALL_READ_S, total_s=settings.CALL_TOTAL_S
            ),
            reply_cap_bytes=reply_cap_bytes(BATCH_TEXTS),
            max_connections=MOST_IN_FLIGHT,
            uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES,
        )

    async def open(self) -> None:
        """Open the connections.

        Raises:
            EndpointError: the host's name leads to an address that is not public.
        """
        await self._client.__aenter__()

    async def close(self) -> None:
        await self._client.__aexit__(None, None, None)

    async def ask(self, texts: Texts) -> Given:
        """Ask until there is an answer, or no hope of one soon.

        Time-outs, lost connections, server errors and bad replies are tried 4 times, a 429 6 times, each
        after a growing pause or the one that the provider asks for.
        """
        request = EmbeddingRequest(
            model=self._seat.model.model_id,
            texts=tuple(texts.values()),
            dimensions=self._seat.model.dimensions,
        )
        n_rate_limited = n_faults = 0
        while True:
            await self._pace()
            worst_micros = self._reserve(request)
            if worst_micros is None:
                return Given(texts, None, None)
            outcome = await self._client.embed(request)
            self._settle(outcome.call, request, worst_micros)
            if outcome.vectors is not None:
                self.spent.n_texts += len(texts)
                return Given(texts, outcome.vectors, outcome.call)
            if outcome.call.kind == "rate_limited":
                n_rate_limited += 1
            else:
                n_faults += 1
            is_spent = n_rate_limited >= POLICY.max_rate_limited or n_faults >= POLICY.max_attempts
            delay_s = self._delay_s(outcome.call, n_before=n_rate_limited + n_faults - 1)
            if outcome.call.kind in _HOPELESS or is_spent or delay_s > MOST_WAIT_S:
                return Given(texts, None, outcome.call)
            await asyncio.sleep(delay_s)

    def _delay_s(self, call: CallOutcome, *, n_before: int) -> float:
        return max(call.retry_after_s or 0.0, backoff_s(n_before, policy=POLICY, rng=self._random))

    async def _pace(self) -> None:
        """Wait for the next place under the endpoint's requests per minute."""
        rate = self._seat.endpoint.requests_per_minute
        if rate is None:
            return
        now_s = asyncio.get_running_loop().time()
        start_s = max(now_s, self._next_call_s)
        self._next_call_s = start_s + 60.0 / rate
        await asyncio.sleep(start_s - now_s)

    def _reserve(self, request: EmbeddingRequest) -> int | None:
        """Count a call and its worst cost before it is made; None when a cap forbids it.

        Nothing is awaited between the look and the counting, so the caps hold for calls side by side.
        """
        worst_micros = self._cost_micros(_n_bytes(request))
        caps, spent = self._caps, self.spent
        if caps.max_calls is not None and spent.n_calls + 1 > caps.max_calls:
            return None
        if (
            caps.max_cost_micros is not None
            and (spent.cost_micros or 0) + worst_micros > caps.max_cost_micros
        ):
            return None
        spent.n_calls += 1
        if spent.cost_micros is not None:
            spent.cost_micros += worst_micros
        return worst_micros

    def _settle(self, call: CallOutcome, request: EmbeddingRequest, worst_micros: int) -> None:
        if call.kind in _FREE:
            n_tokens = 0
        elif call.is_ok and call.tokens_in is not None:
            n_tokens = call.tokens_in
        else:
            n_tokens = _n_bytes(request)
        self.spent.n_tokens += n_tokens
        if self.spent.cost_micros is not None:
            self.spent.cost_micros += self._cost_micros(n_tokens) - worst_micros

    def _cost_micros(self, n_tokens: int) -> int:
        prices = self._seat.prices
        return 0 if prices is None else prices.cost_micros(tokens_in=n_tokens, tokens_out=0)


def _n_bytes(request: EmbeddingRequest) -> int:
    return sum(len(text.encode()) for text in request.texts)
