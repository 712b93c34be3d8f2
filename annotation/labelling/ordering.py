"""The order in which one person reads: random, their own, with milder items mixed in. Pure; no database.

Decision 0015 says why it is as it is. Mildness is the researcher's number for a risk category; no verdict
and no label enters here.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from annotation.choices import ItemKind
from annotation.models import GRAVE_UP_TO, LEAST_MILD, MOST_MILD

# One item in so many is a gold one, at a place within them that nobody can foresee, while they last.
GOLD_EVERY = 10
# Repeats come as often as they arise, but never more than every other item.
MOST_FREQUENT_REPEATS = 2


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that a person could read next."""

    item_id: int
    public_id: str
    kind: ItemKind
    mildness: int

    @property
    def is_grave(self) -> bool:
        return self.mildness <= GRAVE_UP_TO


def personal_order(
    candidates: Sequence[Candidate], *, person: str, repeat_percent: int = 0
) -> list[Candidate]:
    """The candidates in the order in which one person should read them.

    The order is a function of the person's and the items' random ids: the same each time, another one for
    each person, and independent of what anyone answered. Grave items are spread evenly among the milder
    ones. With G grave and M milder items at most ceil(G / M) grave ones follow each other, and where
    G <= M a milder one comes first. Gold items and repeats are mixed into both before that.

    Args:
        candidates: in any sequence; training items are not among them.
        person: the annotator's public id, the seed of the order.
        repeat_percent: share of items that come again, 0-100; sets how densely repeats are mixed in.
    """
    drawn = sorted(candidates, key=lambda candidate: (_draw(person, candidate), candidate.item_id))
    piles = [
        _with_hidden([one for one in drawn if one.is_grave == is_grave], person, repeat_percent)
        for is_grave in (False, True)
    ]
    return spread(piles)


def spread(piles: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Lay several piles into one row, each evenly from end to end and in its own sequence.

    The j-th of n stands at (2j + 1) / 2n of the way; where two piles meet, the earlier pile goes first.
    Whole numbers are compared, never fractions as floats.
    """
    n_all = [len(pile) for pile in piles]
    common = math.lcm(*(n_items for n_items in n_all if n_items))
    placed = [
        ((2 * place + 1) * (common // n_items), number, candidate)
        for number, (pile, n_items) in enumerate(zip(piles, n_all, strict=True))
        for place, candidate in enumerate(pile)
    ]
    return [candidate for *_, candidate in sorted(placed, key=lambda entry: entry[:2])]


def _with_hidden(pile: Sequence[Candidate], person: str, repeat_percent: int) -> list[Candidate]:
    """A pile with its regular items spread by mildness, and gold items and repeats mixed in."""
    by_level = [
        [one for one in pile if one.kind == ItemKind.REGULAR and one.mildness == level]
        for level in range(MOST_MILD, LEAST_MILD - 1, -1)
    ]
    golden = [one for one in pile if one.kind == ItemKind.GOLD]
    repeats = [one for one in pile if one.kind == ItemKind.REPEAT]
    repeat_every = max(100 // repeat_percent, MOST_FREQUENT_REPEATS) if repeat_percent else 1
    with_gold = _mix_in(spread(by_level), golden, every=GOLD_EVERY, person=person)
    return _mix_in(with_gold, repeats, every=repeat_every, person=person)


def _mix_in(
    items: Sequence[Candidate], hidden: Sequence[Candidate], *, every: int, person: str
) -> list[Candidate]:
    """One hidden item in each block of `every`, at a place drawn per person; those left over at the end."""
    placed = {block * every + _draw(person, one) % every: one for block, one in enumerate(hidden)}
    row: list[Candidate] = []
    others = iter(items)
    for place in range(len(items) + len(hidden)):
        one = placed.pop(place, None) or next(others, None)
        if one is None:
            break
        row.append(one)
    return list(chain(row, placed.values()))


def _draw(person: str, candidate: Candidate) -> int:
    """A number as good as random, fixed for a person and an item."""
    drawn = hashlib.blake2b(f"{person} {candidate.public_id}".encode(), digest_size=8)
    return int.from_bytes(drawn.digest())
