"""An export as a download: a temporary file that is gone when its last reader closes it."""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from annotation.models import Benchmark
from judging.exports.exporting import ExportOutcome, export_table
from judging.exports.requests import ExportRequest

CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
ZIP_TYPE = "application/zip"


@dataclass(frozen=True)
class Download:
    """An open file with what a reply needs to know of it. The caller closes the file."""

    file: IO[bytes]
    name: str
    content_type: str
    manifest: dict[str, Any]


def open_download(benchmark: Benchmark, request: ExportRequest) -> Download:
    """The table alone. Canary, licence and attribution are in every row of it, in every format.

    Raises:
        ExportError, RuleError: as `export_table`.
    """
    with _exported(benchmark, request) as outcome:
        return Download(
            file=outcome.path.open("rb"),
            name=outcome.path.name,
            content_type=CONTENT_TYPES[request.format],
            manifest=outcome.manifest,
        )


def open_bundle(benchmark: Benchmark, request: ExportRequest) -> Download:
    """A zip of the table and its manifest.

    Raises:
        ExportError, RuleError: as `export_table`.
    """
    with _exported(benchmark, request) as outcome:
        path = outcome.path.with_suffix(".zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member in (outcome.path, outcome.manifest_path):
                archive.write(member, member.name)
        return Download(
            file=path.open("rb"), name=path.name, content_type=ZIP_TYPE, manifest=outcome.manifest
        )


@contextmanager
def _exported(benchmark: Benchmark, request: ExportRequest) -> Iterator[ExportOutcome]:
    name = f"{benchmark.slug}-{_file_word(request.table)}.{_file_word(request.format)}"
    # An open file outlives its name, so that nothing is left to be swept up later.
    with tempfile.TemporaryDirectory(prefix="carebench-export-") as folder:
        yield export_table(benchmark, request, out=Path(folder) / name)


def _file_word(text: str) -> str:
    """A table or format that may be unknown yet, as part of a file name."""
    return "".join(char for char in text[:20] if char.isalnum() and char.isascii()) or "file"
