"""Fences that mark untrusted text as data, with a tag that such a text cannot know."""

import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

FenceKind = Literal["CATEGORY", "PROMPT", "RESPONSE"]

_TAG = re.compile(r"[0-9a-f]{16,64}")
_OPENING = re.compile(r"^<<<[A-Z]{1,16} (?P<tag>[0-9a-f]{16,64})>>>$", re.MULTILINE)
_TAG_BYTES = 8


@dataclass(frozen=True)
class Fenced:
    """One fenced text, exactly as it was put in."""

    kind: str
    text: str


def draw_tag(*texts: str) -> str:
    """A fresh random tag that occurs in none of the texts."""
    while True:
        tag = secrets.token_hex(_TAG_BYTES)
        if not any(tag in text for text in texts):
            return tag


def fence(kind: FenceKind, text: str, *, tag: str) -> str:
    """The text between its two fence lines.

    Raises:
        ValueError: the tag is malformed, or the text holds it and could close its own fence.
    """
    if not _TAG.fullmatch(tag):
        raise ValueError("A fence tag is 16 to 64 hexadecimal digits.")
    if tag in text:
        raise ValueError("The text to be fenced holds the fence tag; draw another tag.")
    return f"<<<{kind} {tag}>>>\n{text}\n<<<END {kind} {tag}>>>"


def find_fenced(message: str) -> list[Fenced]:
    """The fenced texts of a message in order.

    The first fence of a message stands before all untrusted text, so its tag is the real one; fences
    with another tag are part of a text.
    """
    return [Fenced(kind, message[start:end]) for kind, start, end in _places(message)]


def without_fenced(message: str) -> str:
    """The message without its fenced texts: what the one who wrote the rubric says."""
    kept: list[str] = []
    done = 0
    for _, start, end in _places(message):
        kept.append(message[done:start])
        done = end
    return "".join([*kept, message[done:]])


def _places(message: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each fenced text."""
    first = _OPENING.search(message)
    if first is None:
        return
    tag = first["tag"]
    opening = re.compile(rf"^<<<(?P<kind>[A-Z]{{1,16}}) {tag}>>>\n", re.MULTILINE)
    match = opening.search(message, first.start())
    while match is not None:
        end = message.find(f"\n<<<END {match['kind']} {tag}>>>", match.end())
        if end < 0:
            return
        yield match["kind"], match.end(), end
        match = opening.search(message, end + 1)
