"""What is asked of an embedding endpoint, and how its reply is read."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judging.llm.calls import SIMULATED_FINGERPRINT, CallOutcome
from judging.llm.embedding import Matrix, normalise_rows
from judging.llm.replies import read_count, short_text

# A number in JSON takes at most this many bytes, its comma included.
_BYTES_PER_NUMBER = 32
_MOST_DIMENSIONS = 8_192
_MOST_NUMBER = 1_000_000


@dataclass(frozen=True, kw_only=True)
class EmbeddingRequest:
    """One call for the vectors of some texts. `dimensions` None leaves their number to the model."""

    model: str
    texts: Sequence[str]
    dimensions: int | None = None

    def body(self) -> dict[str, Any]:
        """The JSON object to send."""
        return {"model": self.model, "input": list(self.texts), **self.parameters()}

    def parameters(self) -> dict[str, Any]:
        """What is sent beside model and texts."""
        return {} if self.dimensions is None else {"dimensions": self.dimensions}


@dataclass(frozen=True, kw_only=True)
class EmbeddingOutcome:
    """What one call for vectors came to.

    `vectors` has a row of length 1 for each text, in their order, and is None unless `call.is_ok`.
    """

    call: CallOutcome
    vectors: Matrix | None = None


def reply_cap_bytes(n_texts: int) -> int:
    """How long the reply for so many texts may be."""
    return 100_000 + n_texts * _MOST_DIMENSIONS * _BYTES_PER_NUMBER


def read_embeddings(
    *, status: int, content_type: str, content: bytes, request: EmbeddingRequest
) -> EmbeddingOutcome:
    """Read a reply with a success status.

    Anything but one vector for each text, all of one length (the one asked for, if any) and none of
    them zero or not finite, is `bad_reply`.
    """
    if content_type and "json" not in content_type.casefold():
        return _bad_reply(status, "not JSON by its content type")
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        return _bad_reply(status, "broken JSON")
    rows = _rows_in_order(reply, n_texts=len(request.texts))
    if rows is None:
        return _bad_reply(status, "not one vector for each text")
    if len({len(row) for row in rows}) != 1 or not 1 <= len(rows[0]) <= _MOST_DIMENSIONS:
        return _bad_reply(status, "vectors of no common length")
    if request.dimensions is not None and len(rows[0]) != request.dimensions:
        return _bad_reply(status, f"{len(rows[0])} dimensions instead of {request.dimensions}")
    if not all(type(number) in (int, float) for row in rows for number in row):
        return _bad_reply(status, "a vector holds something else than numbers")
    # Compared as Python numbers: an integer of any length is one in JSON. False for NaN too.
    if not all(-_MOST_NUMBER <= number <= _MOST_NUMBER for row in rows for number in row):
        return _bad_reply(status, "a vector is not finite")
    vectors = normalise_rows(np.array(rows, dtype=np.float64))
    if not vectors.any(axis=1).all():
        return _bad_reply(status, "a vector is zero")
    usage = reply.get("usage")
    call = CallOutcome(
        kind="ok",
        http_status=status,
        tokens_in=read_count(usage.get("prompt_tokens")) if isinstance(usage, dict) else None,
        tokens_out=0,
        model=short_text(reply.get("model")),
        is_simulated=reply.get("system_fingerprint") == SIMULATED_FINGERPRINT,
    )
    return EmbeddingOutcome(call=call, vectors=vectors)


def _rows_in_order(reply: object, *, n_texts: int) -> list[list[Any]] | None:
    """The vectors in the order of the texts, or None when a text has none or two."""
    data = reply.get("data") if isinstance(reply, dict) else None
    if not isinstance(data, list) or len(data) != n_texts:
        return None
    rows: dict[int, list[Any]] = {}
    for entry in data:
        index = entry.get("index") if isinstance(entry, dict) else None
        row = entry.get("embedding") if isinstance(entry, dict) else None
        if type(index) is not int or not isinstance(row, list):
            return None
        rows[index] = row
    return [rows[index] for index in range(n_texts)] if sorted(rows) == list(range(n_texts)) else None


def _bad_reply(status: int, detail: str) -> EmbeddingOutcome:
    return EmbeddingOutcome(call=CallOutcome(kind="bad_reply", http_status=status, detail=detail))
