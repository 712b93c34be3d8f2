"""Case ids that a spreadsheet would confuse: told apart here, and pointed out."""

import re
import unicodedata
from collections.abc import Iterable

NUMBER = re.compile(r"(\d+)(\.0*)?\Z")
MAX_PAIRS_NAMED = 5


class LookAlikes:
    """The case ids of a benchmark by the form in which a spreadsheet would show them."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._first: dict[str, str] = {}
        self._n_named = 0
        for case_uid in known:
            self._first.setdefault(look_alike_form(case_uid), case_uid)

    def add(self, case_uid: str) -> str | None:
        """Take in a new id; returns a remark if an earlier one looks like it."""
        earlier = self._first.setdefault(look_alike_form(case_uid), case_uid)
        if earlier == case_uid:
            return None
        self._n_named += 1
        if self._n_named > MAX_PAIRS_NAMED:
            return "more case ids look alike and are kept apart"
        return f"the case ids {earlier!r} and {case_uid!r} look alike and are kept apart"


def look_alike_form(case_uid: str) -> str:
    """A form in which ids that a spreadsheet would confuse are equal: 007, 7 and 7.0; Case-1 and case-1."""
    folded = " ".join(unicodedata.normalize("NFKC", case_uid).casefold().split())
    if match := NUMBER.match(folded):
        return str(int(match[1]))
    return folded
