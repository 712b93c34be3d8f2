"""Vectors that were bought once: read, and kept as soon as a call has given them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judging.llm.case_text import hash_text
from judging.llm.embedding import Matrix
from judging.models import Embedding

# As little-endian bytes whatever the machine.
_STORED = np.dtype("<f4")
_ROWS_AT_ONCE = 500


@dataclass(frozen=True)
class CachedVectors:
    """Vectors in the order of the texts asked for, and whether any of them is simulated."""

    vectors: Matrix
    is_simulated: bool


def missing_texts(cache_name: str, texts: Sequence[str]) -> dict[str, str]:
    """Texts without a vector, by hash, each once and in their order. One query for every 500 texts."""
    by_hash = {hash_text(text): text for text in texts}
    for hashes in _chunks(list(by_hash)):
        stored = Embedding.objects.filter(embedder=cache_name, text_hash__in=hashes)
        for text_hash in stored.values_list("text_hash", flat=True):
            del by_hash[text_hash]
    return by_hash


def read_vectors(cache_name: str, texts: Sequence[str]) -> CachedVectors:
    """The vectors of texts that all have one. One query for every 500 texts.

    Raises:
        LookupError: a text has none, or vectors of two lengths are kept under the name.
    """
    rows_of: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        rows_of.setdefault(hash_text(text), []).append(row)
    vectors: Matrix | None = None
    is_simulated = False
    n_found = 0
    for hashes in _chunks(list(rows_of)):
        stored = Embedding.objects.filter(embedder=cache_name, text_hash__in=hashes)
        for text_hash, blob, is_one_simulated in stored.values_list("text_hash", "vector", "is_simulated"):
            vector = np.frombuffer(blob, dtype=_STORED)
            if vectors is None:
                vectors = np.zeros((len(texts), len(vector)), dtype=np.float32)
            if len(vector) != vectors.shape[1]:
                raise LookupError(f"Vectors of two lengths are kept for {cache_name}.")
            vectors[rows_of[text_hash]] = vector
            is_simulated = is_simulated or is_one_simulated
            n_found += 1
    if n_found < len(rows_of):
        raise LookupError(f"{len(rows_of) - n_found} of {len(rows_of)} texts have no vector of {cache_name}.")
    return CachedVectors(vectors if vectors is not None else np.zeros((0, 1), np.float32), is_simulated)


def keep_vectors(cache_name: str, vectors: Mapping[str, Matrix], *, is_simulated: bool) -> None:
    """Store vectors by text hash in a transaction of their own; what another process stored first stays."""
    Embedding.objects.bulk_create(
        [
            Embedding(
                embedder=cache_name,
                text_hash=text_hash,
                n_dimensions=len(vector),
                vector=vector.astype(_STORED).tobytes(),
                is_simulated=is_simulated,
            )
            for text_hash, vector in vectors.items()
        ],
        ignore_conflicts=True,
    )


def _chunks(hashes: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(hashes), _ROWS_AT_ONCE):
        yield hashes[start : start + _ROWS_AT_ONCE]
