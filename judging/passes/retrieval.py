"""Exemplars of a few-shot pass: the labelled pool, and the nearest cases of each response."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.errors import PassError
from judging.passes.configuration import EXCLUSION
from judging.selectors import load_evidence


@dataclass(frozen=True)
class Retrieval:
    """Exemplars by response id, as stored on each verdict, and what they were drawn from.

    `longest_bytes` bounds prompt and response of any exemplar together.
    """

    exemplars: Mapping[int, list[dict[str, Any]]]
    pool: Mapping[str, Any]
    longest_bytes: int


def hash_case(*, prompt: str, response: str) -> str:
    """SHA-256 of prompt and response together: a copy under another id has the same."""
    # The length keeps ("ab", "c") and ("a", "bc") apart.
    return hashlib.sha256(f"{len(prompt)}:{prompt}{response}".encode()).hexdigest()


def retrieve_exemplars(benchmark: Benchmark, responses: Sequence[Response], *, shots: int) -> Retrieval:
    """Choose `shots` Acceptable and `shots` Unacceptable exemplars for each response.

    The pool is every complete response of the benchmark with a consensus of its current labels;
    contested ones are none. Prompt and response are embedded together, pool and queries at once.

    Args:
        benchmark: whose labelled responses form the pool.
        responses: what is to be judged, with `prompt` loaded.
        shots: K of each kind, at least 1.

    Raises:
        PassError: the pool has no response of one kind.
    """
    from judging.llm.embedding import TfidfEmbedder
    from judging.llm.exemplars import PoolItem, QueryItem, choose_exemplars
    from judging.stats.aggregation import consensus
    from judging.stats.records import CONTESTED, UNACCEPTABLE

    decided = {
        response_id: reading.verdict == UNACCEPTABLE
        for response_id, reading in consensus(load_evidence(benchmark, judge_pass=None).labels).items()
        if reading.verdict != CONTESTED
    }
    pool_rows = list(
        Response.objects.filter(pk__in=decided, state=ResponseState.OK)
        .select_related("prompt")
        .order_by("pk")
    )
    kinds = {decided[row.pk] for row in pool_rows}
    if len(kinds) < 2:
        raise PassError(
            f"A few-shot pass needs labelled responses of both kinds; the pool has {len(pool_rows)}, "
            "all of one kind or none. Label more responses, or use --shots 0.",
            code="no_exemplars",
        )
    pool = [
        PoolItem(
            response_id=row.pk,
            case_uid=row.prompt.case_uid,
            text_hash=hash_case(prompt=row.prompt.text, response=row.text),
            unacceptable=decided[row.pk],
        )
        for row in pool_rows
    ]
    queries = [
        QueryItem(
            response_id=row.pk,
            case_uid=row.prompt.case_uid,
            text_hash=hash_case(prompt=row.prompt.text, response=row.text),
        )
        for row in responses
    ]
    embedder = TfidfEmbedder()
    vectors = embedder.embed([f"{row.prompt.text}\n\n{row.text}" for row in [*pool_rows, *responses]])
    choices = choose_exemplars(
        queries=queries,
        query_vectors=vectors[len(pool) :],
        pool=pool,
        pool_vectors=vectors[: len(pool)],
        k=shots,
        exclusion=EXCLUSION,
    )
    return Retrieval(
        exemplars={
            query.response_id: [
                {
                    "response": exemplar.response_id,
                    "similarity": exemplar.similarity,
                    "unacceptable": exemplar.unacceptable,
                }
                for exemplar in choice.exemplars
            ]
            for query, choice in zip(queries, choices, strict=True)
        },
        pool={
            "digest": _digest_of_pool(pool),
            "n": len(pool),
            "embedder": embedder.name,
            "embedder_version": embedder.version,
        },
        longest_bytes=max(len(row.prompt.text.encode()) + len(row.text.encode()) for row in pool_rows),
    )


def _digest_of_pool(pool: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for item in sorted(pool, key=lambda item: item.response_id):
        digest.update(f"{item.response_id}|{item.text_hash}|{item.unacceptable:d}\n".encode())
    return digest.hexdigest()
