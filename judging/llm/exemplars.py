"""What an exemplar is, which cases may never be one, and the check of that just before sending."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Exclusion = Literal["case", "response"]
# Why a labelled case may not be shown: it is the judged response, answers the same case, has the same
# text under another id, or is so near that it is a copy.
Reason = Literal["response", "case", "text", "similarity"]

REASONS: tuple[Reason, ...] = ("response", "case", "text", "similarity")
MAX_SIMILARITY = 0.98
# Cosines are compared after rounding, so that no order of additions can turn a tie.
DECIMALS = 6


@dataclass(frozen=True, kw_only=True)
class QueryItem:
    """A response that is to be judged. `text_hash` is that of prompt and response together."""

    response_id: int
    case_uid: str
    text_hash: str


@dataclass(frozen=True, kw_only=True)
class PoolItem:
    """A response with a decided human consensus. Contested ones do not belong here."""

    response_id: int
    case_uid: str
    text_hash: str
    unacceptable: bool


@dataclass(frozen=True, kw_only=True)
class ChosenExemplar:
    """One exemplar and its cosine to the judged response."""

    response_id: int
    similarity: float
    unacceptable: bool


@dataclass(frozen=True, kw_only=True)
class ExcludedCase:
    """A labelled case that was left out, how near it is, and each reason that holds for it."""

    response_id: int
    similarity: float
    unacceptable: bool
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, kw_only=True)
class ExclusionProof:
    """What was left out of the pool for one judged response.

    A case can be left out for several reasons: `n_by_reason` counts it under each, `n_excluded` once.
    `nearest` holds the nearest of them, nearest first.
    """

    n_pool: int
    n_excluded: int
    n_by_reason: Mapping[Reason, int]
    nearest: tuple[ExcludedCase, ...]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The exemplars of one judged response in the order shown, how many of each kind, and the proof."""

    exemplars: tuple[ChosenExemplar, ...]
    n_acceptable: int
    n_unacceptable: int
    proof: ExclusionProof


class ExemplarLeak(RuntimeError):
    """A chosen exemplar is the judged case itself. A fault in the program: nothing may be sent."""


def reasons_to_exclude(query: QueryItem, item: PoolItem, *, exclusion: Exclusion) -> tuple[Reason, ...]:
    """Why a labelled case may not be shown to a judge of `query`, by its ids and its text.

    Ids are opaque text: `007` is not `7`. Nearness is checked where vectors are compared.
    """
    reasons: list[Reason] = []
    if item.response_id == query.response_id:
        reasons.append("response")
    if exclusion == "case" and item.case_uid == query.case_uid:
        reasons.append("case")
    if item.text_hash == query.text_hash:
        reasons.append("text")
    return tuple(reasons)


def assert_no_leak(
    query: QueryItem,
    exemplars: Sequence[ChosenExemplar],
    *,
    pool: Mapping[int, PoolItem],
    exclusion: Exclusion = "case",
    max_similarity: float = MAX_SIMILARITY,
) -> None:
    """Check exemplars again, from the ids and texts that would be sent, before anything is sent.

    Args:
        query: what is judged.
        exemplars: as chosen, perhaps stored meanwhile.
        pool: the cases that would be shown, by response id, as they are stored now.
        exclusion, max_similarity: the pass's frozen values.

    Raises:
        ExemplarLeak: an exemplar is the judged case by id, by text or by nearness, or is not in the pool.
            The sentence names the case and the reason, and no id of the database.
    """
    for exemplar in exemplars:
        item = pool.get(exemplar.response_id)
        if item is None:
            raise ExemplarLeak("An exemplar is no response of the pool, so it may be the judged case itself.")
        reasons = reasons_to_exclude(query, item, exclusion=exclusion)
        if reasons:
            raise ExemplarLeak(f"The exemplar {item.case_uid!r} {_IS_THE_CASE[reasons[0]]}.")
        # Written so that a similarity that is no number fails too.
        if not exemplar.similarity < max_similarity:
            raise ExemplarLeak(
                f"The exemplar {item.case_uid!r} has the similarity {exemplar.similarity} to the judged "
                f"response; from {max_similarity} on a case counts as a copy."
            )


_IS_THE_CASE: Mapping[Reason, str] = {
    "response": "is the judged response itself",
    "case": "answers the same case as the judged response",
    "text": "has the text of the judged case under another id",
}
