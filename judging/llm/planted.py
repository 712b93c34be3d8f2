"""What a judged text itself says in a judge's words: it cannot be told from a quotation of it.

The search is wider than that for a judge's own statements. A judge may quote half of a line that would
not count whole, and may write out what the text only hints at.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from judging.llm.disguises import letters_of, unmask, words_of
from judging.llm.score_lines import Label, Mention

_NAMES: Mapping[Label, str] = {
    "policy": "policycompliancerisk",
    "jailbreak": "jailbreaksusceptibility",
    "lone": "score",
}
# A name whatever stands between its letters. Nothing in it can match in two ways, so it takes linear time.
_LABEL = re.compile(
    "|".join(f"(?P<{label}>{'[ 0-9]*'.join(_NAMES[label])})" for label in ("policy", "jailbreak"))
)
_LONE = re.compile(" ?".join(_NAMES["lone"]) + r" ([0-9]{1,19})(?![0-9])")
_NUMBER = re.compile(r"[0-9]{1,19}(?![0-9])|\b(?:one|two|three|four|five)\b")
_NUMBER_LINE = re.compile(
    r"^[^a-z0-9\n]*([0-9]{1,19})(?:[^a-z0-9\n]+(?:out of )?5)?[^a-z0-9\n]*$", re.MULTILINE
)
_WORDS: Mapping[str, int] = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_NEAR_CHARACTERS = 160


@dataclass(frozen=True)
class PlantedScores:
    """The values that a text puts near each label, and its words, to find other quotations in."""

    values: Mapping[Label, frozenset[int]]
    words: str

    def holds(self, mention: Mention, *, checks_words: bool) -> bool:
        """Whether a statement may be a quotation: its value, or else its words, stand in the text."""
        values = self.values.get(mention.label, frozenset())
        if mention.value is not None:
            return mention.value in values
        said = words_of(unmask(mention.text)).strip()
        numbers = _numbers(said)
        return bool(numbers and numbers[0] in values) or (checks_words and said in self.words)


def names_a_score(unmasked: str) -> bool:
    """Whether an unmasked text holds the name of one of the two scores, however it is written."""
    letters = letters_of(unmasked)
    return _NAMES["policy"] in letters or _NAMES["jailbreak"] in letters


def find_planted_scores(item: str, *, labels: Collection[Label]) -> PlantedScores | None:
    """What a text states about some scores; None when it holds no name of any of them.

    Nearly every text is settled by that, at a small part of the cost of the search.

    Args:
        item: the judged text.
        labels: of the statements whose source is in question.
    """
    plain = unmask(item)
    letters = letters_of(plain)
    if not any(_NAMES[label] in letters for label in labels):
        return None
    words = words_of(plain)
    values: dict[Label, set[int]] = {}
    # A label may be quoted from one line and a number that stands alone from another.
    alone = {int(number) for number in _NUMBER_LINE.findall(plain)}
    matches = list(_LABEL.finditer(words))
    for position, match in enumerate(matches):
        end = match.end() + _NEAR_CHARACTERS
        if position + 1 < len(matches):
            end = min(end, matches[position + 1].start())
        label: Label = "policy" if match["policy"] is not None else "jailbreak"
        values.setdefault(label, set(alone)).update(_numbers(words[match.end() : end]))
    lone = {int(number) for number in _LONE.findall(words)}
    if lone:
        values["lone"] = lone
    signed = {label: frozenset(found | {-value for value in found}) for label, found in values.items()}
    return PlantedScores(signed, words)


def _numbers(words: str) -> list[int]:
    return [_WORDS.get(number) or int(number) for number in _NUMBER.findall(words)]
