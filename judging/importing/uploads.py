"""Uploaded files that wait for a person's decision: staged, previewed, then imported or dropped.

An upload is a folder under `DATA_DIR/uploads` with a random name, the files and a note of how to
read them. It belongs to the account that sent it and is gone once imported, discarded or a day old.
"""

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.http import HttpRequest
from django.utils.text import get_valid_filename

from annotation.importing.text_files import MAX_FILE_BYTES
from annotation.models import Account
from judging.errors import DomainError, Gone
from judging.importing.files import BenchmarkNotices, ImportOutcome, import_files

MAX_FILES = 20
MAX_UPLOAD_BYTES = 2 * MAX_FILE_BYTES
FORM_FIELDS_ALLOWANCE = 1024 * 1024
MAX_NAME_LENGTH = 100
KEPT_SECONDS = 24 * 60 * 60
TOKEN = re.compile(r"[0-9a-f]{32}\Z")
NOTE_NAME = "upload.json"
FILES_FOLDER = "files"


class UploadTooLarge(DomainError):
    """More bytes at once than are taken."""

    code = "upload_too_large"

    def __init__(self, n_bytes: int) -> None:
        super().__init__(
            f"The files have {n_bytes:,} bytes together; the limit is {MAX_UPLOAD_BYTES:,}. "
            "Send them in parts, or use the import_files command on the server."
        )


@dataclass(frozen=True)
class Upload:
    """Staged files and how they are to be read."""

    token: str
    benchmark_slug: str
    encoding: str
    pass_name: str
    notices: BenchmarkNotices
    paths: tuple[Path, ...]


def let_files_in(request: HttpRequest) -> None:
    """Let this one request bring files, kept on disk while they are read. Call before anything reads it.

    Raises:
        UploadTooLarge: its body is larger than files and form can be.
    """
    n_bytes = int(request.META.get("CONTENT_LENGTH") or 0)
    if n_bytes > MAX_UPLOAD_BYTES + FORM_FIELDS_ALLOWANCE:
        raise UploadTooLarge(n_bytes)
    request.upload_handlers = [TemporaryFileUploadHandler(request)]


def stage_upload(
    files: Sequence[UploadedFile],
    *,
    owner: Account,
    benchmark_slug: str,
    encoding: str,
    pass_name: str,
    notices: BenchmarkNotices,
) -> Upload:
    """Keep uploaded files until their owner decides; uploads older than a day are removed first.

    Args:
        files: their names are made safe, and told apart when two are equal.
        owner: the only account that can find the upload again.
        benchmark_slug: the benchmark to import into; it need not exist.
        encoding: of all files.
        pass_name: the finished pass that judge scores go to.
        notices: licence, attribution and canary of the benchmark.

    Raises:
        DomainError: no file, too many, or too many bytes.
    """
    _remove_old_uploads()
    _check_size(files)
    token = secrets.token_hex(16)
    folder = _uploads_folder() / token
    (folder / FILES_FOLDER).mkdir(parents=True, mode=0o700)
    names = _safe_names(file.name or "" for file in files)
    for file, name in zip(files, names, strict=True):
        with (folder / FILES_FOLDER / name).open("wb") as stored:
            for chunk in file.chunks():
                stored.write(chunk)
    note = {
        "owner": owner.pk,
        "benchmark_slug": benchmark_slug,
        "encoding": encoding,
        "pass_name": pass_name,
        "notices": asdict(notices),
        "names": names,
    }
    (folder / NOTE_NAME).write_text(json.dumps(note), encoding="utf-8")
    return find_upload(token, owner=owner)


def find_upload(token: str, *, owner: Account) -> Upload:
    """The staged upload of this account.

    Raises:
        Gone: it was imported, discarded, is over a day old, or belongs to someone else.
    """
    folder = _uploads_folder() / token
    note = _read_note(folder) if TOKEN.match(token) else None
    if note is None or note["owner"] != owner.pk:
        raise Gone(
            "This upload is no longer here: it was imported, discarded, or is more than a day old. "
            "Choose the files again on the Data page.",
            code="upload_gone",
        )
    return Upload(
        token=token,
        benchmark_slug=note["benchmark_slug"],
        encoding=note["encoding"],
        pass_name=note["pass_name"],
        notices=BenchmarkNotices(**note["notices"]),
        paths=tuple(folder / FILES_FOLDER / name for name in note["names"]),
    )


def preview_upload(upload: Upload) -> ImportOutcome:
    """What importing these files would do; nothing is stored.

    Raises:
        DomainError: as `import_files`.
    """
    return import_files(
        upload.paths,
        benchmark_slug=upload.benchmark_slug,
        is_dry_run=True,
        pass_name=upload.pass_name,
        encoding=upload.encoding,
    )


def import_upload(upload: Upload, *, actor: Account, skips_bad_rows: bool) -> ImportOutcome:
    """Import the staged files, and remove them once they are stored.

    Returns:
        As `import_files`; when rows are refused and not to be skipped, nothing is stored and the
        upload stays.

    Raises:
        DomainError: as `import_files`.
    """
    outcome = import_files(
        upload.paths,
        benchmark_slug=upload.benchmark_slug,
        actor=actor,
        skips_bad_rows=skips_bad_rows,
        pass_name=upload.pass_name,
        notices=upload.notices,
        encoding=upload.encoding,
    )
    if outcome.is_stored:
        discard_upload(upload)
    return outcome


def discard_upload(upload: Upload) -> None:
    """Remove the files; harmless when another tab did so already."""
    shutil.rmtree(_uploads_folder() / upload.token, ignore_errors=True)


def _uploads_folder() -> Path:
    return Path(settings.DATA_DIR) / "uploads"


def _read_note(folder: Path) -> dict[str, Any] | None:
    """What was noted beside the files; None when there is no such upload, or it is too old."""
    note = folder / NOTE_NAME
    try:
        if time.time() - note.stat().st_mtime > KEPT_SECONDS:
            return None
        found: dict[str, Any] = json.loads(note.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found


def _remove_old_uploads() -> None:
    if not _uploads_folder().is_dir():
        return
    for folder in _uploads_folder().iterdir():
        # The folder's own time: an upload that broke off has no note.
        if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _check_size(files: Sequence[UploadedFile]) -> None:
    if not files:
        raise DomainError("No file was chosen. Choose one or more CSV files.", code="no_file")
    if len(files) > MAX_FILES:
        raise DomainError(
            f"{len(files)} files were chosen; at most {MAX_FILES} are read at once. Send them in parts.",
            code="too_many_files",
        )
    n_bytes = sum(file.size or 0 for file in files)
    if n_bytes > MAX_UPLOAD_BYTES:
        raise UploadTooLarge(n_bytes)


def _safe_names(given: Iterable[str]) -> list[str]:
    """Names without folders or odd characters; the second `a.csv` becomes `a-2.csv`."""
    names: list[str] = []
    for name in given:
        try:
            safe = get_valid_filename(Path(name).name).lstrip(".")[-MAX_NAME_LENGTH:]
        except SuspiciousFileOperation:
            safe = ""
        stem, dot, ending = (safe or "file.csv").rpartition(".")
        stem = stem if dot else ending
        suffix = f".{ending}" if dot else ""
        candidate, n = f"{stem}{suffix}", 1
        while candidate in names:
            n += 1
            candidate = f"{stem}-{n}{suffix}"
        names.append(candidate)
    return names
