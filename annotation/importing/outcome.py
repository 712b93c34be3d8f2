"""What reading a file came to: counts, problems and notes."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One reason why a row or a whole file is refused. `line` counts from 1; None = the file."""

    file: str
    line: int | None
    column: str | None
    code: str
    message: str

    def to_json(self) -> dict[str, Any]:
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "code": self.code,
            "message": self.message,
        }


class RowRefused(Exception):
    """Raised while one row is read; the reader turns it into a `Problem`."""

    def __init__(self, code: str, message: str, *, column: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.column = column


@dataclass
class FileOutcome:
    """Counts of one file. `rows` = `created` + `unchanged` + `rejected`, always.

    `normalised` counts accepted rows in which a cell was read as another spelling of the same
    value; `implied` counts prompts and responses that label or response rows brought with them.
    """

    path: str
    kind: str | None
    rows: int = 0
    created: int = 0
    unchanged: int = 0
    normalised: int = 0
    rejected: int = 0
    implied: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, *, line: int | None, column: str | None, code: str, message: str) -> None:
        """Add one problem; a problem with a line rejects that row."""
        self.problems.append(Problem(file=self.path, line=line, column=column, code=code, message=message))
        if line is not None:
            self.rejected += 1

    def note(self, text: str) -> None:
        """Count one thing that was read leniently or left as it was."""
        self.notes[text] += 1

    def to_json(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "kind": self.kind,
            "rows": self.rows,
            "created": self.created,
            "unchanged": self.unchanged,
            "normalised": self.normalised,
            "rejected": self.rejected,
            "implied": dict(self.implied),
            "notes": [{"text": text, "count": count} for text, count in self.notes.items()],
        }
