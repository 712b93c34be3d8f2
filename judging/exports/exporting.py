"""`export_table`: one table of one benchmark into one file, with its manifest beside it."""

import json
import os
import secrets
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotation.models import Benchmark
from judging.errors import ExportError
from judging.exports.cells import CellChanges
from judging.exports.columns import Row, Table
from judging.exports.manifest import count_benchmark, describe_file, describe_table
from judging.exports.requests import ExportRequest
from judging.exports.snapshot import consistent_snapshot
from judging.exports.tables import open_table
from judging.exports.workbook import write_xlsx
from judging.exports.writers import write_exact_csv, write_jsonl, write_parquet, write_safe_csv

EXACT, SPREADSHEET_SAFE = "exact", "spreadsheet-safe"
FLAVOURS = (EXACT, SPREADSHEET_SAFE)
FORMATS = ("csv", "jsonl", "xlsx", "parquet")
WRITERS: dict[tuple[str, str | None], Callable[..., None]] = {
    ("csv", EXACT): write_exact_csv,
    ("csv", SPREADSHEET_SAFE): write_safe_csv,
    ("jsonl", None): write_jsonl,
    ("xlsx", None): write_xlsx,
    ("parquet", None): write_parquet,
}
PROGRESS_STEP = 1000


@dataclass(frozen=True)
class ExportOutcome:
    """What was written, and where."""

    path: Path
    manifest_path: Path
    manifest: dict[str, Any]


def export_table(
    benchmark: Benchmark,
    request: ExportRequest,
    *,
    out: Path,
    on_progress: Callable[[int], None] | None = None,
) -> ExportOutcome:
    """Write a table from one snapshot of the database, blocking no label meanwhile.

    The file appears under its name only when it is whole; a failed export leaves nothing, and an
    earlier file as it was.

    Args:
        request: table, format, and what the rows follow from.
        out: the file; `OUT.manifest.json` goes beside it.
        on_progress: told the number of rows written so far, now and then.

    Raises:
        ExportError: unknown table, format or flavour; no pass where one is needed; no such folder;
            more rows than XLSX holds.
        RuleError: as `reports.build_report`.
        RuntimeError: called inside a transaction.
    """
    flavour, write = _choose_writer(request.format, request.flavour)
    if not out.parent.is_dir():
        raise ExportError(
            f"There is no folder {out.parent} to write into. Make it, or name another file.",
            code="no_such_folder",
        )
    changes = CellChanges()
    with _whole_or_nothing(out) as (draft, draft_manifest):
        with consistent_snapshot():
            created_at = timezone.now()
            benchmark = Benchmark.objects.get(pk=benchmark.pk)
            counts = count_benchmark(benchmark)
            opened = open_table(benchmark, request)
            counted = _CountedRows(opened, on_progress)

            def describe() -> dict[str, Any]:
                return describe_table(
                    opened,
                    name=request.table,
                    benchmark=benchmark,
                    format=request.format,
                    flavour=flavour,
                    n_rows=counted.n_rows,
                    counts=counts,
                    changes=changes,
                    created_at=created_at,
                )

            with closing(counted):
                write(replace(opened, rows=counted), draft, changes=changes, notes=describe)
        manifest = {"file": out.name, **describe_file(draft), **describe()}
        draft_manifest.write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return ExportOutcome(path=out, manifest_path=manifest_path_of(out), manifest=manifest)


def manifest_path_of(out: Path) -> Path:
    """Where the manifest of a file lies: beside it."""
    return out.with_name(f"{out.name}.manifest.json")


class _CountedRows:
    """The rows of a table, counted while they are read."""

    def __init__(self, table: Table, on_progress: Callable[[int], None] | None) -> None:
        self.table = table
        self.on_progress = on_progress
        self.n_rows = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self.table.rows:
            self.n_rows += 1
            if self.on_progress is not None and self.n_rows % PROGRESS_STEP == 0:
                self.on_progress(self.n_rows)
            yield row

    def close(self) -> None:
        """End a reading that broke off: a database cursor must be closed within its transaction."""
        if isinstance(self.table.rows, Generator):
            self.table.rows.close()


def _choose_writer(format: str, flavour: str | None) -> tuple[str | None, Callable[..., None]]:
    if format not in FORMATS:
        raise ExportError(
            f"There is no format {format[:80]!r}. Expected one of: {', '.join(FORMATS)}.",
            code="unknown_format",
        )
    if format == "csv" and flavour is None:
        flavour = EXACT
    if (format, flavour) not in WRITERS:
        raise ExportError(
            f"{format} cannot be written as {str(flavour)[:80]!r}. Only csv has flavours: "
            f"{', '.join(FLAVOURS)}.",
            code="unknown_flavour",
        )
    return flavour, WRITERS[format, flavour]


@contextmanager
def _whole_or_nothing(out: Path) -> Iterator[tuple[Path, Path]]:
    """Two paths to write to, which become the file and its manifest when all went well."""
    mark = secrets.token_hex(4)
    draft = out.with_name(f".{out.name}.{mark}.draft")
    draft_manifest = manifest_path_of(draft)
    try:
        yield draft, draft_manifest
        for path in (draft, draft_manifest):
            with path.open("rb") as file:
                os.fsync(file.fileno())
        draft.replace(out)
        draft_manifest.replace(manifest_path_of(out))
    finally:
        draft.unlink(missing_ok=True)
        draft_manifest.unlink(missing_ok=True)
