"""The nearest labelled cases of many responses at once: one matrix, one product in blocks.

The product is in float32, which is twice as fast and half as large as float64 and not exact. It only
narrows the choice: whatever its error could have moved past the k-th place or the limit is computed
again in float64, rounded, and compared by these figures alone. So the choices are those of a plain loop
over exact cosines, ties included, whatever the size of a block and the number of threads.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from judging.llm.exemplar_choices import BIT, N_NEAREST_EXCLUDED, Choices
from judging.llm.exemplars import (
    DECIMALS,
    MAX_SIMILARITY,
    REASONS,
    Exclusion,
    PoolItem,
    QueryItem,
    reasons_to_exclude,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_BLOCK_ROWS = 512
_EXACT_ROWS = 64
_N_GROUPS = 16
# Below every cosine: marks what is left out.
_OUT = -2.0
_LEAST = -1.5
_Key = TypeVar("_Key")


class ExemplarPool:
    """Labelled cases and their vectors, held once and asked for the nearest of each kind.

    Args:
        items: the cases, m of them, in any order.
        vectors: shape (m, d), rows of length 1 (or zero), from the embedder of the queries.
        k: how many exemplars of each kind; 0 gives none.
        exclusion: what counts as the same case.
        max_similarity: a case at least this near is a copy, whatever its id.

    Raises:
        ValueError: the matrix does not fit the list, or k is negative.
    """

    def __init__(
        self,
        items: Sequence[PoolItem],
        vectors: NDArray[np.floating],
        *,
        k: int = 2,
        exclusion: Exclusion = "case",
        max_similarity: float = MAX_SIMILARITY,
    ) -> None:
        if vectors.shape[0] != len(items):
            raise ValueError("There must be one vector for each item of the pool.")
        if k < 0:
            raise ValueError("k must not be negative.")
        # Each kind stands together, in the order of its ids: the earlier of two positions wins a tie.
        order = sorted(range(len(items)), key=lambda n: (items[n].unacceptable, items[n].response_id))
        self._items = tuple(items[n] for n in order)
        self._vectors = np.ascontiguousarray(vectors[order], dtype=np.float32)
        n_acceptable = sum(not item.unacceptable for item in items)
        self._kinds = (slice(0, n_acceptable), slice(n_acceptable, len(items)))
        self._k = k
        self._exclusion: Exclusion = exclusion
        self._max_similarity = max_similarity
        # A sum of d products in float32 is off by at most d units of rounding, for vectors of length 1;
        # what is compared in the end is rounded as well.
        self._slack = (self._vectors.shape[-1] + 4) * 2.0**-24 + 10.0**-DECIMALS
        self._by_response = _positions(item.response_id for item in self._items)
        self._by_case = _positions(item.case_uid for item in self._items)
        self._by_text = _positions(item.text_hash for item in self._items)

    def choose(self, queries: Sequence[QueryItem], vectors: NDArray[np.floating]) -> Choices:
        """The k nearest Acceptable and the k nearest Unacceptable cases of every query, by cosine.

        Never the case itself: left out are cases with the same case_uid (`exclusion="case"`), the same
        response, the same text hash, and those at or above `max_similarity`. With fewer than k left,
        those are taken. Ties go to the smaller response id; the order shown is shuffled with the judged
        response's id as seed.

        Args:
            queries: what is judged, n items.
            vectors: shape (n, d).

        Raises:
            ValueError: the matrix does not fit the list.
        """
        if vectors.shape[0] != len(queries):
            raise ValueError("There must be one vector for each query.")
        choices = Choices.empty(self._items, queries, k=self._k)
        if not self._items or self._k == 0:
            return choices
        products = np.empty((min(_BLOCK_ROWS, len(queries)), len(self._items)), dtype=np.float32)
        for start in range(0, len(queries), _BLOCK_ROWS):
            block = slice(start, min(start + _BLOCK_ROWS, len(queries)))
            block_vectors = np.ascontiguousarray(vectors[block], dtype=np.float32)
            cosines = products[: len(block_vectors)]
            np.matmul(block_vectors, self._vectors.T, out=cosines)
            self._choose_block(queries[block], block_vectors, cosines, choices.part(block))
        return choices

    def _choose_block(
        self,
        queries: Sequence[QueryItem],
        vectors: NDArray[np.float32],
        cosines: NDArray[np.float32],
        into: Choices,
    ) -> None:
        same_rows, same_columns, same_reasons = self._same(queries)
        approximate = cosines[same_rows, same_columns].astype(np.float64)
        cosines[same_rows, same_columns] = _OUT

        near_rows, near_columns = np.nonzero(cosines >= self._max_similarity - self._slack)
        near = self._exact(vectors, near_rows, near_columns)
        cosines[near_rows, near_columns] = _OUT
        is_copy = near >= self._max_similarity

        is_near = approximate >= self._max_similarity - self._slack
        approximate[is_near] = self._exact(vectors, same_rows[is_near], same_columns[is_near])
        same_reasons[is_near & (approximate >= self._max_similarity)] |= BIT["similarity"]
        self._record_excluded(
            vectors,
            rows=np.concatenate([same_rows, near_rows[is_copy]]),
            columns=np.concatenate([same_columns, near_columns[is_copy]]),
            cosines=np.concatenate([approximate, near[is_copy]]),
            reasons=np.concatenate([same_reasons, np.full(int(is_copy.sum()), BIT["similarity"], np.uint8)]),
            into=into,
        )
        for kind, columns_of_kind in enumerate(self._kinds):
            rows, columns = self._candidates(cosines[:, columns_of_kind])
            columns += columns_of_kind.start
            is_spared = (
                ~is_copy & (near_columns >= columns_of_kind.start) & (near_columns < columns_of_kind.stop)
            )
            rows = np.concatenate([rows, near_rows[is_spared]])
            columns = np.concatenate([columns, near_columns[is_spared]])
            exact = self._exact(vectors, rows, columns)
            found, place = _best(rows, columns, exact, k=self._k)
            place += kind * self._k
            into.chosen[rows[found], place] = columns[found]
            into.similarities[rows[found], place] = exact[found]

    def _same(self, queries: Sequence[QueryItem]) -> tuple[Ints, Ints, NDArray[np.uint8]]:
        """Rows and columns of the cases that are the judged one by id or text, and why, as bits."""
        rows: list[int] = []
        columns: list[int] = []
        reasons: list[int] = []
        for row, query in enumerate(queries):
            found = {
                *self._by_response.get(query.response_id, ()),
                *self._by_text.get(query.text_hash, ()),
                *(self._by_case.get(query.case_uid, ()) if self._exclusion == "case" else ()),
            }
            for column in sorted(found):
                rows.append(row)
                columns.append(column)
                why = reasons_to_exclude(query, self._items[column], exclusion=self._exclusion)
                reasons.append(sum(BIT[reason] for reason in why))
        return (
            np.array(rows, dtype=np.intp),
            np.array(columns, dtype=np.intp),
            np.array(reasons, dtype=np.uint8),
        )

    def _candidates(self, cosines: NDArray[np.float32]) -> tuple[Ints, Ints]:
        """Rows and columns that hold the k nearest of each row, and no more than a few others."""
        n_columns = cosines.shape[1]
        if n_columns <= self._k * _N_GROUPS:
            rows, columns = np.nonzero(cosines > _OUT)
            return rows, columns
        # The k-th largest of the groups' maxima is reached by k cosines at least: a floor for the k-th
        # nearest that costs one pass over the block instead of a partial sort.
        width = n_columns // _N_GROUPS
        grouped = cosines[:, : width * _N_GROUPS].reshape(len(cosines), _N_GROUPS, width)
        maxima = grouped.max(axis=1)
        place = width - self._k
        reached: NDArray[np.float32] = np.partition(maxima, place, axis=1)[:, place]
        floors = np.maximum(reached - np.float32(2 * self._slack), np.float32(_LEAST))
        rows, columns = np.nonzero(cosines >= floors[:, np.newaxis])
        return rows, columns

    def _exact(self, vectors: NDArray[np.float32], rows: Ints, columns: Ints) -> Floats:
        """Cosines of these pairs in float64, rounded. A pair's figure depends on nothing but the pair."""
        cosines = np.empty(len(rows), dtype=np.float64)
        for start in range(0, len(rows), _EXACT_ROWS):
            part = slice(start, start + _EXACT_ROWS)
            cosines[part] = np.einsum(
                "ij,ij->i",
                vectors[rows[part]].astype(np.float64),
                self._vectors[columns[part]].astype(np.float64),
            )
        # Adding 0 turns -0.0 into 0.0.
        return cosines.clip(-1.0, 1.0).round(DECIMALS) + 0.0

    def _record_excluded(
        self,
        vectors: NDArray[np.float32],
        *,
        rows: Ints,
        columns: Ints,
        cosines: Floats,
        reasons: NDArray[np.uint8],
        into: Choices,
    ) -> None:
        into.n_excluded[:] = np.bincount(rows, minlength=len(into.n_excluded))
        for n, reason in enumerate(REASONS):
            holds = (reasons & BIT[reason]) > 0
            into.n_by_reason[:, n] = np.bincount(rows[holds], minlength=len(into.n_excluded))
        found, _ = _best(rows, columns, cosines, k=N_NEAREST_EXCLUDED)
        rows, columns, reasons = rows[found], columns[found], reasons[found]
        exact = self._exact(vectors, rows, columns)
        order, place = _best(rows, columns, exact, k=N_NEAREST_EXCLUDED)
        into.excluded[rows[order], place] = columns[order]
        into.excluded_similarities[rows[order], place] = exact[order]
        into.excluded_reasons[rows[order], place] = reasons[order]


def _positions(keys: Iterable[_Key]) -> Mapping[_Key, list[int]]:
    positions: dict[_Key, list[int]] = {}
    for position, key in enumerate(keys):
        positions.setdefault(key, []).append(position)
    return positions


def _best(rows: Ints, columns: Ints, cosines: Floats, *, k: int) -> tuple[Ints, Ints]:
    """Which pairs are among the first k of their row, and at which place: by cosine, then by column."""
    order = np.lexsort((columns, -cosines, rows))
    place = np.arange(len(order)) - np.searchsorted(rows[order], rows[order], side="left")
    return order[place < k], place[place < k]
