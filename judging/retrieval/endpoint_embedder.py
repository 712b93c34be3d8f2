"""Vectors of an endpoint's model: from the cache, and bought where they are missing.

Each batch is stored as soon as its call returns, so that a start that breaks off goes on from there and
pays for no text twice.
"""

import asyncio
import datetime as dt
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from django.utils import timezone

from judging.amounts import show_micros
from judging.choices import FailureCode
from judging.errors import PassError
from judging.llm.calls import CallOutcome
from judging.llm.case_text import hash_text
from judging.llm.embedding import Matrix
from judging.retrieval.embedders import EmbedderSeat, cut_text
from judging.retrieval.embedding_cache import keep_vectors, missing_texts, read_vectors
from judging.retrieval.vector_calls import (
    BATCH_TEXTS,
    MOST_IN_FLIGHT,
    MOST_WAIT_S,
    EmbeddingCaps,
    EmbeddingSpend,
    Given,
    Texts,
    VectorCalls,
)

BATCH_BYTES = 200_000
# Embedded again before anything is bought: a model that moves this text was exchanged behind its name.
KNOWN_TEXT = "A parent asks how much time with a chatbot is good for a child."
LEAST_SAME = 0.99


class EndpointEmbedder:
    """Embeds with a model of an endpoint, through the cache. Use it inside `with`, in no event loop.

    `is_simulated` says whether any vector so far came from the loopback provider.

    Args:
        seat: endpoint and model.
        caps: of the pass that is being started.

    Raises:
        PassError: a cap on money, and the price is unknown.
    """

    def __init__(self, seat: EmbedderSeat, *, caps: EmbeddingCaps) -> None:
        if seat.prices is None and caps.max_cost_micros is not None:
            raise PassError(
                f"A money cap needs the price of {seat.slug}, which finds the exemplars, and the endpoints "
                "file gives none. Add price_in, cap the calls with --max-calls, or use tfidf.",
                code="unknown_price",
            )
        self.is_simulated = False
        self._seat = seat
        self._caps = caps
        self._runner = asyncio.Runner()
        self._calls = VectorCalls(seat, caps=caps)
        self._is_open = False

    @property
    def name(self) -> str:
        return self._seat.slug

    @property
    def version(self) -> str:
        return self._seat.version

    @property
    def spent(self) -> EmbeddingSpend:
        """Calls, texts, tokens and money so far."""
        return self._calls.spent

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._runner:
            if self._is_open:
                self._runner.run(self._calls.close())

    def learn(self, texts: Sequence[str]) -> Matrix:
        """The pool's vectors. Nothing is learnt from them: the model's axes are its own."""
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of the texts, of which those that are not in the cache are bought first.

        Raises:
            PassError: the endpoint fails for good or asks for too long a wait, a cap is reached, or the
                model is not what it was. What was bought by then is kept.
        """
        cut = [cut_text(text) for text in texts]
        missing = missing_texts(self._seat.cache_name, cut)
        if missing:
            self._check_model()
            self._buy(missing)
        cached = read_vectors(self._seat.cache_name, cut)
        self.is_simulated = self.is_simulated or cached.is_simulated
        return cached.vectors

    def _check_model(self) -> None:
        """One tiny call before the first purchase: is the key good, and the model the one of the cache?"""
        if self._is_open:
            return
        self._runner.run(self._calls.open())
        self._is_open = True
        given = self._runner.run(self._calls.ask({hash_text(KNOWN_TEXT): KNOWN_TEXT}))
        if given.vectors is None:
            raise self._refusal_of(given.call)
        if not missing_texts(self._seat.cache_name, [KNOWN_TEXT]):
            [kept] = read_vectors(self._seat.cache_name, [KNOWN_TEXT]).vectors
            [now] = given.vectors
            if len(kept) != len(now) or float(kept @ now) < LEAST_SAME:
                raise self._refusal(
                    "It no longer gives the vectors that it gave before, so old and new ones cannot be "
                    "compared. Give the model another slug in the endpoints file, and all are bought anew.",
                    code="embedder_changed",
                )
        self._keep(given)

    def _buy(self, texts: Texts) -> None:
        """Ask for the texts, a few batches at a time, and keep each batch at once."""
        batches = batches_of(texts)
        n_at_once = min(self._seat.endpoint.max_in_flight, MOST_IN_FLIGHT)
        running: set[asyncio.Task[Given]] = set()
        failed: Given | None = None
        while True:
            while failed is None and len(running) < n_at_once and (batch := next(batches, None)):
                running.add(self._runner.get_loop().create_task(self._calls.ask(batch)))
            if not running:
                break
            # The database is used between two turns of the loop, never inside it.
            done, running = self._runner.run(_wait_for_first(running))
            for given in [task.result() for task in done]:
                if given.vectors is None:
                    failed = failed or given
                else:
                    self._keep(given)
        # Only now is it known what those under way have brought.
        if failed is not None:
            raise self._refusal_of(failed.call)

    def _keep(self, given: Given) -> None:
        if given.vectors is not None and given.call is not None:
            keep_vectors(
                self._seat.cache_name,
                dict(zip(given.texts, given.vectors, strict=True)),
                is_simulated=given.call.is_simulated,
            )

    def _refusal_of(self, call: CallOutcome | None) -> PassError:
        if call is None:
            caps = [
                f"{self._caps.max_calls} calls" if self._caps.max_calls is not None else "",
                show_micros(self._caps.max_cost_micros) if self._caps.max_cost_micros is not None else "",
            ]
            return self._refusal(
                f"The cap of {' and '.join(cap for cap in caps if cap)} is used up. "
                "Raise it, or use tfidf, which costs nothing.",
                code="budget_used_up",
            )
        if call.retry_after_s is not None and call.retry_after_s > MOST_WAIT_S:
            until = timezone.localtime(timezone.now() + dt.timedelta(seconds=call.retry_after_s))
            return self._refusal(
                f"The provider asks to wait until {until:%H:%M}. Start again then.", code="embedding_failed"
            )
        return self._refusal(
            f"It gave no vectors: {FailureCode(call.kind).label} ({call.detail}). "
            "Correct the endpoints file or the key and start again, or use tfidf.",
            code="embedding_failed",
        )

    def _refusal(self, words: str, *, code: str) -> PassError:
        n = self.spent.n_texts
        kept = f" What it gave by now ({n} {'text' if n == 1 else 'texts'}) is kept and not paid for again."
        return PassError(
            f"No pass was started, as {self._seat.slug} at {self._seat.endpoint.name} finds its exemplars. "
            f"{words}{kept if n else ''}",
            code=code,
        )


def batches_of(texts: Texts) -> Iterator[dict[str, str]]:
    """The texts in as few calls as a provider's limits allow, in their order."""
    batch: dict[str, str] = {}
    n_bytes = 0
    for text_hash, text in texts.items():
        n_more = len(text.encode())
        if batch and (len(batch) == BATCH_TEXTS or n_bytes + n_more > BATCH_BYTES):
            yield batch
            batch, n_bytes = {}, 0
        batch[text_hash] = text
        n_bytes += n_more
    if batch:
        yield batch


async def _wait_for_first(
    tasks: set[asyncio.Task[Given]],
) -> tuple[set[asyncio.Task[Given]], set[asyncio.Task[Given]]]:
    return await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
