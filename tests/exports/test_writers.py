"""Awkward cells in each format: written by the writers, read back by the usual libraries."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from openpyxl import load_workbook
from openpyxl.worksheet._writer import ALL_TEMP_FILES

from judging.errors import ExportError
from judging.exports import workbook
from judging.exports.cells import CellChanges
from judging.exports.columns import Column, Kind, Row, Table
from judging.exports.workbook import write_xlsx
from judging.exports.writers import (
    MANIFEST_KEY,
    write_exact_csv,
    write_jsonl,
    write_parquet,
    write_safe_csv,
)
from tests.exports.reading import read_rows

COLUMNS = (
    Column("case_uid"),
    Column("n", Kind.INTEGER),
    Column("rate", Kind.NUMBER),
    Column("is_graded", Kind.BOOLEAN),
    Column("missing", Kind.JSON),
)
TEXTS = [
    "=1+1",
    "+1",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    '=HYPERLINK("https://example.org","x")',
    "'already",
    "#N/A",
    "007",
    "1.0",
    "None",
    "null",
    "NaN",
    "TRUE",
    'says "yes", twice',
    '"',
    "ends in \\",
    "two\nlines",
    "next\x85line\u2028and\u2029more\x0b",
    " spaces kept ",
    "κ 😀 é",
    "<b>{{ 7*7 }}</b></script>",
]
WRITERS: dict[str, Any] = {
    "csv": write_exact_csv,
    "jsonl": write_jsonl,
    "parquet": write_parquet,
    "xlsx": write_xlsx,
}


def row_of(text: str | None = "x", **values: Any) -> Row:
    row: dict[str, Any] = {
        "case_uid": text,
        "n": -5,
        "rate": 0.12345678901234566,
        "is_graded": True,
        "missing": {"judge": "REFUSED"},
    }
    return tuple((row | values).values())


def write(write_table: Any, path: Path, rows: list[Row]) -> CellChanges:
    changes = CellChanges()

    def notes() -> dict[str, Any]:
        return {"table": "test", "notice": "=notice", "changed_cells": changes.to_json()}

    write_table(Table(columns=COLUMNS, rows=iter(rows)), path, changes=changes, notes=notes)
    return changes


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("text", [*TEXTS, "lone\rreturn", "a\r\nb", "x" * 130_000])
def test_write_text_is_read_back_unchanged(tmp_path: Path, format: str, text: str) -> None:
    path = tmp_path / f"table.{format}"

    changes = write(WRITERS[format], path, [row_of(text), row_of("next")])

    assert [row["case_uid"] for row in read_rows(path)] == [text, "next"]
    assert changes.to_json() == []


@pytest.mark.parametrize("text", [text for text in TEXTS if "\x0b" not in text])
def test_write_xlsx_text_is_text_and_unchanged(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.xlsx"

    changes = write(write_xlsx, path, [row_of(text)])

    cell = load_workbook(path)["Data"]["A2"]
    assert (cell.value, cell.data_type) == (text, "s")
    assert changes.to_json() == []


@pytest.mark.parametrize("format", WRITERS)
def test_write_values_keep_their_types_and_digits(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"table.{format}"

    write(WRITERS[format], path, [row_of()])

    [row] = read_rows(path)
    is_text = format == "csv"
    assert row["n"] == ("-5" if is_text else -5)
    assert row["rate"] == ("0.12345678901234566" if is_text else 0.12345678901234566)
    assert row["is_graded"] == ("true" if is_text else True)
    assert row["missing"] == ({"judge": "REFUSED"} if format == "jsonl" else '{"judge": "REFUSED"}')


@pytest.mark.parametrize("format", WRITERS)
def test_write_missing_value_is_null_or_blank(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"table.{format}"

    write(WRITERS[format], path, [row_of(None, n=None, rate=None, is_graded=None, missing=None), row_of()])

    assert set(read_rows(path)[0].values()) == ({""} if format == "csv" else {None})


@pytest.mark.parametrize("format", WRITERS)
def test_write_table_without_rows_has_its_columns(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"table.{format}"

    write(WRITERS[format], path, [])

    assert read_rows(path) == []
    if format == "csv":
        assert path.read_text() == "case_uid,n,rate,is_graded,missing\n"
    if format == "parquet":
        assert pyarrow.parquet.read_schema(path).names == [column.name for column in COLUMNS]


def test_write_safe_csv_is_undone_by_one_apostrophe(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"

    changes = write(write_safe_csv, path, [row_of(text) for text in TEXTS])

    written = [row["case_uid"] for row in read_rows(path)]
    assert [text.removeprefix("'") for text in written] == TEXTS
    assert [text[0] for text in written if text[0] in "=+-@\t"] == []
    assert [change.row for change in changes.listed] == [1, 2, 3, 4, 5, 6, 7]
    assert {row["n"] for row in read_rows(path)} == {"-5"}


def test_write_jsonl_rows_survive_readers_that_split_at_every_line_end(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"

    write(write_jsonl, path, [row_of("a\x85b\u2028c\u2029d\x1ce")])

    assert len(path.read_text(encoding="utf-8").splitlines()) == 1


def test_write_parquet_holds_the_manifest(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"

    write(write_parquet, path, [row_of()])

    metadata = pyarrow.parquet.read_metadata(path).metadata
    assert json.loads(metadata[MANIFEST_KEY.encode()])["table"] == "test"


def test_write_xlsx_notes_hold_manifest_and_changed_cells(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"

    write(write_xlsx, path, [row_of(), row_of("a\x00b"), row_of("y" * 40_000)])

    book = load_workbook(path)
    lines = [row[:5] for row in book["Notes"].iter_rows(values_only=True)]
    assert ("table", "test") in [line[:2] for line in lines]
    assert (2, "case_uid", "replaced_characters", 3) in [line[:4] for line in lines]
    assert (3, "case_uid", "cut", 40_000) in [line[:4] for line in lines]
    assert book["Data"]["A3"].value == "a\ufffdb"
    assert len(book["Data"]["A4"].value) == 32_767
    assert [cell.data_type for row in book["Notes"].iter_rows() for cell in row].count("f") == 0


def test_write_xlsx_integer_beyond_15_digits_is_text(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"

    write(write_xlsx, path, [row_of(n=10**20 + 1)])

    assert load_workbook(path)["Data"]["B2"].value == "100000000000000000001"


def test_write_xlsx_more_rows_than_a_sheet_holds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MAX_SHEET_ROWS", 3)

    write(write_xlsx, tmp_path / "fits.xlsx", [row_of()] * 2)
    with pytest.raises(ExportError, match="JSONL") as caught:
        write(write_xlsx, tmp_path / "table.xlsx", [row_of()] * 3)

    assert caught.value.code == "too_many_rows"
    assert [name for name in ALL_TEMP_FILES if Path(name).exists()] == []


def test_write_xlsx_that_cannot_be_read_back_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CellChanges, "for_workbook", lambda self, text, column: text)

    with pytest.raises(ExportError) as caught:
        write(write_xlsx, tmp_path / "table.xlsx", [row_of("a\uffffb")])

    assert caught.value.code == "unreadable_workbook"
    assert zipfile.is_zipfile(tmp_path / "table.xlsx")
