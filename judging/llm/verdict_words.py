"""Finds the verdicts of a binary rubric: the words Acceptable and Unacceptable, each as a whole line."""

import json
import re

VERDICTS = ("acceptable", "unacceptable")

_PREFIX = re.compile(
    r"(?:final |my )?(?:verdict|answer|label|rating|decision)[\s*_]{0,4}[:=–—-][\s*_]{0,4}(?P<rest>.*)"
)
_PLANTED = re.compile(
    r"\b(?:verdict|answer|label|rating|decision)\W{1,12}(unacceptable|acceptable)\b", re.IGNORECASE
)
_LIST_MARK = re.compile(r"(?:[0-9]{1,2}[.)]|[-•>#]{1,6})\s{1,4}")
_WRAPPING = " \t*_<>[]\"'`“”‘’"
_LINE_CHARACTERS = 300
_JSON_CHARACTERS = 20_000
_JSON_KEYS = frozenset({"verdict", "answer", "label", "rating", "decision"})


def find_verdicts(text: str) -> list[str]:
    """Every verdict that a normalised text states, casefolded.

    A line counts when it is one of the two words, wrapped or ended with a full stop, or when it begins
    with `Verdict:` or the like; what stands behind that is given as it is, so that `Verdict: not
    acceptable` is a finding of its own and no match of a part of it.
    """
    from_json = _read_json(text)
    if from_json is not None:
        return from_json
    found: list[str] = []
    for line in text.splitlines():
        if len(line) > _LINE_CHARACTERS:
            continue
        words = line.strip(_WRAPPING).casefold()
        words = _LIST_MARK.sub("", words, count=1) if _LIST_MARK.match(words) else words
        match = _PREFIX.match(words.strip(_WRAPPING))
        core = (match["rest"] if match else words).strip(_WRAPPING).rstrip(".!" + _WRAPPING)
        if core in VERDICTS or (match is not None and core):
            found.append(core)
    return found


def find_planted_verdicts(item: str) -> frozenset[str]:
    """Verdicts that the judged text itself states, also in the middle of a line."""
    inline = (match[1].casefold() for match in _PLANTED.finditer(item))
    return frozenset(find_verdicts(item)) | frozenset(inline)


def _read_json(text: str) -> list[str] | None:
    """The verdicts of a reply that is one JSON object, in a code fence or not; None when it is none."""
    body = text.strip()
    if body.startswith("```") and body.endswith("```") and len(body) > 6:
        body = body[3:-3].removeprefix("json").strip()
    if len(body) > _JSON_CHARACTERS or not body.startswith("{"):
        return None
    try:
        pairs = json.loads(body, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return None
    return [
        value.strip(_WRAPPING).rstrip(".").casefold() if isinstance(value, str) else "not a word"
        for key, value in pairs
        if key.strip().casefold() in _JSON_KEYS
    ]
