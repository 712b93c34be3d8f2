"""Finds responses that look like a judge's answer, for people to review. It changes no score."""

import re

from judging.llm.score_lines import LABEL, normalise, skeleton

_VERDICT_LINE = re.compile(
    r"^\W{0,8}(?:final |my )?(?:verdict|rating|decision|grade)\W{1,12}(?:un|not )?acceptable\b",
    re.IGNORECASE | re.MULTILINE,
)
_VERDICT_JSON = re.compile(
    r"\{[^{}]{0,400}?[\"'](?:score|verdict|rating|failure[\s_-]?mode)[\"']\s{0,8}:", re.IGNORECASE
)
_HEADING = re.compile(
    r"^[\s#*>=_-]{0,12}(?:output[ -]format|answer[ -]format|response[ -]format|scoring(?: rubric| guide)?|"
    r"grading(?: rubric| instructions| guide)?|evaluation(?: rubric| result| criteria)?|rubric|final scores?|"
    r"final verdict)[\s*_#:=-]{0,12}$",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE_LINE = re.compile(
    r"<{2,4}\s{0,4}(?:END\s{1,4})?(?:CATEGORY|PROMPT|RESPONSE)\b[^<>\n]{0,80}>{2,4}", re.IGNORECASE
)


def has_rubric_like_text(text: str) -> bool:
    """Whether a response holds score lines, verdict JSON, output-format headings or fence look-alikes.

    Meant to be wide: a person looks at what is found, and no score follows from it.
    """
    shown = normalise(text).replace("\r", "\n")
    if LABEL.search(skeleton(shown)) is not None:
        return True
    return any(
        pattern.search(shown) is not None for pattern in (_VERDICT_LINE, _VERDICT_JSON, _HEADING, _FENCE_LINE)
    )
