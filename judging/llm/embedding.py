"""Texts to vectors, for finding labelled cases that are like the one being judged."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
TFIDF = "tfidf"


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Name and version are stored with whatever used it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same texts could give other vectors."""
        ...

    def learn(self, texts: Sequence[str]) -> Matrix:
        """Take in the pool, once and first; its vectors, shape (n, d), each of length 1 or all zero."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors that can be compared with those of the pool, shape (n, d)."""
        ...


class TfidfEmbedder:
    """Word frequencies, weighed and reduced: offline, deterministic, lexical only.

    Its axes come from the pool alone, so that the exemplars of a response depend on the pool and on
    itself, never on what else is judged in the same pass.
    """

    name = TFIDF

    def __init__(self, *, n_dimensions: int = 256, seed: int = 20260629) -> None:
        self._n_dimensions = n_dimensions
        self._seed = seed
        self._vectorizer: Any = None
        self._reducer: Any = None

    @property
    def version(self) -> str:
        libraries = ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", "scipy", "numpy"))
        return f"2; d={self._n_dimensions}; seed={self._seed}; {libraries}"

    def learn(self, texts: Sequence[str]) -> Matrix:
        """Find the axes and give the pool's vectors, with d at most the asked number of dimensions.

        The order and the repetition of texts change nothing: axes are learnt from the sorted distinct
        ones. A text without a word (or a pool without any) gives zeros, which are like nothing.
        """
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        corpus = sorted(set(texts))
        vectorizer = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True, max_features=50_000)
        find_words = vectorizer.build_analyzer()
        if any(find_words(text) for text in corpus):
            weights = vectorizer.fit_transform(corpus)
            self._vectorizer = vectorizer
            # With fewer texts or words than dimensions every angle between texts is kept as it is.
            if min(weights.shape) > self._n_dimensions:
                self._reducer = TruncatedSVD(n_components=self._n_dimensions, random_state=self._seed)
                self._reducer.fit(weights)
        return self.embed(texts)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Vectors on the pool's axes; a word that the pool has not plays no part."""
        if self._vectorizer is None:
            return np.zeros((len(texts), 1), dtype=np.float32)
        weights = self._vectorizer.transform(texts)
        if self._reducer is not None:
            return normalise_rows(np.asarray(self._reducer.transform(weights), dtype=np.float64))
        return normalise_rows(np.asarray(weights.todense(), dtype=np.float64))


def normalise_rows(vectors: NDArray[np.float64]) -> Matrix:
    """Rows scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled = vectors / np.where(lengths > 1e-12, lengths, 1.0)
    return scaled.astype(np.float32)
