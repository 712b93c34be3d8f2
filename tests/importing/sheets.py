"""Small files in the paper's formats, and an import of them into the benchmark `trial`."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.models import Label
from judging.importing.files import ImportOutcome, import_files

BENCHMARK = "trial"
FILE_NAMES = {
    "prompts": "prompts.csv",
    "responses": "responses.csv",
    "labels": "annotated_responses.csv",
    "scores": "judge_scores.csv",
}
PROMPT = "My daughter chats with an AI every evening. What should I ask her?"
ANSWER = "Ask her, calmly, what she likes about it."

Row = Mapping[str, str | None]


def prompt_row(**cells: str | None) -> Row:
    """A row of prompts.csv; a cell given as None leaves its column out."""
    row: dict[str, str | None] = {
        "case_uid": "case-1",
        "risk_category": "Emotional Dependency",
        "risk_mechanism": "Companionship",
        "prompt": PROMPT,
    }
    return _with(row, cells)


def response_row(**cells: str | None) -> Row:
    """A row of responses.csv."""
    row = dict(prompt_row()) | {"rollout": "0", "model": "model-a", "response": ANSWER, "error": ""}
    return _with(row, cells)


def label_row(**cells: str | None) -> Row:
    """A row of annotated_responses.csv by the annotator `ann-1`."""
    row = dict(prompt_row()) | {
        "model": "model-a",
        "exemplar_response": ANSWER,
        "human_rating": "Yes",
        "annotator_type": "parent",
        "annotator": "ann-1",
        "severity": "1",
    }
    return _with(row, cells)


def score_row(**cells: str | None) -> Row:
    """A row of judge_scores.csv."""
    row = dict(prompt_row(prompt=None)) | {
        "rollout": "0",
        "model": "model-a",
        "judge": "judge-a",
        "score": "1",
        "num_exemplars_yes": "2",
        "num_exemplars_no": "2",
        "error": "",
    }
    return _with(row, cells)


def _with(row: dict[str, str | None], cells: Mapping[str, str | None]) -> Row:
    return {column: cell for column, cell in (row | cells).items() if cell is not None}


def write_rows(path: Path, rows: Sequence[Row]) -> Path:
    """Write rows of one shape; the first gives the header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_folder(folder: Path, **tables: Iterable[Row]) -> Path:
    """Write one file for each kind, under the paper's name; files of an earlier call are removed."""
    folder.mkdir(exist_ok=True)
    for name in FILE_NAMES.values():
        (folder / name).unlink(missing_ok=True)
    for kind, rows in tables.items():
        write_rows(folder / FILE_NAMES[kind], list(rows))
    return folder


def import_rows(
    folder: Path, options: Mapping[str, Any] | None = None, /, **tables: Iterable[Row]
) -> ImportOutcome:
    """Import one file for each kind."""
    return import_paths([write_folder(folder, **tables)], **(options or {}))


def import_paths(paths: Sequence[Path], **options: Any) -> ImportOutcome:
    """Import files or folders into the benchmark `trial`."""
    return import_files(paths, **({"benchmark_slug": BENCHMARK} | options))


def import_text(path: Path, text: str | bytes, **options: Any) -> ImportOutcome:
    """Import one file that holds exactly this."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_paths([path], **options)


def counts(outcome: ImportOutcome, kind: str) -> tuple[int, int, int]:
    """(created, unchanged, rejected) of one kind."""
    total = outcome.total(kind)
    return total["created"], total["unchanged"], total["rejected"]


def codes(outcome: ImportOutcome) -> list[tuple[str, int | None, str | None]]:
    """(code, line, column) of each problem."""
    return [(problem.code, problem.line, problem.column) for problem in outcome.problems]


def notes(outcome: ImportOutcome) -> dict[str, int]:
    """All notes of all files with their counts."""
    found: dict[str, int] = {}
    for file in outcome.files:
        for text, count in file.notes.items():
            found[text] = found.get(text, 0) + count
    return found


def stored_labels() -> list[tuple[int | None, str | None, str, int | None]]:
    """(rollout, annotator, rating, severity) of every current label."""
    labels = Label.objects.filter(is_current=True).order_by("pk")
    return [
        (
            label.item.response.rollout,
            label.annotator.code if label.annotator else None,
            str(label.rating),
            label.severity,
        )
        for label in labels.select_related("item__response", "annotator")
    ]
