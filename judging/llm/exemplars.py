"""Chooses the labelled cases that a judge is shown, and proves that none of them is the case itself."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Exclusion = Literal["case", "response"]

MAX_SIMILARITY = 0.98
_BLOCK_ROWS = 256
# Cosines are compared after rounding, so that blocks of another size cannot turn a tie.
_DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class QueryItem:
    """A response that is to be judged. `text_hash` is that of prompt and response together."""

    response_id: int
    case_uid: str
    text_hash: str


@dataclass(frozen=True, kw_only=True)
class PoolItem:
    """A response with a decided human consensus. Contested ones do not belong here."""

    response_id: int
    case_uid: str
    text_hash: str
    unacceptable: bool


@dataclass(frozen=True, kw_only=True)
class ChosenExemplar:
    """One exemplar and its cosine to the judged response."""

    response_id: int
    similarity: float
    unacceptable: bool


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The exemplars of one judged response in the order shown, and how many there are of each kind."""

    exemplars: tuple[ChosenExemplar, ...]
    n_acceptable: int
    n_unacceptable: int


class ExemplarLeak(RuntimeError):
    """A chosen exemplar is the judged case itself. A fault in the program: nothing may be sent."""


def choose_exemplars(
    *,
    queries: Sequence[QueryItem],
    query_vectors: NDArray[np.floating],
    pool: Sequence[PoolItem],
    pool_vectors: NDArray[np.floating],
    k: int = 2,
    exclusion: Exclusion = "case",
    max_similarity: float = MAX_SIMILARITY,
) -> list[Choice]:
    """The k nearest Acceptable and the k nearest Unacceptable cases of every query, by cosine.

    Never the case itself: left out are cases with the same case_uid (`exclusion="case"`) or the same
    response (`"response"`), those with the same text hash, and those at or above `max_similarity`.
    Ids are opaque text, so `007` is not `7`. With fewer than k left, those are taken. Ties go to the
    smaller response id; the order shown is shuffled with the judged response's id as seed.

    Args:
        queries: what is judged, n items.
        query_vectors: shape (n, d), rows of length 1 (or zero).
        pool: labelled cases, m items, in any order.
        pool_vectors: shape (m, d), from the same embedder and call.
        k: how many of each kind; 0 gives empty choices.
        exclusion: what counts as the same case.
        max_similarity: a copy under another id is at least this near.

    Returns:
        One choice per query, in their order.

    Raises:
        ValueError: a matrix does not fit its list, or k is negative.
    """
    if query_vectors.shape[0] != len(queries) or pool_vectors.shape[0] != len(pool):
        raise ValueError("There must be one vector for each query and for each item of the pool.")
    if k < 0:
        raise ValueError("k must not be negative.")
    if k == 0 or not pool:
        return [Choice(exemplars=(), n_acceptable=0, n_unacceptable=0) for _ in queries]
    by_id = sorted(range(len(pool)), key=lambda position: pool[position].response_id)
    ordered = [pool[position] for position in by_id]
    vectors: NDArray[np.float64] = np.asarray(pool_vectors, dtype=np.float64)[by_id]
    same = _Sameness.of(ordered)
    choices: list[Choice] = []
    for start in range(0, len(queries), _BLOCK_ROWS):
        block = queries[start : start + _BLOCK_ROWS]
        products = np.asarray(query_vectors[start : start + _BLOCK_ROWS], dtype=np.float64) @ vectors.T
        cosines = products.clip(-1.0, 1.0).round(_DECIMALS)
        for query, row in zip(block, cosines, strict=True):
            allowed = row < max_similarity
            allowed[list(same.positions(query, exclusion))] = False
            choices.append(_choose_for(query, row, allowed, ordered, same.is_unacceptable, k))
    return choices


def assert_no_leak(
    query: QueryItem,
    choice: Choice,
    *,
    pool: Mapping[int, PoolItem],
    exclusion: Exclusion = "case",
    max_similarity: float = MAX_SIMILARITY,
) -> None:
    """Check a choice again, from the ids that would be sent, before anything is sent.

    Args:
        query: what is judged.
        choice: from `choose_exemplars`, perhaps stored meanwhile.
        pool: the labelled cases by response id.
        exclusion, max_similarity: the pass's frozen values.

    Raises:
        ExemplarLeak: an exemplar is the judged case by id, by text or by nearness, or is not in the pool.
    """
    for exemplar in choice.exemplars:
        item = pool.get(exemplar.response_id)
        if item is None:
            raise ExemplarLeak(f"Exemplar {exemplar.response_id} of {query.response_id} is not in the pool.")
        is_same_case = exclusion == "case" and item.case_uid == query.case_uid
        is_same_text = item.text_hash == query.text_hash
        is_same = item.response_id == query.response_id or is_same_case or is_same_text
        if is_same or exemplar.similarity >= max_similarity:
            raise ExemplarLeak(
                f"Exemplar {exemplar.response_id} is the judged response {query.response_id} or a copy of it."
            )


@dataclass(frozen=True)
class _Sameness:
    """Where in the pool a case, a response or a text stands."""

    by_case: Mapping[str, list[int]]
    by_response: Mapping[int, list[int]]
    by_text: Mapping[str, list[int]]
    is_unacceptable: NDArray[np.bool_]

    @classmethod
    def of(cls, pool: Sequence[PoolItem]) -> "_Sameness":
        by_case: dict[str, list[int]] = {}
        by_response: dict[int, list[int]] = {}
        by_text: dict[str, list[int]] = {}
        for position, item in enumerate(pool):
            by_case.setdefault(item.case_uid, []).append(position)
            by_response.setdefault(item.response_id, []).append(position)
            by_text.setdefault(item.text_hash, []).append(position)
        return cls(
            by_case, by_response, by_text, np.array([item.unacceptable for item in pool], dtype=np.bool_)
        )

    def positions(self, query: QueryItem, exclusion: Exclusion) -> Iterator[int]:
        yield from self.by_response.get(query.response_id, ())
        yield from self.by_text.get(query.text_hash, ())
        if exclusion == "case":
            yield from self.by_case.get(query.case_uid, ())


def _choose_for(
    query: QueryItem,
    cosines: NDArray[np.float64],
    allowed: NDArray[np.bool_],
    pool: Sequence[PoolItem],
    is_unacceptable: NDArray[np.bool_],
    k: int,
) -> Choice:
    chosen: list[ChosenExemplar] = []
    for kind in (False, True):
        candidates = np.flatnonzero(allowed & (is_unacceptable == kind))
        # The pool is in the order of its ids, so a stable sort leaves ties to the smaller id.
        nearest = candidates[np.argsort(-cosines[candidates], kind="stable")[:k]]
        chosen += [
            ChosenExemplar(
                response_id=pool[position].response_id, similarity=float(cosines[position]), unacceptable=kind
            )
            for position in nearest
        ]
    n_unacceptable = sum(exemplar.unacceptable for exemplar in chosen)
    random.Random(query.response_id).shuffle(chosen)
    return Choice(
        exemplars=tuple(chosen), n_acceptable=len(chosen) - n_unacceptable, n_unacceptable=n_unacceptable
    )
