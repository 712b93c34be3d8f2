"""Exported files read back, each by the library that its readers would use."""

import csv
import json
from collections.abc import Callable
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow.parquet
from openpyxl import load_workbook

from annotation.models import Benchmark
from judging.exports.exporting import ExportOutcome, export_table
from judging.exports.requests import ExportRequest


def export(
    benchmark: Benchmark,
    table: str,
    format: str,
    folder: Path,
    *,
    on_progress: Callable[[int], None] | None = None,
    **choices: Any,
) -> ExportOutcome:
    """Export into `folder` under the table's name; `choices` are those of `ExportRequest`."""
    request = ExportRequest(table=table, format=format, **choices)
    return export_table(benchmark, request, out=folder / f"{table}.{format}", on_progress=on_progress)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of an exported file of any format, by column."""
    return READERS[path.suffix](path)


def _read_csv(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _read_xlsx(path: Path) -> list[dict[str, Any]]:
    workbook = load_workbook(path, read_only=True)
    header, *rows = workbook["Data"].iter_rows(values_only=True)
    # Blank cells at the end of a row are not in the file.
    return [dict(zip_longest(header, row)) for row in rows]


def _read_parquet(path: Path) -> list[dict[str, Any]]:
    return pyarrow.parquet.read_table(path).to_pylist()


READERS = {".csv": _read_csv, ".jsonl": _read_jsonl, ".xlsx": _read_xlsx, ".parquet": _read_parquet}
