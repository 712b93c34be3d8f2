"""The responses that a pass takes up, read in batches: a pass of any size needs the memory of one."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.choices import ItemKind, ResponseState
from annotation.models import Benchmark, Campaign, Response
from judging.llm.rubric_like import has_rubric_like_text
from judging.text_reading import read_blocks

BATCH_SIZE = 500


@dataclass(frozen=True)
class Scope:
    """What a pass takes up, without the texts.

    Args:
        digest: of every response's id, state and text hash, in their order.
        counts: responses by state.
        longest_bytes: longest prompt and response together among the complete ones; 0 without one.
        rubric_like: ids of complete responses that look like a judge's answer.
    """

    digest: str
    counts: Mapping[str, int]
    longest_bytes: int
    rubric_like: tuple[int, ...]

    @property
    def n_complete(self) -> int:
        return self.counts.get(ResponseState.OK, 0)


class ScopeDigest:
    """The digest of a scope, fed with one response at a time."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, *, response_id: int, state: str, text_hash: str) -> None:
        self._hash.update(f"{response_id}|{state}|{text_hash}\n".encode())

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def choose_responses(
    benchmark: Benchmark, *, campaign: Campaign | None, limit: int | None
) -> QuerySet[Response]:
    """The responses that a pass would take up, complete or not, with their prompts, oldest first."""
    responses = Response.objects.filter(prompt__benchmark=benchmark).select_related("prompt").order_by("pk")
    if campaign is not None:
        regular = campaign.items.filter(kind=ItemKind.REGULAR).values("response_id")
        responses = responses.filter(pk__in=regular)
    return responses[:limit] if limit else responses


def measure_scope(responses: QuerySet[Response]) -> Scope:
    """Read every text once, keep none. One query, and one for every 500 responses."""
    digest, counts, longest_bytes, rubric_like = ScopeDigest(), Counter[str](), 0, []
    for row in itertools.chain.from_iterable(read_blocks(responses)):
        digest.add(response_id=row.pk, state=row.state, text_hash=row.text_hash)
        counts[row.state] += 1
        if row.state == ResponseState.OK:
            longest_bytes = max(longest_bytes, len(row.text.encode()) + len(row.prompt.encode()))
            if has_rubric_like_text(row.text):
                rubric_like.append(row.pk)
    return Scope(
        digest=digest.hexdigest(),
        counts=dict(counts),
        longest_bytes=longest_bytes,
        rubric_like=tuple(rubric_like),
    )


def batches_of(responses: QuerySet[Response], digest: ScopeDigest) -> Iterator[list[int]]:
    """Ids of the responses in their order, a batch at a time; each is added to `digest`. One query."""
    batch: list[int] = []
    rows = responses.values_list("pk", "state", "text_hash")
    for response_id, state, text_hash in rows.iterator(chunk_size=BATCH_SIZE):
        digest.add(response_id=response_id, state=state, text_hash=text_hash)
        batch.append(response_id)
        if len(batch) == BATCH_SIZE:
            yield batch
            batch = []
    if batch:
        yield batch
