"""Which files an import reads, and which of the paper's four tables each one holds."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.importing.labels import LABEL_COLUMNS, OPTIONAL_LABEL_COLUMNS
from annotation.importing.outcome import FileRefused
from annotation.importing.planning import OPTIONAL_RESPONSE_COLUMNS, PROMPT_COLUMNS, RESPONSE_COLUMNS
from annotation.importing.tables import open_table
from annotation.importing.text_files import TextFile
from judging.errors import DomainError
from judging.importing.scores import SCORE_COLUMNS

# Rows of later kinds join rows of earlier ones, so files are read in this order.
KINDS = ("prompts", "responses", "labels", "scores")
KIND_OF_FILE = {
    "prompts.csv": "prompts",
    "responses.csv": "responses",
    "annotated_responses.csv": "labels",
    "judge_scores.csv": "scores",
}
# A file of another name is told by its columns; the most telling column first.
KIND_OF_COLUMN = {
    "human_rating": "labels",
    "score": "scores",
    "response": "responses",
    "prompt": "prompts",
}
KNOWN_COLUMNS = tuple(
    dict.fromkeys(
        (
            *RESPONSE_COLUMNS,
            *OPTIONAL_RESPONSE_COLUMNS,
            *LABEL_COLUMNS,
            *OPTIONAL_LABEL_COLUMNS,
            *SCORE_COLUMNS,
        )
    )
)
OTHER_FORMATS = {
    ".jsonl": "JSON Lines",
    ".json": "JSON",
    ".xlsx": "an Excel workbook",
    ".xls": "an Excel workbook",
    ".ods": "a spreadsheet",
    ".parquet": "Parquet",
    ".zip": "an archive",
    ".gz": "an archive",
}


@dataclass(frozen=True)
class Source:
    """One file: its table, or why it is not read. With neither it is ignored.

    `looks_like` names the table that an ignored file of a folder has the columns of.
    """

    file: TextFile
    kind: str | None
    refusal: FileRefused | None = None
    looks_like: str | None = None


def find_sources(paths: Sequence[Path], *, encoding: str) -> list[Source]:
    """The files of `paths`, in the order given, each once.

    Files that are named are read whatever they are called; of a folder's files only those of the
    paper's names, the others are ignored. Messages call a file by its name, by its path where two
    files share the name.

    Raises:
        DomainError: a path leads nowhere, or a folder holds none of the names.
    """
    found: dict[Path, tuple[Path, bool]] = {}
    for path in paths:
        if path.is_dir():
            for child in sorted(path.iterdir()):
                if child.is_file() and not child.name.startswith("."):
                    found.setdefault(child.resolve(), (child, False))
        elif path.is_file():
            found[path.resolve()] = (path, True)
        else:
            raise DomainError(f"There is no file or folder {path}. Check the path.", code="no_such_file")
    names = Counter(path.name for path, _ in found.values())
    sources = [
        _source_of(
            TextFile(
                path=path,
                name=_printable(path.name if names[path.name] == 1 else str(path)),
                encoding=encoding,
            ),
            is_named=is_named,
        )
        for path, is_named in found.values()
    ]
    if not any(source.kind or source.refusal for source in sources):
        raise DomainError(
            f"None of the files has a name that is read: expected {', '.join(KIND_OF_FILE)}. Rename the "
            "files, or name each of them.",
            code="no_known_file",
        )
    return sources


def _printable(name: str) -> str:
    """A file name as text; bytes of it that are no UTF-8 are shown as question marks."""
    return name.encode(errors="replace").decode()


def _source_of(file: TextFile, *, is_named: bool) -> Source:
    kind = KIND_OF_FILE.get(file.path.name)
    if kind is not None:
        return Source(file=file, kind=kind)
    if not is_named:
        return Source(file=file, kind=None, looks_like=_resemblance(file))
    other = OTHER_FORMATS.get(file.path.suffix.lower())
    if other is not None:
        refusal = FileRefused(
            "unsupported_format",
            f"{file.path.name} is {other}; only delimited text is read. Save it as CSV (UTF-8).",
        )
        return Source(file=file, kind=None, refusal=refusal)
    try:
        return Source(file=file, kind=_kind_by_columns(file))
    except FileRefused as refusal:
        return Source(file=file, kind=None, refusal=refusal)


def _resemblance(file: TextFile) -> str | None:
    if file.path.suffix.lower() != ".csv":
        return None
    try:
        return _kind_by_columns(file)
    except FileRefused:
        return None


def _kind_by_columns(file: TextFile) -> str:
    columns = open_table(file, known=KNOWN_COLUMNS).columns
    for column, kind in KIND_OF_COLUMN.items():
        if column in columns:
            return kind
    raise FileRefused(
        "unknown_table",
        f"The file is none of the four tables. Found columns: {', '.join(columns)[:300]}. Expected "
        f"{', '.join(PROMPT_COLUMNS)} and more; one of {', '.join(KIND_OF_COLUMN)} says which table it is.",
        line=1,
    )
