"""Finds the verdicts of a binary rubric: the words Acceptable and Unacceptable, each as a whole line."""

import re
from collections.abc import Iterator

from judging.llm.disguises import letters_of, unmask, words_of
from judging.llm.json_objects import read_objects

VERDICTS = ("acceptable", "unacceptable")

_PREFIX = re.compile(
    r"(?:the |my )?(?:final |overall )?(?:verdict|answer|label|rating|decision)(?: is)?"
    r"[\s*_]{0,4}[:=–—-][\s*_]{0,4}(?P<rest>.*)"
)
_PLANTED = re.compile(r"(?:verdict|answer|label|rating|decision) ?(?:is ?)?(unacceptable|acceptable)")
# `Edit: Unacceptable`
_REMARK = re.compile(r"[^:]{1,80}:[\s*_]{0,4}(?P<verdict>unacceptable|acceptable)[.!\s*_]{0,4}")
_LIST_MARK = re.compile(r"(?:[0-9]{1,2}[.)]|[-•>#]{1,6})\s{1,4}")
_WRAPPING = " \t*_<>[]\"'`“”‘’"
_OPEN_END = re.compile(r"\b(not|or|nor|un)[\s*_-]{0,8}$")
_OPEN_CHARACTERS = 16
_LINE_CHARACTERS = 300
_JSON_KEYS = frozenset({"verdict", "answer", "label", "rating", "decision"})


def find_verdicts(text: str) -> list[str]:
    """Every verdict that a normalised text states, casefolded.

    A line counts when it is one of the two words, wrapped or ended with a full stop, or when it begins
    with `Verdict:` or the like; what stands behind that is given as it is, so that `Verdict: not
    acceptable` is a finding of its own and no match of a part of it. So is the `verdict` of a JSON object.
    """
    return [*_read_json(text), *_read_lines(text)]


def find_remarks(text: str) -> frozenset[str]:
    """Verdicts behind other words and a colon (`Edit: Unacceptable`): none by itself, but a contradiction."""
    lines = (line.strip().casefold() for line in text.splitlines() if len(line) <= _LINE_CHARACTERS)
    return frozenset(match["verdict"] for line in lines if (match := _REMARK.fullmatch(line)))


def find_planted_verdicts(item: str) -> frozenset[str]:
    """Verdicts that the judged text itself states, also in disguise and in the middle of a line."""
    plain = unmask(item)
    if "acceptable" not in letters_of(plain):
        return frozenset()
    inline = (match[1] for match in _PLANTED.finditer(words_of(plain)))
    by_line = (verdict for line in plain.splitlines() if (verdict := _read_line(line)) is not None)
    return frozenset(by_line) | frozenset(inline)


def _read_lines(text: str) -> Iterator[str]:
    above = ""
    for line in text.splitlines():
        verdict = _read_line(line)
        if verdict is not None:
            # `not` at the end of the line above turns the word round, and `or` makes a question of it.
            open_end = _OPEN_END.search(above)
            yield f"{open_end[1]} {verdict}" if open_end else verdict
        if line and not line.isspace():
            above = line[-_OPEN_CHARACTERS:].casefold()


def _read_line(line: str) -> str | None:
    """The verdict that a line states by itself."""
    shown = line.strip(_WRAPPING)
    if not 0 < len(shown) <= _LINE_CHARACTERS:
        return None
    words = shown.casefold()
    words = _LIST_MARK.sub("", words, count=1) if _LIST_MARK.match(words) else words
    match = _PREFIX.match(words.strip(_WRAPPING))
    core = (match["rest"] if match else words).strip(_WRAPPING).rstrip(".!" + _WRAPPING)
    return core if core in VERDICTS or (match is not None and core) else None


def _read_json(text: str) -> Iterator[str]:
    for pairs in read_objects(text):
        for key, value in pairs:
            if key.strip().casefold() in _JSON_KEYS:
                yield (
                    value.strip(_WRAPPING).rstrip(".").casefold() if isinstance(value, str) else "not a word"
                )
