"""Rows into text and Parquet files. Nothing but what a format cannot hold is changed."""

import csv
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from judging.exports.cells import CellChanges
from judging.exports.columns import Column, Flat, Kind, Row, Table, Value

Notes = Callable[[], dict[str, Any]]

PARQUET_BATCH = 1000
MANIFEST_KEY = "carebench_manifest"
# Legal inside JSON, but readers that split at every line end would break the row.
LINE_BREAKS_IN_JSON = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def write_exact_csv(table: Table, path: Path, *, changes: CellChanges, notes: Notes) -> None:
    """Comma-separated UTF-8; every text as it is stored."""
    _write_csv(table, path, changes, encode=changes.storable)


def write_safe_csv(table: Table, path: Path, *, changes: CellChanges, notes: Notes) -> None:
    """As `write_exact_csv`, with texts that a spreadsheet program would run prefixed and listed."""

    def encode(text: str, column: str) -> str:
        return changes.spreadsheet_safe(changes.storable(text, column), column)

    _write_csv(table, path, changes, encode=encode)


def write_jsonl(table: Table, path: Path, *, changes: CellChanges, notes: Notes) -> None:
    """One JSON object a line; missing is null, numbers have all their digits."""
    names = [column.name for column in table.columns]
    with path.open("x", encoding="utf-8", newline="\n") as file:
        for row in _numbered(table, changes):
            values = [
                changes.storable(value, column.name) if isinstance(value, str) else value
                for column, value in zip(table.columns, row, strict=True)
            ]
            line = json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, allow_nan=False)
            file.write(line.translate(LINE_BREAKS_IN_JSON) + "\n")


def write_parquet(table: Table, path: Path, *, changes: CellChanges, notes: Notes) -> None:
    """Typed columns; JSON values as text. The manifest is in the file's own metadata."""
    import pyarrow
    from pyarrow import parquet

    types = {
        Kind.TEXT: pyarrow.string(),
        Kind.INTEGER: pyarrow.int64(),
        Kind.NUMBER: pyarrow.float64(),
        Kind.BOOLEAN: pyarrow.bool_(),
        Kind.JSON: pyarrow.string(),
    }
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in table.columns])
    rows = _numbered(table, changes)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := [_flat_row(table.columns, row, changes) for row in islice(rows, PARQUET_BATCH)]:
            columns = zip(*batch, strict=True)
            arrays = [
                pyarrow.array(values, type=field.type) for values, field in zip(columns, schema, strict=True)
            ]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
        writer.add_key_value_metadata({MANIFEST_KEY: json.dumps(notes(), ensure_ascii=False)})


def text_of(value: Flat) -> str:
    """A value as the text of a cell: blank for missing, numbers with all their digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _write_csv(table: Table, path: Path, changes: CellChanges, *, encode: Callable[[str, str], str]) -> None:
    # CRLF makes the csv module quote a cell with either line end in it, so that both survive.
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow([encode(column.name, column.name) for column in table.columns])
        for row in _numbered(table, changes):
            writer.writerow(
                [_csv_cell(column, value, encode) for column, value in zip(table.columns, row, strict=True)]
            )


def _csv_cell(column: Column, value: Value, encode: Callable[[str, str], str]) -> str:
    flat = column.flatten(value)
    return encode(flat, column.name) if isinstance(flat, str) else text_of(flat)


def _flat_row(columns: tuple[Column, ...], row: Row, changes: CellChanges) -> list[Flat]:
    flat = [column.flatten(value) for column, value in zip(columns, row, strict=True)]
    return [
        changes.storable(value, column.name) if isinstance(value, str) else value
        for column, value in zip(columns, flat, strict=True)
    ]


def _numbered(table: Table, changes: CellChanges) -> Iterator[Row]:
    for changes.row, row in enumerate(table.rows, start=1):
        yield row
