"""Exemplars of a few-shot pass: the labelled pool, and the nearest cases of each response.

Made once for all judges of a pass. Responses are read, embedded and compared a block at a time, so that
a pass of any size needs the memory of its pool, of one block and of the choices themselves.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from annotation.audit import record_event
from annotation.choices import ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.amounts import to_micros
from judging.choices import ExclusionPolicy
from judging.errors import PassError
from judging.llm.case_text import hash_case, join_case
from judging.llm.embedding import TFIDF, TfidfEmbedder
from judging.llm.exemplar_choices import Choices
from judging.llm.exemplar_pool import ExemplarPool
from judging.llm.exemplars import MAX_SIMILARITY, ExclusionProof, PoolItem, QueryItem
from judging.retrieval.embedders import EmbedderSeat, seat_embedder
from judging.retrieval.endpoint_embedder import EndpointEmbedder
from judging.retrieval.pool_cases import read_pool
from judging.retrieval.vector_calls import EmbeddingCaps, EmbeddingSpend
from judging.text_reading import read_blocks


class StoredExemplars(Mapping[int, list[dict[str, Any]]]):
    """Exemplars by response id, as they are stored on each verdict; made when they are asked for."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._rows = {int(response_id): row for row, response_id in enumerate(choices.response_ids)}

    def __getitem__(self, response_id: int) -> list[dict[str, Any]]:
        return [
            {
                "response": exemplar.response_id,
                "similarity": exemplar.similarity,
                "unacceptable": exemplar.unacceptable,
            }
            for exemplar in self._choices[self._rows[response_id]].exemplars
        ]

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def proofs(self) -> Iterator[tuple[int, ExclusionProof]]:
        """Of each response, what was left out of the pool for it."""
        return ((response_id, self._choices[row].proof) for response_id, row in self._rows.items())


@dataclass(frozen=True)
class Retrieval:
    """The exemplars of a pass, what they were drawn from, and what finding them cost.

    `pool` is frozen with the pass: digest and size of the pool, limit of similarity, and the embedder's
    identity. `longest_bytes` bounds prompt and response of any exemplar together. `is_simulated`: a vector
    came from the loopback provider.
    """

    exemplars: StoredExemplars
    pool: Mapping[str, Any]
    longest_bytes: int
    spent: EmbeddingSpend
    is_simulated: bool


def retrieve_exemplars(
    benchmark: Benchmark,
    responses: QuerySet[Response],
    *,
    shots: int,
    exclusion: str = ExclusionPolicy.CASE,
    embedder: str = TFIDF,
    pool_campaign: Campaign | None = None,
    max_calls: int | None = None,
    max_cost: Decimal | None = None,
) -> Retrieval:
    """Choose `shots` Acceptable and `shots` Unacceptable exemplars for each complete response.

    The pool is every complete response of the benchmark with a consensus of its current labels;
    contested ones are none. Prompt and response are embedded together. Run it outside of a transaction:
    vectors of an endpoint are bought and stored on the way.

    Args:
        benchmark: whose labelled responses form the pool.
        responses: what is to be judged; those that are not complete get no exemplars.
        shots: K of each kind, at least 1.
        exclusion: whether the judged case or the judged response alone counts as itself.
        embedder: `tfidf`, or a model that the endpoints file offers as an embedder.
        pool_campaign: take this campaign's labels only.
        max_calls, max_cost: the pass's caps; an endpoint's embedder keeps to them.

    Raises:
        PassError: the pool has no response of one kind, the embedder is unknown, its endpoint fails, or a
            cap is reached. What was bought by then is kept, and the next start goes on from there.
        EndpointError: the endpoints file cannot be read.
    """
    cases = read_pool(benchmark, pool_campaign)
    if len({case.unacceptable for case in cases}) < 2:
        raise PassError(
            f"A few-shot pass needs labelled responses of both kinds; the pool has {len(cases)}, "
            "all of one kind or none. Label more responses, or use --shots 0.",
            code="no_exemplars",
        )
    items = [
        PoolItem(
            response_id=case.response_id,
            case_uid=case.case_uid,
            text_hash=hash_case(prompt=case.prompt, response=case.response),
            unacceptable=case.unacceptable,
        )
        for case in cases
    ]
    seat = seat_embedder(embedder)
    with ExitStack() as stack:
        source: TfidfEmbedder | EndpointEmbedder
        if seat is None:
            source, spent, identity = TfidfEmbedder(), EmbeddingSpend(), {"embedder": TFIDF}
        else:
            caps = EmbeddingCaps(max_calls=max_calls, max_cost_micros=to_micros(max_cost))
            source = stack.enter_context(EndpointEmbedder(seat, caps=caps))
            spent, identity = source.spent, seat.identity
            stack.callback(_record_spend, benchmark, seat, spent)
        pool = ExemplarPool(
            items,
            source.learn([join_case(prompt=case.prompt, response=case.response) for case in cases]),
            k=shots,
            exclusion="response" if exclusion == ExclusionPolicy.RESPONSE else "case",
        )
        parts = [pool.choose(queries, source.embed(texts)) for queries, texts in _blocks(responses)]
        is_simulated = isinstance(source, EndpointEmbedder) and source.is_simulated
    return Retrieval(
        exemplars=StoredExemplars(Choices.joined(parts)),
        pool={
            "digest": _digest_of_pool(items),
            "n": len(items),
            "n_unacceptable": sum(item.unacceptable for item in items),
            "campaign": pool_campaign.public_id if pool_campaign else None,
            "max_similarity": MAX_SIMILARITY,
            "embedder_version": source.version,
        }
        | identity,
        longest_bytes=max(len(case.prompt.encode()) + len(case.response.encode()) for case in cases),
        spent=spent,
        is_simulated=is_simulated,
    )


def _blocks(responses: QuerySet[Response]) -> Iterator[tuple[list[QueryItem], list[str]]]:
    """The complete responses as queries and their texts, a block at a time."""
    for block in read_blocks(responses):
        complete = [row for row in block if row.state == ResponseState.OK]
        if complete:
            yield (
                [
                    QueryItem(
                        response_id=row.pk,
                        case_uid=row.case_uid,
                        text_hash=hash_case(prompt=row.prompt, response=row.text),
                    )
                    for row in complete
                ],
                [join_case(prompt=row.prompt, response=row.text) for row in complete],
            )


def _record_spend(benchmark: Benchmark, seat: EmbedderSeat, spent: EmbeddingSpend) -> None:
    """What was bought is told also when no pass came of it."""
    if spent.n_calls:
        record_event(
            actor=None,
            action="embeddings.bought",
            subject=f"benchmark:{benchmark.slug}",
            embedder=seat.slug,
            endpoint=seat.endpoint.name,
            n_calls=spent.n_calls,
            n_texts=spent.n_texts,
            n_tokens=spent.n_tokens,
            cost_micros=spent.cost_micros,
        )


def _digest_of_pool(pool: Sequence[PoolItem]) -> str:
    digest = hashlib.sha256()
    for item in sorted(pool, key=lambda item: item.response_id):
        digest.update(f"{item.response_id}|{item.text_hash}|{item.unacceptable:d}\n".encode())
    return digest.hexdigest()
