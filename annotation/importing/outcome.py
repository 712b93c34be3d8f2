"""What reading a file came to: counts, problems and notes."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from annotation.choices import Rating


@dataclass(frozen=True)
class Problem:
    """One reason why a row, or with `is_whole_file` the file, is refused.

    `line` counts from 1 and is the one a row begins on; None where no line is to blame.
    """

    file: str
    line: int | None
    column: str | None
    code: str
    message: str
    is_whole_file: bool = False

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


class FileRefused(Exception):
    """The file cannot be read on; the message says where, what was expected and the way out."""

    def __init__(
        self, code: str, message: str, *, line: int | None = None, column: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column


@dataclass
class FileOutcome:
    """Counts of one file. `rows` = `created` + `unchanged` + `rejected`, always.

    `normalised` counts accepted rows in which a cell was read as another spelling of the same
    value; `implied` counts prompts and responses that label or response rows brought with them;
    `answers` counts accepted label rows by rating and severity.
    """

    path: str
    kind: str | None
    rows: int = 0
    created: int = 0
    unchanged: int = 0
    normalised: int = 0
    rejected: int = 0
    implied: Counter[str] = field(default_factory=Counter)
    answers: Counter[tuple[Rating, int | None]] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)

    def refuse_row(self, *, line: int, column: str | None, code: str, message: str) -> None:
        """Reject the row that begins on `line`."""
        self.problems.append(Problem(file=self.path, line=line, column=column, code=code, message=message))
        self.rejected += 1

    def refuse_file(self, refusal: FileRefused) -> None:
        """Add the reason why the file, or its rest, was not read."""
        self.problems.append(
            Problem(
                file=self.path,
                line=refusal.line,
                column=refusal.column,
                code=refusal.code,
                message=refusal.message,
                is_whole_file=True,
            )
        )

    def note(self, text: str, *, count: int = 1) -> None:
        """Count something that was read leniently or left as it was."""
        self.notes[text] += count

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
