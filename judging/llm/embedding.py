"""Texts to vectors, for finding labelled cases that are like the one being judged."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Name and version are stored with whatever used it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same texts could give other vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, shape (n, d), each of length 1 or all zero."""
        ...


class TfidfEmbedder:
    """Word frequencies, weighed and reduced: offline, deterministic, lexical only.

    It learns its axes from the texts of one call, so vectors of two calls cannot be compared: hand
    over the pool and the queries together.
    """

    name = "tfidf"

    def __init__(self, *, n_dimensions: int = 256, seed: int = 20260629) -> None:
        self._n_dimensions = n_dimensions
        self._seed = seed

    @property
    def version(self) -> str:
        libraries = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "scipy", "numpy"))
        return f"1; d={self._n_dimensions}; seed={self._seed}; {libraries}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors of the texts, shape (n, d) with d at most the asked number of dimensions.

        The order and the repetition of texts change nothing: axes are learnt from the sorted distinct
        ones. A text without a word (or a corpus without any) gives zeros, which are like nothing.
        """
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        corpus = sorted(set(texts))
        vectorizer = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True, max_features=50_000)
        find_words = vectorizer.build_analyzer()
        if not any(find_words(text) for text in corpus):
            return np.zeros((len(texts), 1), dtype=np.float32)
        weights = vectorizer.fit_transform(corpus)
        if min(weights.shape) > self._n_dimensions:
            reducer = TruncatedSVD(n_components=self._n_dimensions, random_state=self._seed)
            vectors = np.asarray(reducer.fit_transform(weights), dtype=np.float64)
        else:
            # With fewer texts or words than dimensions there is nothing to reduce by chance: the exact
            # decomposition keeps every angle between texts.
            vectors = _reduce_exactly(np.asarray(weights.todense(), dtype=np.float64))
        rows = {text: row for row, text in enumerate(corpus)}
        return normalise_rows(vectors)[[rows[text] for text in texts]]


def normalise_rows(vectors: NDArray[np.float64]) -> Matrix:
    """Rows scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = vectors / np.where(lengths > 1e-12, lengths, 1.0)
    return scaled.astype(np.float32)


def _reduce_exactly(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    if weights.shape[1] <= weights.shape[0]:
        return weights
    left, sizes, _ = np.linalg.svd(weights, full_matrices=False)
    return np.asarray(left * sizes)
