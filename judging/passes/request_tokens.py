"""Tokens of the requests of a pass, counted before any is sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Func, IntegerField, QuerySet, Sum
from django.db.models.sql.compiler import SQLCompiler

from annotation.models import Response
from judging.llm.rubric import Exemplar, build_messages, parse_rubric
from judging.llm.tokens import count_tokens
from judging.models import Rubric
from judging.retrieval.pool_counts import PoolCounts

# More texts than these are not counted one by one; the rest is taken in proportion to its length.
MOST_COUNTED = 300
_NO_TAG = "0" * 16


@dataclass(frozen=True)
class RequestTokens:
    """Tokens of all requests to one judge together, and how many responses were counted for that."""

    total: int
    n_counted: int


class _ByteLength(Func):
    """Length of a text in UTF-8."""

    function = "OCTET_LENGTH"
    output_field = IntegerField()

    def as_sqlite(self, compiler: SQLCompiler, connection: Any, **context: Any) -> Any:
        # SQLite knows OCTET_LENGTH from 3.43 on.
        return self.as_sql(compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context)


# Of a response, with its prompt.
BOTH_TEXTS = _ByteLength("text") + _ByteLength("prompt__text")


def count_request_tokens(
    chosen: QuerySet[Response], *, rubric: Rubric, shots: int, pool: PoolCounts | None
) -> RequestTokens:
    """Count the tokens of one request for each chosen response, rubric and exemplars included.

    Args:
        chosen: the responses to be judged.
        rubric: whose text each request holds.
        shots: exemplars of each kind.
        pool: where exemplars come from; they are taken at the pool's mean length. None without any.
    """
    ids = list(chosen.order_by("pk").values_list("pk", flat=True))
    counted, n_bytes = _count_texts(ids)
    if not ids:
        return RequestTokens(total=0, n_counted=0)
    total_bytes = chosen.aggregate(n=Sum(BOTH_TEXTS))["n"] or 0
    n_counted = min(len(ids), MOST_COUNTED)
    items = counted if n_counted == len(ids) else round(counted * total_bytes / max(n_bytes, 1))
    frame = _frame_tokens(rubric, n_exemplars=2 * shots)
    exemplars = 0.0
    if pool is not None and pool.response_ids:
        exemplar_tokens, _ = _count_texts(pool.response_ids)
        exemplars = 2 * shots * exemplar_tokens / min(len(pool.response_ids), MOST_COUNTED)
    return RequestTokens(total=round(items + len(ids) * (frame + exemplars)), n_counted=n_counted)


def _count_texts(ids: Sequence[int]) -> tuple[int, int]:
    """Tokens and bytes of prompt and response of up to `MOST_COUNTED` of the responses, evenly spread."""
    step = max(len(ids) / MOST_COUNTED, 1)
    spread = [ids[int(n * step)] for n in range(min(len(ids), MOST_COUNTED))]
    n_tokens = n_bytes = 0
    rows = Response.objects.filter(pk__in=spread)
    for prompt, text, category in rows.values_list("prompt__text", "text", "prompt__risk_category"):
        n_tokens += count_tokens([prompt, text, category])
        n_bytes += len(prompt.encode()) + len(text.encode())
    return n_tokens, n_bytes


def _frame_tokens(rubric: Rubric, *, n_exemplars: int) -> int:
    """Tokens of a request without any of the texts."""
    empty = Exemplar(prompt="", response="", verdict="Acceptable")
    messages = build_messages(
        parse_rubric(rubric.text),
        prompt="",
        response="",
        risk_category="",
        exemplars=[empty] * n_exemplars,
        tag=_NO_TAG,
    )
    return count_tokens([message["content"] for message in messages])
