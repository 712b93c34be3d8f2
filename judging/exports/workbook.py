"""Rows into an XLSX workbook: a sheet with the table, a sheet with its notes.

Every text cell is typed as text: by itself openpyxl would make a formula of `=1+1` and an error of
`#N/A`, cut long texts without a word, and write files that cannot be opened again.
"""

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judging.errors import ExportError
from judging.exports.cells import CellChanges
from judging.exports.columns import Flat, Table
from judging.exports.writers import Notes, text_of

MAX_SHEET_ROWS = 1_048_576
# Spreadsheet programs keep 15 digits of a number; a longer whole number is written as text.
MAX_EXACT_INTEGER = 10**15
DATA_SHEET, NOTES_SHEET = "Data", "Notes"
ROW_TAG = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}row"


def write_xlsx(table: Table, path: Path, *, changes: CellChanges, notes: Notes) -> None:
    """Write the workbook, then open it again: every part must be readable and every row there.

    Raises:
        ExportError: more rows than a sheet can hold, or the written file cannot be read.
    """
    from openpyxl import Workbook

    workbook = Workbook(write_only=True)
    try:
        _write_data(workbook.create_sheet(DATA_SHEET), table, changes)
        n_rows = changes.row + 1
        _write_notes(workbook.create_sheet(NOTES_SHEET), notes(), changes)
    except BaseException:
        # The sheets wait in temporary files, which only saving would remove.
        for sheet in workbook.worksheets:
            sheet.close()
            sheet._writer.cleanup()
        raise
    workbook.save(path)
    _read_back(path, n_rows=n_rows)


def _write_data(sheet: Any, table: Table, changes: CellChanges) -> None:
    sheet.freeze_panes = "A2"
    sheet.append([_cell(sheet, column.name, column.name, changes) for column in table.columns])
    for changes.row, row in enumerate(table.rows, start=1):
        if changes.row >= MAX_SHEET_ROWS:
            raise ExportError(
                f"The table has more than {MAX_SHEET_ROWS - 1:,} rows, and an XLSX sheet holds no more "
                "beside its header. Export it as JSONL, CSV or Parquet.",
                code="too_many_rows",
            )
        sheet.append(
            [
                _cell(sheet, column.flatten(value), column.name, changes)
                for column, value in zip(table.columns, row, strict=True)
            ]
        )


def _write_notes(sheet: Any, notes: Mapping[str, Any], changes: CellChanges) -> None:
    changes.row = 0
    for line in _note_lines(notes):
        sheet.append([_cell(sheet, value, NOTES_SHEET, changes) for value in line])


def _cell(sheet: Any, value: Flat, column: str, changes: CellChanges) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if value is None or isinstance(value, bool):
        return value
    is_text = isinstance(value, str) or abs(value) >= MAX_EXACT_INTEGER
    shown = changes.for_workbook(text_of(value), column) if is_text else text_of(value)
    # Numbers go in as the text of all their digits too, since openpyxl itself writes 16.
    cell = WriteOnlyCell(sheet, value=shown)
    cell.data_type = "s" if is_text else "n"
    return cell


def _note_lines(notes: Mapping[str, Any]) -> Iterator[list[Flat]]:
    """The manifest as lines of name and value, then the changed cells as a table of their own."""
    yield ["About this file", None]
    for name, value in notes.items():
        if name == "changed_cells":
            continue
        is_plain = isinstance(value, str | int | float) or value is None
        yield [name, value if is_plain else json.dumps(value, ensure_ascii=False)]
    if notes["changed_cells"]:
        yield [None]
        yield ["Changed cells (row 1 is the first below the header)", None]
        yield list(notes["changed_cells"][0])
        for change in notes["changed_cells"]:
            yield list(change.values())


def _read_back(path: Path, *, n_rows: int) -> None:
    from defusedxml.ElementTree import ParseError, iterparse

    n_found = 0
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as part:
                    for _, element in iterparse(part):
                        n_found += element.tag == ROW_TAG and name.endswith("sheet1.xml")
                        element.clear()
    except (ParseError, zipfile.BadZipFile) as error:
        raise ExportError(
            f"The workbook that was written cannot be read ({error}), so it was not kept. Export the table "
            "as JSONL.",
            code="unreadable_workbook",
        ) from error
    if n_found != n_rows:
        raise ExportError(
            f"The workbook that was written has {n_found:,} of {n_rows:,} rows, so it was not kept. Export "
            "the table as JSONL.",
            code="unreadable_workbook",
        )
