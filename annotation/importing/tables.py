"""A delimited text file as rows of exact text, read as a stream.

Every cell stays text, character for character; only the header is trimmed and folded. What cannot
be read without a guess is refused with its place.
"""

import csv
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from annotation.importing.outcome import FileOutcome, FileRefused
from annotation.importing.text_files import MAX_FILE_BYTES, TextFile, check_text, lines_of

__all__ = ["MAX_CELL_BYTES", "MAX_FILE_BYTES", "Row", "Table", "open_table"]

MAX_CELL_BYTES = 1_000_000
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
# NUL, lone surrogates and two non-characters: PostgreSQL, UTF-8 or XML cannot hold them.
UNSTORABLE = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")
SEPARATOR_LINE = re.compile(r"sep=(?P<delimiter>[^\r\n])[\r\n]*\Z", re.IGNORECASE)

# The csv module stops at 131,072 characters a cell unless told otherwise. Our own limit is checked
# below, so that a long cell is a problem of its row; this one bounds what a quote that is never
# closed can take into memory.
csv.field_size_limit(16 * 1024 * 1024)


@dataclass(frozen=True)
class Row:
    """One data row: the line it begins on, and its cells by column."""

    line: int
    cells: dict[str, str]

    def get(self, column: str) -> str:
        """The exact cell; empty when the file has no such column."""
        return self.cells.get(column, "")


@dataclass(frozen=True)
class Table:
    """A file whose header is known and whose rows are still to be read.

    `notes` says what was folded or detected.
    """

    file: TextFile
    columns: tuple[str, ...]
    delimiter: str
    n_lines_skipped: int
    header_line: int
    notes: tuple[str, ...]

    def rows(self, outcome: FileOutcome) -> Iterator[Row]:
        """Yield the readable rows in file order; the others become problems of `outcome`.

        Blank lines are no rows. `outcome.rows` counts the rest, readable or not.

        Raises:
            FileRefused: from here on the file cannot be told apart into rows.
        """
        for line, cells in _records(self.file, delimiter=self.delimiter, n_skipped=self.n_lines_skipped):
            if line <= self.header_line:
                continue
            outcome.rows += 1
            if len(cells) != len(self.columns):
                outcome.refuse_row(
                    line=line,
                    column=None,
                    code="wrong_number_of_fields",
                    message=f"The row that begins on line {line} has {len(cells)} fields; the header has "
                    f"{len(self.columns)}. Quote cells that hold a {DELIMITER_NAMES[self.delimiter]} or a "
                    "line end.",
                )
                continue
            row = Row(line=line, cells=dict(zip(self.columns, cells, strict=True)))
            if not _refuse_unstorable(row, outcome):
                yield row


def open_table(file: TextFile, *, known: Sequence[str], required: Sequence[str] = ()) -> Table:
    """Check the bytes of `file` and read its header.

    Args:
        file: the file.
        known: folded names of columns that may be there; they tell which delimiter is meant.
        required: those that must be there.

    Raises:
        FileRefused: no text, another encoding, no rows, columns missing, twice or unnamed.
    """
    check_text(file)
    separator = _named_separator(file)
    n_skipped = 0 if separator is None else 1
    headers: dict[str, tuple[int, list[str]]] = {}
    refusal: FileRefused | None = None
    for delimiter in DELIMITER_NAMES if separator is None else (separator,):
        try:
            with closing(_records(file, delimiter=delimiter, n_skipped=n_skipped)) as records:
                headers[delimiter] = next(records, (1, []))
        except FileRefused as error:
            # Quoted names look like bad quoting to the wrong delimiter.
            refusal = refusal or error
    if not headers and refusal is not None:
        raise refusal
    delimiter = max(headers, key=lambda candidate: _n_known(headers[candidate][1], known))
    line, header = headers[delimiter]
    if not header:
        raise FileRefused(
            "no_rows", "The file is empty: it has no rows. Check that it is the right one, or leave it out."
        )
    columns = _read_header(header, required=required, line=line)
    notes = [
        f"header {given!r} was read as {column!r}"
        for given, column in zip(header, columns, strict=True)
        if given != column
    ]
    if delimiter != ",":
        notes.append(f"fields are separated by {DELIMITER_NAMES[delimiter]}s")
    return Table(
        file=file,
        columns=columns,
        delimiter=delimiter,
        n_lines_skipped=n_skipped,
        header_line=line,
        notes=tuple(notes),
    )


