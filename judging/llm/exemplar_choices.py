"""Many choices of exemplars as arrays: what one pass stores on its rows, in little memory."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from judging.llm.exemplars import (
    REASONS,
    Choice,
    ChosenExemplar,
    ExcludedCase,
    ExclusionProof,
    PoolItem,
    QueryItem,
)

N_NEAREST_EXCLUDED = 3
NO_CASE = -1
# Reasons of one case as a set of bits.
BIT = {reason: 1 << place for place, reason in enumerate(REASONS)}


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices of many responses as arrays; one at a time as a `Choice`.

    A hundred thousand of them take some twenty megabytes, where as many `Choice` objects take hundreds.
    A case is its position in `items`, -1 is none.
    """

    items: tuple[PoolItem, ...]
    response_ids: NDArray[np.int64]
    chosen: NDArray[np.int32]
    similarities: NDArray[np.float64]
    excluded: NDArray[np.int32]
    excluded_similarities: NDArray[np.float64]
    excluded_reasons: NDArray[np.uint8]
    n_excluded: NDArray[np.int32]
    n_by_reason: NDArray[np.int32]

    @classmethod
    def empty(cls, items: tuple[PoolItem, ...], queries: Sequence[QueryItem], *, k: int) -> "Choices":
        """No choice yet, for so many queries."""
        n = len(queries)
        return cls(
            items=items,
            response_ids=np.array([query.response_id for query in queries], dtype=np.int64),
            chosen=np.full((n, 2 * k), NO_CASE, dtype=np.int32),
            similarities=np.zeros((n, 2 * k)),
            excluded=np.full((n, N_NEAREST_EXCLUDED), NO_CASE, dtype=np.int32),
            excluded_similarities=np.zeros((n, N_NEAREST_EXCLUDED)),
            excluded_reasons=np.zeros((n, N_NEAREST_EXCLUDED), dtype=np.uint8),
            n_excluded=np.zeros(n, dtype=np.int32),
            n_by_reason=np.zeros((n, len(REASONS)), dtype=np.int32),
        )

    @classmethod
    def joined(cls, parts: Sequence["Choices"]) -> "Choices":
        """The choices of several searches in one pool, one after another."""
        if not parts:
            return cls.empty((), (), k=0)
        arrays = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(cls)
            if field.name != "items"
        }
        return cls(items=parts[0].items, **arrays)

    def part(self, rows: slice) -> "Choices":
        """Some of the choices, in the same memory."""
        arrays = {
            field.name: getattr(self, field.name)[rows] for field in fields(self) if field.name != "items"
        }
        return Choices(items=self.items, **arrays)

    def __len__(self) -> int:
        return len(self.response_ids)

    def __iter__(self) -> Iterator[Choice]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Choice:
        """The choice of the row-th query, its exemplars in the order shown."""
        exemplars = [
            ChosenExemplar(
                response_id=self.items[position].response_id,
                similarity=similarity,
                unacceptable=self.items[position].unacceptable,
            )
            for position, similarity in zip(
                self.chosen[row].tolist(), self.similarities[row].tolist(), strict=True
            )
            if position != NO_CASE
        ]
        n_unacceptable = sum(exemplar.unacceptable for exemplar in exemplars)
        random.Random(int(self.response_ids[row])).shuffle(exemplars)
        return Choice(
            exemplars=tuple(exemplars),
            n_acceptable=len(exemplars) - n_unacceptable,
            n_unacceptable=n_unacceptable,
            proof=self._proof(row),
        )

    def _proof(self, row: int) -> ExclusionProof:
        nearest = [
            ExcludedCase(
                response_id=self.items[position].response_id,
                similarity=similarity,
                unacceptable=self.items[position].unacceptable,
                reasons=tuple(reason for reason in REASONS if bits & BIT[reason]),
            )
            for position, similarity, bits in zip(
                self.excluded[row].tolist(),
                self.excluded_similarities[row].tolist(),
                self.excluded_reasons[row].tolist(),
                strict=True,
            )
            if position != NO_CASE
        ]
        return ExclusionProof(
            n_pool=len(self.items),
            n_excluded=int(self.n_excluded[row]),
            n_by_reason=dict(zip(REASONS, self.n_by_reason[row].tolist(), strict=True)),
            nearest=tuple(nearest),
        )
