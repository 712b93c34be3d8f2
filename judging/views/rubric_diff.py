"""The difference between two texts as lines, for one column that a phone can show."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

LineKind = Literal["same", "added", "removed", "skipped"]

CONTEXT_LINES = 3


@dataclass(frozen=True)
class DiffLine:
    """One line. For `skipped`, `text` says how many equal lines are left out."""

    kind: LineKind
    text: str


@dataclass(frozen=True)
class TextDiff:
    """The lines of a unified difference, and how many were added and removed."""

    lines: tuple[DiffLine, ...]

    @property
    def n_added(self) -> int:
        return sum(line.kind == "added" for line in self.lines)

    @property
    def n_removed(self) -> int:
        return sum(line.kind == "removed" for line in self.lines)


def compare_texts(old: str, new: str) -> TextDiff:
    """What makes `new` of `old`: removed lines before added ones, with three equal lines around each change.

    Equal texts give no lines.
    """
    return TextDiff(tuple(_lines(old.splitlines(), new.splitlines())))


def _lines(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    n_shown = 0
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        yield from _skipped(group[0][1] - n_shown)
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (DiffLine("same", line) for line in old[old_start:old_end])
                continue
            yield from (DiffLine("removed", line) for line in old[old_start:old_end])
            yield from (DiffLine("added", line) for line in new[new_start:new_end])
        n_shown = group[-1][2]
    if n_shown:
        yield from _skipped(len(old) - n_shown)


def _skipped(n: int) -> Iterator[DiffLine]:
    if n > 0:
        yield DiffLine("skipped", f"{n:,} equal {'line' if n == 1 else 'lines'}")