def _named_separator(file: TextFile) -> str | None:
    """The delimiter that a first line such as `sep=;` names."""
    with closing(lines_of(file)) as lines:
        match = SEPARATOR_LINE.match(next(lines))
    if match is None:
        return None
    if match["delimiter"] not in DELIMITER_NAMES:
        raise FileRefused(
            "unknown_separator",
            f"The first line names {match['delimiter']!r} as separator; expected a comma, semicolon or tab. "
            "Save the file with one of these.",
            line=1,
        )
    return match["delimiter"]


def _records(
    file: TextFile, *, delimiter: str, n_skipped: int
) -> Generator[tuple[int, list[str]], None, None]:
    """(line a record begins on, its cells) after the first `n_skipped` lines, without blank lines."""
    with closing(lines_of(file)) as lines:
        reader = csv.reader(islice(lines, n_skipped, None), delimiter=delimiter, strict=True)
        while True:
            line = n_skipped + reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise _bad_record(error, line=line) from error
            if cells:
                yield line, cells


def _bad_record(error: csv.Error, *, line: int) -> FileRefused:
    if "field limit" in str(error):
        return FileRefused(
            "cell_too_large",
            f"A cell of the row that begins on line {line} does not end within {csv.field_size_limit():,} "
            f"characters. Close its quotes; the limit is {MAX_CELL_BYTES:,} bytes a cell.",
            line=line,
        )
    return FileRefused(
        "bad_quoting",
        f"The row that begins on line {line} cannot be read ({error}): a quoted cell is not closed, or text "
        "follows its closing quote. Double the quotes inside quoted cells.",
        line=line,
    )


def _fold(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def _n_known(header: Sequence[str], known: Sequence[str]) -> tuple[int, int]:
    return len({_fold(name) for name in header}.intersection(known)), len(header)


def _read_header(header: Sequence[str], *, required: Sequence[str], line: int) -> tuple[str, ...]:
    columns = tuple(_fold(name) for name in header)
    for column in columns:
        if found := UNSTORABLE.search(column):
            raise FileRefused(
                "unstorable_character",
                f"A column name holds U+{ord(found[0]):04X}, which no name may hold. Save the file as UTF-8 "
                "text, or name its encoding, for example utf-16-le.",
                line=line,
            )
        if not column:
            raise FileRefused(
                "unnamed_column", "A column has no name in the header. Name it or delete it.", line=line
            )
        if columns.count(column) > 1:
            raise FileRefused(
                "duplicate_column",
                f"The column {column!r} stands in the header {columns.count(column)} times; expected once. "
                "Delete or rename one.",
                line=line,
                column=column,
            )
    missing = [name for name in required if name not in columns]
    if missing:
        raise FileRefused(
            "missing_column",
            f"Missing column {', '.join(missing)}. Found: {', '.join(columns)[:300]}. "
            f"Expected: {', '.join(required)}. Add the column, or correct its name.",
            line=line,
            column=missing[0],
        )
    return columns


def _refuse_unstorable(row: Row, outcome: FileOutcome) -> bool:
    for column, cell in row.cells.items():
        if found := UNSTORABLE.search(cell):
            outcome.refuse_row(
                line=row.line,
                column=column,
                code="unstorable_character",
                message=f"The cell {column} holds U+{ord(found[0]):04X} at position {found.start() + 1}, "
                "which cannot be stored. Remove it from the cell.",
            )
            return True
        if len(cell) * 4 > MAX_CELL_BYTES and (size := len(cell.encode())) > MAX_CELL_BYTES:
            outcome.refuse_row(
                line=row.line,
                column=column,
                code="cell_too_large",
                message=f"The cell {column} has {size:,} bytes; the limit is {MAX_CELL_BYTES:,}. Shorten it.",
            )
            return True
    return False
