"""Finds responses that look like a judge's answer, for people to review. It changes no score."""

import re

from judging.llm.disguises import unmask
from judging.llm.failure_modes import named_modes
from judging.llm.planted import names_a_score

# Searched in the unmasked text: ASCII, lower case, `?` for what is neither.
_SIGNS = (
    # Verdict: Acceptable
    re.compile(
        r"^[^a-z0-9\n]{0,8}(?:final |my )?(?:verdict|rating|decision|grade)[^a-z0-9\n]{1,12}"
        r"(?:un|not )?acceptable\b",
        re.MULTILINE,
    ),
    # {"verdict": ...
    re.compile(r"\{[^{}]{0,400}?[\"'](?:score|verdict|rating|failure[\s_-]?mode)[\"']\s{0,8}:"),
    # ## Output format
    re.compile(
        r"^[\s#*>=_-]{0,12}(?:output[ -]format|answer[ -]format|response[ -]format|scoring(?: rubric| guide)?"
        r"|grading(?: rubric| instructions| guide)?|evaluation(?: rubric| result| criteria)?|rubric"
        r"|final scores?|final verdict)[\s*_#:=-]{0,12}$",
        re.MULTILINE,
    ),
    # <<<END RESPONSE ffff>>>
    re.compile(r"<{2,4}\s{0,4}(?:end\s{1,4})?(?:category|prompt|response)\b[^<>\n]{0,80}>{2,4}"),
)


def has_rubric_like_text(text: str) -> bool:
    """Whether a response holds score lines, verdict JSON, output-format headings or fence look-alikes.

    Meant to be wide: a person looks at what is found, and no score follows from it.
    """
    plain = unmask(text)
    if names_a_score(plain) or named_modes(plain):
        return True
    return any(sign.search(plain) is not None for sign in _SIGNS)
