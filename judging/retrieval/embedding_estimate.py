"""What an endpoint's embedder would be asked for, said before a pass starts."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from annotation.choices import ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.amounts import MICROS
from judging.llm.case_text import hash_text, join_case
from judging.llm.tokens import estimate_tokens
from judging.retrieval.embedders import EmbedderSeat, cut_text, seat_embedder
from judging.retrieval.embedding_cache import missing_texts
from judging.retrieval.endpoint_embedder import batches_of
from judging.retrieval.pool_cases import read_pool
from judging.text_reading import read_blocks


@dataclass(frozen=True)
class EmbeddingEstimate:
    """The vectors that a pass needs and their calls, none of them tried twice.

    `n_missing` of the `n_texts` have no vector yet; only these are asked for, with one tiny call before.
    Tokens are estimated from the length. Costs are None when the embedder's price is unknown.
    """

    slug: str
    endpoint_name: str
    n_texts: int
    n_missing: int
    n_calls: int
    n_tokens: int
    cost: Decimal | None
    worst_cost: Decimal | None


def estimate_embeddings(
    benchmark: Benchmark,
    responses: QuerySet[Response],
    *,
    embedder: str,
    pool_campaign: Campaign | None = None,
) -> EmbeddingEstimate | None:
    """Calls, tokens and cost of the vectors of a few-shot pass; None for TF-IDF, which needs no call.

    Reads the texts once, in blocks; makes no call.

    Raises:
        PassError: nothing of that name is offered as an embedder.
        EndpointError: the endpoints file cannot be read.
    """
    seat = seat_embedder(embedder)
    if seat is None:
        return None
    seen: set[str] = set()
    n_missing = n_calls = n_tokens = n_bytes = 0
    for texts in _blocks(benchmark, responses, pool_campaign):
        new = {hash_text(text): text for text in map(cut_text, texts)}
        new = {text_hash: text for text_hash, text in new.items() if text_hash not in seen}
        seen.update(new)
        missing = missing_texts(seat.cache_name, list(new.values()))
        n_missing += len(missing)
        n_calls += sum(1 for _ in batches_of(missing))
        n_tokens += sum(estimate_tokens(text) for text in missing.values())
        n_bytes += sum(len(text.encode()) for text in missing.values())
    return EmbeddingEstimate(
        slug=seat.slug,
        endpoint_name=seat.endpoint.name,
        n_texts=len(seen),
        n_missing=n_missing,
        n_calls=n_calls + 1 if n_missing else 0,
        n_tokens=n_tokens,
        cost=_cost(seat, n_tokens),
        worst_cost=_cost(seat, n_bytes),
    )


def _blocks(
    benchmark: Benchmark, responses: QuerySet[Response], pool_campaign: Campaign | None
) -> Iterator[list[str]]:
    """The texts in the blocks in which they would be bought: the pool at once, then the responses."""
    yield [
        join_case(prompt=case.prompt, response=case.response) for case in read_pool(benchmark, pool_campaign)
    ]
    for block in read_blocks(responses):
        complete = (row for row in block if row.state == ResponseState.OK)
        yield [join_case(prompt=row.prompt, response=row.text) for row in complete]


def _cost(seat: EmbedderSeat, n_tokens: int) -> Decimal | None:
    prices = seat.prices
    if prices is None:
        return None
    return Decimal(prices.cost_micros(tokens_in=n_tokens, tokens_out=0)) / MICROS
