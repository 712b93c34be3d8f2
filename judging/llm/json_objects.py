"""Finds the JSON objects in a reply, wherever they stand, with their keys as written."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

# Both bound the work on a reply at the size cap, whatever it holds.
MAX_OBJECTS = 64
_MAX_CHARACTERS = 3_000_000
_START = re.compile(r'\{\s*"')


class Pairs(tuple[tuple[str, object], ...]):
    """A JSON object with its keys in order, repeated ones kept."""


@dataclass(frozen=True)
class FoundObject:
    """An object that stands in no other, and its place in the text."""

    pairs: Pairs
    start: int
    end: int


def find_objects(text: str) -> Iterator[FoundObject]:
    """The objects of a text that stand in no other, until 64 places or 3 million characters were tried."""
    done = n_tried = n_characters = 0
    for match in _START.finditer(text):
        start = match.start()
        if start < done:
            continue
        if n_tried == MAX_OBJECTS or n_characters > _MAX_CHARACTERS:
            return
        n_tried += 1
        try:
            decoded, done = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            n_characters += error.pos - start
        except (ValueError, RecursionError):
            n_characters += len(text) - start
        else:
            n_characters += done - start
            yield FoundObject(decoded, start, done)


def read_objects(text: str) -> Iterator[Pairs]:
    """The objects of a text, those inside of others too."""
    for found in find_objects(text):
        waiting: list[object] = [found.pairs]
        while waiting:
            current = waiting.pop()
            if isinstance(current, Pairs):
                yield current
                inner = [value for _, value in current]
            else:
                inner = current if isinstance(current, list) else []
            waiting.extend(value for value in reversed(inner) if isinstance(value, (Pairs, list)))


def _keep_pairs(pairs: list[tuple[str, object]]) -> Pairs:
    return Pairs(pairs)


_DECODER = json.JSONDecoder(object_pairs_hook=_keep_pairs)
