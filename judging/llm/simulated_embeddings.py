"""Vectors of the simulated provider: a pure function of a text's words, so that like texts are near."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from judging.llm.simulated_scores import fraction

SIMULATED_DIMENSIONS = 256

_WORD = re.compile(r"\w+")


def simulate_embedding(text: str, *, n_dimensions: int = SIMULATED_DIMENSIONS) -> list[float]:
    """A vector of length 1: each word adds to one dimension, less so with every repetition.

    Texts with the same words in any order have the same vector. A text without a word stands on the
    first dimension, as a provider gives no vector of zeros.
    """
    vector = [0.0] * n_dimensions
    for word, n in Counter(_WORD.findall(text.casefold())).items():
        place, sign = _place(word)
        vector[int(place * n_dimensions)] += sign * (1.0 + math.log(n))
    length = math.sqrt(sum(number * number for number in vector))
    if length == 0.0:
        return [1.0, *vector[1:]]
    return [number / length for number in vector]


def simulate_embeddings(texts: Sequence[str], *, n_dimensions: int) -> list[dict[str, object]]:
    """The `data` of an embeddings reply."""
    return [
        {
            "object": "embedding",
            "index": index,
            "embedding": simulate_embedding(text, n_dimensions=n_dimensions),
        }
        for index, text in enumerate(texts)
    ]


@lru_cache(maxsize=100_000)
def _place(word: str) -> tuple[float, float]:
    return fraction(word, "place"), 1.0 if fraction(word, "sign") < 0.5 else -1.0
