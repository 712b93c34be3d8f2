"""Finds the JSON objects in a reply, wherever they stand, with their keys as written."""

import json
import re
from collections.abc import Iterator

# Bounds the work on a reply at the size cap, whatever it holds.
MAX_OBJECTS = 64
_START = re.compile(r'\{\s*"')


class Pairs(tuple[tuple[str, object], ...]):
    """A JSON object with its keys in order, repeated ones kept."""


def find_starts(text: str) -> Iterator[int]:
    """Where an object may begin."""
    return (match.start() for match in _START.finditer(text))


def read_object(text: str, start: int) -> tuple[Pairs, int] | None:
    """The object that begins at a place and where it ends; None when there is none."""
    try:
        decoded, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return decoded, end


def read_objects(text: str) -> Iterator[Pairs]:
    """The first 64 objects of a text, those inside of others too."""
    for number, start in enumerate(find_starts(text)):
        if number == MAX_OBJECTS:
            return
        found = read_object(text, start)
        if found is not None:
            yield found[0]


def _keep_pairs(pairs: list[tuple[str, object]]) -> Pairs:
    return Pairs(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_keep_pairs)
