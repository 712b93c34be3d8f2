"""Responses with their texts, a block at a time, in the memory of one block."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import Response

BLOCK_ROWS = 500


class ReadResponse(NamedTuple):
    """What a pass reads of one response and its prompt."""

    pk: int
    state: str
    text_hash: str
    text: str
    case_uid: str
    prompt: str


def read_blocks(responses: QuerySet[Response]) -> Iterator[list[ReadResponse]]:
    """The responses in their order. One query for the ids and one for each block of 500.

    The ids come first, and alone: SQLite sorts in memory whatever a query selects, all texts included.
    """
    ids = list(responses.values_list("pk", flat=True))
    for start in range(0, len(ids), BLOCK_ROWS):
        block = ids[start : start + BLOCK_ROWS]
        rows = Response.objects.filter(pk__in=block).values_list(
            "pk", "state", "text_hash", "text", "prompt__case_uid", "prompt__text"
        )
        found = {row[0]: ReadResponse(*row) for row in rows}
        yield [found[pk] for pk in block if pk in found]
