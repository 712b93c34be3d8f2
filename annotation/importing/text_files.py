"""A file as text: its encoding is checked, never guessed, and its line ends are kept."""

import codecs
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from annotation.importing.outcome import FileRefused

MAX_FILE_BYTES = 512 * 1024 * 1024
CHUNK_BYTES = 1024 * 1024
LINE_END = re.compile(r"\r\n|\r|\n")
# Lone surrogates are let through here, so that they become a problem of their row.
ERRORS = "surrogatepass"
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ZIP_MARK, OLE_MARK, GZIP_MARK = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b"


@dataclass(frozen=True)
class TextFile:
    """A file to be read: where it lies, what messages call it, and its encoding."""

    path: Path
    name: str
    encoding: str = "utf-8"


def check_text(file: TextFile) -> None:
    """Read `file` once and make sure that all of it is text in its encoding.

    Raises:
        FileRefused: it cannot be opened, is too large, no text, or in another encoding.
    """
    try:
        size = file.path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise FileRefused(
                "file_too_large",
                f"The file has {size:,} bytes; the limit is {MAX_FILE_BYTES:,}. Split it by rows and import "
                "the parts.",
            )
        _check_bytes(file)
    except OSError as error:
        raise FileRefused(
            "unreadable_file", f"The file cannot be opened ({error.strerror}). Check its permissions."
        ) from error


def lines_of(file: TextFile) -> Generator[str, None, None]:
    """The lines of a checked file with their own ends (LF, CRLF or CR), without a byte order mark."""
    with file.path.open(encoding=file.encoding, errors=ERRORS, newline="") as stream:
        yield next(stream, "").removeprefix("\ufeff")
        yield from stream


def _check_bytes(file: TextFile) -> None:
    decoder = _decoder_for(file.encoding)
    n_bytes = 0
    with file.path.open("rb") as stream:
        chunk = stream.read(CHUNK_BYTES)
        _refuse_marks(chunk, encoding=file.encoding)
        while True:
            # Bytes of a character that the last chunk left unfinished count in error.start.
            n_pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                place = n_bytes - n_pending + error.start
                raise _wrong_encoding(file, place=place, byte=error.object[error.start]) from error
            except UnicodeError as error:
                raise FileRefused(
                    "encoding",
                    f"The file is not {file.encoding}: {error}. Name its encoding.",
                ) from error
            if not chunk:
                return
            n_bytes += len(chunk)
            chunk = stream.read(CHUNK_BYTES)


def _decoder_for(encoding: str) -> codecs.IncrementalDecoder:
    try:
        # Codecs such as hex or zlib are no text encodings; str.encode refuses them.
        "a".encode(encoding)
        return codecs.getincrementaldecoder(encoding)(ERRORS)
    except (LookupError, UnicodeError) as error:
        raise FileRefused(
            "encoding", f"{encoding!r} is no known encoding; expected a name such as utf-8 or cp1252."
        ) from error


def _refuse_marks(head: bytes, *, encoding: str) -> None:
    if head.startswith((ZIP_MARK, OLE_MARK, GZIP_MARK)):
        raise FileRefused(
            "not_text",
            "The file is a spreadsheet or an archive, not delimited text. Save the sheet as CSV (UTF-8).",
        )
    if head.startswith(UTF_16_MARKS) and not encoding.lower().replace("_", "-").startswith("utf-16"):
        raise FileRefused(
            "encoding",
            f"The file begins with a UTF-16 mark; expected {encoding}. Save it as UTF-8, or name its "
            "encoding, utf-16.",
        )


def _wrong_encoding(file: TextFile, *, place: int, byte: int) -> FileRefused:
    with file.path.open("rb") as stream:
        before = stream.read(place).decode(file.encoding, errors="replace")
    line = len(LINE_END.findall(before)) + 1
    return FileRefused(
        "encoding",
        f"Byte {place} (line {line}) is 0x{byte:02x}, which is not {file.encoding}. Save the file as UTF-8, "
        "or name its encoding, for example cp1252.",
        line=line,
    )
