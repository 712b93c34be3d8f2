"""A delimited text file as rows of exact text.

Every cell stays text, byte for byte; only the header is trimmed and folded. What cannot be read
without a guess is refused with its place.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.importing.outcome import FileOutcome

MAX_FILE_BYTES = 512 * 1024 * 1024
MAX_CELL_BYTES = 1_000_000
DELIMITERS = (",", ";", "\t")
DELIMITER_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
# NUL, lone surrogates and the two non-characters: PostgreSQL or XML cannot hold them.
UNSTORABLE = re.compile("[\x00\ud800-\udfff\ufffe\uffff]")
SEPARATOR_LINE = re.compile(r"sep=(?P<delimiter>[,;\t])\r?\n?\Z", re.IGNORECASE)

# The csv module stops at 131,072 characters a cell unless told otherwise; our own limit is checked
# per cell below, so that a long cell is a problem of its row and not of the file.
csv.field_size_limit(2**31 - 1)


class FileRefused(Exception):
    """The whole file cannot be read; the message says where, what was expected and the way out."""

    def __init__(
        self, code: str, message: str, *, line: int | None = None, column: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column


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
    """A file whose header is known and whose rows are still to be read."""

    columns: tuple[str, ...]
    delimiter: str
    text: str
    first_line: int

    def rows(self, outcome: FileOutcome) -> Iterator[Row]:
        """Yield the readable rows in file order; the others become problems of `outcome`.

        Blank lines are no rows. `outcome.rows` counts the rest, readable or not.
        """
        records = _records(self.text, delimiter=self.delimiter, first_line=self.first_line)
        next(records)  # the header
        for line, cells in records:
            if not cells:
                continue
            outcome.rows += 1
            if len(cells) != len(self.columns):
                outcome.refuse(
                    line=line,
                    column=None,
                    code="wrong_number_of_fields",
                    message=f"The row has {len(cells)} fields; the header has {len(self.columns)}. "
                    "Quote cells that hold the delimiter or a line end.",
                )
                continue
            row = Row(line=line, cells=dict(zip(self.columns, cells, strict=True)))
            if not _refuse_unstorable(row, outcome):
                yield row


def open_table(path: Path, *, required: Sequence[str], encoding: str = "utf-8") -> tuple[Table, list[str]]:
    """Read the header of `path`.

    Args:
        path: the file.
        required: column names that must be there.
        encoding: how the bytes are to be read; never guessed.

    Returns:
        The table, and notes about what was folded or detected.

    Raises:
        FileRefused: no text, wrong encoding, no such columns, or columns twice.
    """
    text = _decode(path, encoding=encoding)
    notes: list[str] = []
    first_line, explicit = 1, None
    head = text[: text.find("\n") + 1] or text
    if match := SEPARATOR_LINE.match(head):
        explicit, first_line, text = match["delimiter"], 2, text[len(head) :]
    if not text.strip():
        raise FileRefused("no_rows", "The file has no rows. Nothing was read from it.")
    headers = {
        delimiter: next(iter(_records(text, delimiter=delimiter, first_line=first_line)))[1]
        for delimiter in ((explicit,) if explicit else DELIMITERS)
    }
    delimiter = max(headers, key=lambda candidate: _n_known(headers[candidate], required))
    columns = _read_header(headers[delimiter], required=required, notes=notes, line=first_line)
    if delimiter != ",":
        notes.append(f"fields are separated by {DELIMITER_NAMES[delimiter]}s")
    return Table(columns=columns, delimiter=delimiter, text=text, first_line=first_line), notes


def read_columns(path: Path, *, encoding: str = "utf-8") -> tuple[str, ...]:
    """Folded column names of `path`, to tell which kind of file it is.

    Raises:
        FileRefused: as `open_table`.
    """
    table, _ = open_table(path, required=(), encoding=encoding)
    return table.columns


def _decode(path: Path, *, encoding: str) -> str:
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        raise FileRefused(
            "file_too_large",
            f"The file has {size:,} bytes; the limit is {MAX_FILE_BYTES:,}. Split it by rows and import the parts.",
        )
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) and not encoding.lower().startswith("utf-16"):
        raise FileRefused(
            "encoding",
            "The file begins with a UTF-16 mark; expected UTF-8. Save it as UTF-8, or name --encoding utf-16.",
        )
    if data.startswith(b"PK\x03\x04") or data.startswith(b"\xd0\xcf\x11\xe0"):
        raise FileRefused(
            "not_text",
            "The file is a spreadsheet or archive, not delimited text. Save the sheet as CSV (UTF-8).",
        )
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FileRefused(
            "encoding",
            f"Byte {error.start} (line {line}) is 0x{data[error.start]:02x}, which is not {encoding}. "
            "Save the file as UTF-8, or name its encoding, for example --encoding cp1252.",
            line=line,
        ) from error
    except LookupError as error:
        raise FileRefused(
            "encoding", f"{encoding!r} is no known encoding; expected a name such as utf-8 or cp1252."
        ) from error
    return text.removeprefix("\ufeff")


def _records(text: str, *, delimiter: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
    # newline="" splits at CR, LF and CRLF but changes none of them inside a quoted cell.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = first_line
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise FileRefused(
                "bad_quoting",
                f"The row that begins on line {line} cannot be read ({error}): a quoted cell is not closed, or "
                "text follows its closing quote. Double the quotes inside quoted cells.",
                line=line,
            ) from error
        yield line, cells
        line = first_line + reader.line_num


def _fold(name: str) -> str:
    return name.strip().casefold().replace(" ", "_")


def _n_known(header: Sequence[str], required: Sequence[str]) -> tuple[int, int]:
    names = {_fold(name) for name in header}
    return len(names.intersection(required)), len(header)


def _read_header(
    header: Sequence[str], *, required: Sequence[str], notes: list[str], line: int
) -> tuple[str, ...]:
    columns = tuple(_fold(name) for name in header)
    for given, column in zip(header, columns, strict=True):
        if given != column:
            notes.append(f"header {given!r} was read as {column!r}")
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
            f"Missing column {', '.join(missing)}. Found: {', '.join(columns)[:300]}. Expected: {', '.join(required)}.",
            line=line,
            column=missing[0],
        )
    return columns


def _refuse_unstorable(row: Row, outcome: FileOutcome) -> bool:
    for column, cell in row.cells.items():
        if found := UNSTORABLE.search(cell):
            outcome.refuse(
                line=row.line,
                column=column,
                code="unstorable_character",
                message=f"The cell holds U+{ord(found[0]):04X} at position {found.start() + 1}, which cannot be "
                "stored. Remove it from the cell.",
            )
            return True
        if len(cell) * 4 > MAX_CELL_BYTES and (size := len(cell.encode())) > MAX_CELL_BYTES:
            outcome.refuse(
                line=row.line,
                column=column,
                code="cell_too_large",
                message=f"The cell has {size:,} bytes; the limit is {MAX_CELL_BYTES:,}. Shorten it.",
            )
            return True
    return False
