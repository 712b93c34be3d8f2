"""Finds what a text says about each score, line by line and inside JSON, and judges nothing.

`parsing` decides what the findings mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from judging.llm.json_objects import Pairs, find_objects

# "lone" is the `score` of a reply that is nothing but `{"score": 4}`: the one score asked for.
Label = Literal["policy", "jailbreak", "lone"]
Problem = Literal["ambiguous", "not_an_integer"]

# Every pattern below is bounded or free of nested repetition, so that a reply at the size cap is
# read in linear time whatever it holds.
LABEL = re.compile(
    r"(?<![a-z])(?:(?P<policy>policy[\s_-]{1,3}compliance[\s_-]{1,3}risk)"
    r"|(?P<jailbreak>jailbreak[\s_-]{1,3}susceptibility))(?:[\s_]{1,3}(?:score|rating))?(?![a-z])",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r'[\s*_"\]]*(?P<mark>[:=|]|-{1,3}(?=\s)|[–—]{1,3})')
_BARE_INTEGER = re.compile(
    r"(?P<sign>[-−–]?)(?P<digits>0|[1-9][0-9]*)[\s*_>\]]{0,8}(?:(?:/|out\s{1,3}of)\s{0,3}5)?", re.IGNORECASE
)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_NEXT_LIST_MARK = re.compile(r"[,;|]\s{0,3}[0-9][.)]\s{0,3}[*_]{0,4}$")
# Between two labels that share what follows them.
_JOINT = re.compile(r"[\s*_,/&|+]{0,12}(?:and|or)?[\s*_]{0,8}", re.IGNORECASE)
# `(final): 4` behind a label.
_QUALIFIED = re.compile(r"[\s*_]{0,6}[(\[][^()\[\]]{1,80}[)\]][\s*_]{0,6}[:=–—-](?P<rest>.*)")
_WRAPPING = " \t*_<>[]"
_READ_CHARACTERS = 200
_FENCE_CHARACTERS = 40


@dataclass(frozen=True)
class Mention:
    """One place that states a score: the bare integer found (any range), or why there is none."""

    label: Label
    value: int | None
    problem: Problem | None
    text: str


def find_mentions(text: str) -> list[Mention]:
    """All statements of a score in a normalised text, JSON first, then the lines outside of it."""
    mentions, remaining = _read_objects(text)
    return mentions + list(_read_lines(remaining))


def read_value(text: str) -> tuple[int | None, Problem | None]:
    """The integer that a text consists of, or the reason why it is not one.

    A bare integer may be wrapped in `*`, `_`, `<>` or `[]`, be followed by `/5` or `out of 5`, and by
    one mark of punctuation. Everything else is no value: nothing is picked out of a sentence.
    """
    shown = text[: _READ_CHARACTERS + 1]
    core = shown.strip(_WRAPPING).rstrip(".,;|" + _WRAPPING)
    match = _BARE_INTEGER.fullmatch(core) if len(shown) <= _READ_CHARACTERS else None
    if match is None:
        return None, "ambiguous" if len(_NUMBER.findall(shown)) > 1 else "not_an_integer"
    number = int(match["digits"])
    return (-number if match["sign"] else number), None


def _label_of(match: re.Match[str]) -> Label:
    return "policy" if match["policy"] is not None else "jailbreak"


def _mention(label: Label, value_text: str, *, said: str) -> Mention:
    value, problem = read_value(value_text)
    return Mention(label, value, problem, said[: 2 * _READ_CHARACTERS])


def _read_lines(text: str) -> Iterator[Mention]:
    lines = [line for line in text.splitlines() if line and not line.isspace()]
    waiting: Label | None = None
    for number, line in enumerate(lines):
        above, waiting = waiting, None
        is_shared = False
        matches = list(LABEL.finditer(line))
        for position, match in enumerate(matches):
            is_last = position + 1 == len(matches)
            tail = line[match.end() :] if is_last else line[match.end() : matches[position + 1].start()]
            label, said = _label_of(match), line[match.start() : match.end() + _READ_CHARACTERS]
            if _holds_words(tail):
                mention = _read_tail(label, tail, said=said, is_last=is_last)
            elif is_last and (below := _next_line(lines, number)) is not None:
                mention = _mention(label, below, said=f"{said} {below}")
                is_shared = is_shared or above not in (None, label)
            else:
                mention = None
                # Alone on its line: a value further down may be this label's or the next one's.
                if is_last and position == 0 and not any(map(str.isalpha, line[: match.start()])):
                    waiting = label
            if mention is not None:
                yield replace(mention, value=None, problem="ambiguous") if is_shared else mention
            is_shared = not is_last and _JOINT.fullmatch(tail) is not None


def _after_separator(tail: str) -> tuple[str | None, str]:
    """The separator behind a label, if there is one, and what follows."""
    separator = _SEPARATOR.match(tail[:_READ_CHARACTERS])
    return (separator["mark"], tail[separator.end() :]) if separator else (None, tail)


def _holds_words(tail: str) -> bool:
    """Whether there is more behind a label than a separator and wrapping."""
    return bool(_after_separator(tail)[1][:_READ_CHARACTERS].strip(_WRAPPING + "|"))


def _read_tail(label: Label, tail: str, *, said: str, is_last: bool) -> Mention | None:
    """What is stated behind a label on its line, or None when the label is a part of a sentence."""
    if not is_last and len(tail) <= _READ_CHARACTERS:
        tail = _NEXT_LIST_MARK.sub("", tail)
    separator, rest = _after_separator(tail)
    if separator == "|":
        rest = rest.partition("|")[0]
    mention = _mention(label, rest, said=said)
    # Without a separator it is no statement, unless a lone integer follows.
    if separator or mention.value is not None:
        return mention
    qualified = _QUALIFIED.match(tail[: 2 * _READ_CHARACTERS])
    if qualified is None or read_value(qualified["rest"])[0] is None:
        return None
    # A value under a condition is no value, and another one than that of a plain line.
    return replace(mention, problem="ambiguous")


def _next_line(lines: list[str], number: int) -> str | None:
    """The line below when it can be the value of a label that stands alone, else None."""
    if number + 1 == len(lines):
        return None
    line = lines[number + 1][: _READ_CHARACTERS + 1].strip()
    holds_value = LABEL.search(line) is None and _NUMBER.search(line) is not None
    return line.removeprefix(">") if holds_value else None


def _read_objects(text: str) -> tuple[list[Mention], str]:
    """Scores in the JSON objects of a text, and the text with those objects taken out."""
    mentions: list[Mention] = []
    kept: list[str] = []
    done = 0
    for found in find_objects(text):
        stated = list(_walk(found.pairs))
        if not stated and not _is_bare(text, found.start, found.end):
            continue
        mentions.extend(stated or _read_lone_score(found.pairs))
        kept.append(text[done : found.start])
        done = found.end
    return mentions, "\n".join([*kept, text[done:]])


def _is_bare(text: str, start: int, end: int) -> bool:
    """True when nothing but a code fence stands around the object."""
    around = text[:start].strip() + text[end:].strip()
    if len(around) > _FENCE_CHARACTERS:
        return False
    return around.casefold().replace("`", "").removeprefix("json").strip() == ""


def _walk(value: object) -> Iterator[Mention]:
    """Labelled scores at any depth of a decoded JSON value."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Pairs):
            for key, inner in current:
                match = LABEL.fullmatch(key.strip())
                if match is not None:
                    yield _json_mention(_label_of(match), inner, key=key)
                else:
                    waiting.append(inner)
        elif isinstance(current, list):
            waiting.extend(current)


def _read_lone_score(decoded: Pairs) -> list[Mention]:
    return [
        _json_mention("lone", value, key=key) for key, value in decoded if key.strip().casefold() == "score"
    ]


def _json_mention(label: Label, value: object, *, key: str) -> Mention:
    said = f"{key}: {value}" if isinstance(value, (str, int, float)) else key
    if isinstance(value, str):
        return _mention(label, value, said=said)
    if isinstance(value, int) and not isinstance(value, bool):
        return Mention(label, value, None, said)
    return Mention(label, None, "not_an_integer", said)
