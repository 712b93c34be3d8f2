"""Texts as single formats can hold them. Every cell that had to change is remembered."""

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

# Spreadsheet programs run a cell of a text file that begins with one of the first six. The
# apostrophe is here so that undoing is simple: one leading apostrophe off every cell that has one.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
SAFE_PREFIX = "'"
REPLACEMENT = "\ufffd"
SURROGATES = re.compile("[\ud800-\udfff]")
# What XML 1.0 cannot hold: a workbook with one of these would not open again.
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
CARRIAGE_RETURNS = re.compile("\r\n?")
# A spreadsheet cell holds this many UTF-16 units; a character outside the basic plane takes two.
MAX_WORKBOOK_UNITS = 32_767


@dataclass(frozen=True, slots=True)
class CellChange:
    """One changed cell: data row (from 1), column, what was done, and what the full text was."""

    row: int
    column: str
    change: str
    n_characters: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        return {
            "row": self.row,
            "column": self.column,
            "change": self.change,
            "n_characters": self.n_characters,
            "sha256": self.sha256,
        }


class CellChanges:
    """The changed cells of one file. `row` is the row being written; 0 is the header."""

    def __init__(self) -> None:
        self.row = 0
        self.listed: list[CellChange] = []
        self._line_ends = 0

    def storable(self, text: str, column: str) -> str:
        """Without lone surrogates, which no encoding of a file can hold."""
        if SURROGATES.search(text) is None:
            return text
        self._remember(text, column, "replaced_characters")
        return SURROGATES.sub(REPLACEMENT, text)

    def spreadsheet_safe(self, text: str, column: str) -> str:
        """With an apostrophe before a text that a spreadsheet program would run."""
        if not text.startswith(FORMULA_STARTS):
            return text
        self._remember(text, column, "prefixed")
        return SAFE_PREFIX + text

    def for_workbook(self, text: str, column: str) -> str:
        """As a cell of a workbook can hold it: clean XML, line ends as LF, at most 32,767 units.

        A cut cell ends in a visible mark.
        """
        kept = text
        if "\r" in kept:
            # XML readers turn a carriage return into a line feed anyway.
            self._line_ends += 1
            kept = CARRIAGE_RETURNS.sub("\n", kept)
        if NOT_IN_XML.search(kept) is not None:
            self._remember(text, column, "replaced_characters")
            kept = NOT_IN_XML.sub(REPLACEMENT, kept)
        if n_units(kept) > MAX_WORKBOOK_UNITS:
            self._remember(text, column, "cut")
            mark = f" … [cut: {len(text):,} characters in full; see the sheet Notes]"
            kept = _first_units(kept, MAX_WORKBOOK_UNITS - n_units(mark)) + mark
        return kept

    def count_by_kind(self) -> dict[str, int]:
        """Changed cells by kind of change; `line_ends` are counted and not listed."""
        counts = Counter(change.change for change in self.listed)
        if self._line_ends:
            counts["line_ends"] = self._line_ends
        return dict(sorted(counts.items()))

    def to_json(self) -> list[dict[str, Any]]:
        return [change.to_json() for change in self.listed]

    def _remember(self, text: str, column: str, change: str) -> None:
        self.listed.append(
            CellChange(
                row=self.row,
                column=column,
                change=change,
                n_characters=len(text),
                sha256=hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest(),
            )
        )


def n_units(text: str) -> int:
    """Length in UTF-16 units, as spreadsheet programs count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _first_units(text: str, n: int) -> str:
    cut = text.encode("utf-16-le")[: 2 * n]
    # Half of a character at the cut is dropped.
    return cut.decode("utf-16-le", errors="ignore")
