"""Choosing exemplars by a plain loop: slow, obvious, and what the fast search must equal."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from judging.llm.exemplars import ChosenExemplar, Exclusion, PoolItem, QueryItem

_ROWS_AT_ONCE = 100


def choose_plainly(
    queries: Sequence[QueryItem],
    query_vectors: NDArray[np.float32],
    pool: Sequence[PoolItem],
    pool_vectors: NDArray[np.float32],
    *,
    k: int,
    exclusion: Exclusion = "case",
) -> Iterator[tuple[ChosenExemplar, ...]]:
    """The exemplars of each query in the order shown, from exact cosines, one comparison after another."""
    exact_pool = pool_vectors.astype(np.float64).T
    for start in range(0, len(queries), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        cosines = query_vectors[block].astype(np.float64) @ exact_pool
        for query, row in zip(queries[block], cosines.tolist(), strict=True):
            yield _choose_for(query, row, pool, k=k, exclusion=exclusion)


def _choose_for(
    query: QueryItem, cosines: list[float], pool: Sequence[PoolItem], *, k: int, exclusion: Exclusion
) -> tuple[ChosenExemplar, ...]:
    left: dict[bool, list[tuple[float, int]]] = {False: [], True: []}
    for item, cosine in zip(pool, cosines, strict=True):
        if item.response_id == query.response_id or item.text_hash == query.text_hash:
            continue
        if exclusion == "case" and item.case_uid == query.case_uid:
            continue
        similarity = round(cosine, 6)
        if similarity >= 0.98:
            continue
        left[item.unacceptable].append((-similarity, item.response_id))
    chosen = [
        ChosenExemplar(response_id=response_id, similarity=-negative, unacceptable=unacceptable)
        for unacceptable in (False, True)
        for negative, response_id in sorted(left[unacceptable])[:k]
    ]
    random.Random(query.response_id).shuffle(chosen)
    return tuple(chosen)
