"""Drawing from groups: how many from each, and which. No database."""

import random
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

from annotation.choices import Allocation

Key = TypeVar("Key", bound=Hashable)


def stratified_sample(
    groups: Mapping[Key, Sequence[int]], *, n_at_most: int, allocation: Allocation, seed: int
) -> list[int]:
    """Draw at random from each group without replacement.

    EQUAL takes the same number from each group; what a small group lacks is spread over the others, and
    what does not divide goes to groups drawn at random. PROPORTIONAL follows the sizes of the groups, by
    largest remainders, ties in the order of the groups.

    Args:
        groups: the members of each group; their order matters, so it should be a fixed one.
        n_at_most: how many in all; all members when there are fewer.
        seed: the same seed draws the same members from the same groups.

    Returns:
        The drawn members, group by group.
    """
    source = random.Random(seed)
    sizes = {key: len(members) for key, members in groups.items()}
    n = min(n_at_most, sum(sizes.values()))
    if allocation == Allocation.EQUAL:
        shares = _equal_shares(sizes, n=n, source=source)
    else:
        shares = _proportional_shares(sizes, n=n)
    return [member for key, members in groups.items() for member in source.sample(members, shares[key])]


def _equal_shares(sizes: Mapping[Key, int], *, n: int, source: random.Random) -> dict[Key, int]:
    shares = dict.fromkeys(sizes, 0)
    with_room = [key for key, size in sizes.items() if size]
    n_left = n
    while n_left and with_room:
        each = n_left // len(with_room)
        if not each:
            for key in source.sample(with_room, n_left):
                shares[key] += 1
            break
        for key in with_room:
            given = min(each, sizes[key] - shares[key])
            shares[key] += given
            n_left -= given
        with_room = [key for key in with_room if shares[key] < sizes[key]]
    return shares


def _proportional_shares(sizes: Mapping[Key, int], *, n: int) -> dict[Key, int]:
    n_all = sum(sizes.values())
    if not n_all:
        return dict.fromkeys(sizes, 0)
    shares = {key: n * size // n_all for key, size in sizes.items()}
    by_remainder: list[Any] = sorted(sizes, key=lambda key: -(n * sizes[key] % n_all))
    for key in by_remainder[: n - sum(shares.values())]:
        shares[key] += 1
    return shares
