"""`import_files`: plan every file, then store all of it or nothing."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from annotation.audit import record_event
from annotation.importing.content import Content, load_content
from annotation.importing.outcome import FileOutcome, Problem
from annotation.importing.planning import (
    LabelPlan,
    load_label_plan,
    plan_labels,
    plan_prompts,
    plan_responses,
)
from annotation.importing.tables import FileRefused, read_columns
from annotation.importing.writing import write_content, write_labels
from annotation.models import Account, Benchmark
from judging.errors import Conflict, DomainError
from judging.importing.scores import ScorePlan, load_score_plan, plan_scores
from judging.models import Judge
from judging.passes import imported_pass
from judging.verdicts.imported import ImportedVerdict, record_imported

KINDS = ("prompts", "responses", "labels", "scores")
KIND_OF_FILE = {
    "prompts.csv": "prompts",
    "responses.csv": "responses",
    "annotated_responses.csv": "labels",
    "judge_scores.csv": "scores",
}
# Told from its columns when a single file has another name; the most telling column first.
KIND_OF_COLUMN = (
    ("human_rating", "labels"),
    ("score", "scores"),
    ("response", "responses"),
    ("prompt", "prompts"),
)
IMPORTED_PASS_NAME = "imported"


@dataclass(frozen=True)
class BenchmarkNotices:
    """What a benchmark's exports must carry; None leaves a stored value as it is."""

    licence: str | None = None
    attribution: str | None = None
    canary: str | None = None


@dataclass
class ImportOutcome:
    """What an import did, or would do. `is_stored` says which."""

    is_dry_run: bool
    files: list[FileOutcome] = field(default_factory=list)
    new_judges: list[str] = field(default_factory=list)
    new_models: list[str] = field(default_factory=list)
    is_stored: bool = False

    @property
    def problems(self) -> list[Problem]:
        return [problem for file in self.files for problem in file.problems]

    def total(self, kind: str) -> dict[str, int]:
        """Created, unchanged and rejected rows over all files of one kind."""
        files = [file for file in self.files if file.kind == kind]
        return {
            name: sum(getattr(file, name) for file in files) for name in ("created", "unchanged", "rejected")
        }

    def to_json(self) -> dict[str, Any]:
        """The document of `import_files --json`."""
        kinds = [kind for kind in KINDS if any(file.kind == kind for file in self.files)]
        return {
            "dry_run": self.is_dry_run,
            "stored": self.is_stored,
            "files": [file.to_json() for file in self.files],
            "totals": {kind: self.total(kind) for kind in kinds},
            "new_judges": self.new_judges,
            "new_models": self.new_models,
            "errors": [problem.to_json() for problem in self.problems],
        }


@dataclass
class _Plan:
    content: Content
    labels: LabelPlan
    scores: ScorePlan


def import_files(
    paths: Sequence[Path],
    *,
    benchmark_slug: str,
    actor: Account | None = None,
    is_dry_run: bool = False,
    skips_bad_rows: bool = False,
    pass_name: str = IMPORTED_PASS_NAME,
    notices: BenchmarkNotices | None = None,
    is_simulated: bool = False,
    encoding: str = "utf-8",
) -> ImportOutcome:
    """Read the files and store all rows, or nothing if any row is refused.

    Args:
        paths: files, or folders whose files of the paper's names are taken.
        benchmark_slug: the benchmark to add to; made if it does not exist.
        actor: who imports, for the audit; None for a command.
        is_dry_run: plan and count only.
        skips_bad_rows: store the good rows although others are refused; a file that cannot be
            read as a whole still stops everything.
        pass_name: the finished pass that judge scores go to.
        notices: licence, attribution and canary of the benchmark.
        is_simulated: mark a new benchmark as simulated.
        encoding: encoding of all files.

    Returns:
        Counts and problems of every file; `is_stored` is False when nothing was stored.

    Raises:
        DomainError: no such path, no usable benchmark name, or another import ran meanwhile.
    """
    benchmark = _find_benchmark(benchmark_slug, is_simulated=is_simulated)
    files = _find_files(paths, encoding=encoding)
    outcome = ImportOutcome(is_dry_run=is_dry_run)
    plan = _make_plan(files, benchmark, outcome, pass_name=pass_name, encoding=encoding)
    has_file_problem = any(problem.line is None for problem in outcome.problems)
    if is_dry_run or has_file_problem or (outcome.problems and not skips_bad_rows):
        return outcome
    try:
        with transaction.atomic():
            _store(plan, outcome, actor=actor, pass_name=pass_name, notices=notices or BenchmarkNotices())
    except IntegrityError as error:
        raise Conflict(
            "Another import stored some of these rows meanwhile; nothing of this one was stored. Import again: "
            "rows that are there already count as unchanged.",
            code="import_conflict",
        ) from error
    outcome.is_stored = True
    return outcome


def _find_benchmark(slug: str, *, is_simulated: bool) -> Benchmark:
    found = Benchmark.objects.filter(slug=slug).first()
    if found is not None:
        return found
    if (
        not slug
        or len(slug) > 64
        or not all(char.isascii() and (char.isalnum() or char in "-_") for char in slug)
    ):
        raise DomainError(
            f"{slug[:80]!r} cannot name a benchmark: expected 1 to 64 letters, digits, - or _. Choose another name.",
            code="bad_benchmark_name",
        )
    return Benchmark(slug=slug, name=slug, is_simulated=is_simulated)


def _find_files(paths: Sequence[Path], *, encoding: str) -> list[tuple[Path, str | None]]:
    found: list[tuple[Path, str | None]] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                child for child in path.iterdir() if child.is_file() and not child.name.startswith(".")
            )
            found += [(child, KIND_OF_FILE.get(child.name)) for child in inside]
        elif path.is_file():
            found.append((path, KIND_OF_FILE.get(path.name) or _kind_by_columns(path, encoding=encoding)))
        else:
            raise DomainError(f"There is no file or folder {path}. Check the path.", code="no_such_file")
    if not any(kind for _, kind in found):
        raise DomainError(
            f"None of the files has a name that is read: expected {', '.join(KIND_OF_FILE)}. Rename the files.",
            code="no_known_file",
        )
    return found


def _kind_by_columns(path: Path, *, encoding: str) -> str:
    try:
        columns = read_columns(path, encoding=encoding)
    except FileRefused as refusal:
        raise DomainError(f"{path.name}: {refusal.message}", code=refusal.code) from refusal
    for column, kind in KIND_OF_COLUMN:
        if column in columns:
            return kind
    raise DomainError(
        f"{path.name} is none of the known tables. Found columns: {', '.join(columns)[:300]}. "
        f"Expected one of: {', '.join(column for column, _ in KIND_OF_COLUMN)}.",
        code="unknown_table",
    )


def _make_plan(
    files: Sequence[tuple[Path, str | None]],
    benchmark: Benchmark,
    outcome: ImportOutcome,
    *,
    pass_name: str,
    encoding: str,
) -> _Plan:
    content = load_content(benchmark)
    labels = load_label_plan(content)
    scores = load_score_plan(content, pass_name=pass_name)
    readers = {
        "prompts": lambda path: plan_prompts(path, content, encoding=encoding),
        "responses": lambda path: plan_responses(path, content, encoding=encoding),
        "labels": lambda path: plan_labels(path, content, labels, encoding=encoding),
        "scores": lambda path: plan_scores(path, content, scores, encoding=encoding),
    }
    # Rows of later kinds join rows of earlier ones, whatever the order of the files.
    for kind in KINDS:
        outcome.files += [readers[kind](path) for path, file_kind in files if file_kind == kind]
    for path, kind in files:
        if kind is None:
            ignored = FileOutcome(path=path.name, kind=None)
            ignored.note("ignored: not a name that is read")
            outcome.files.append(ignored)
    outcome.new_judges = list(scores.new_judge_slugs)
    outcome.new_models = [model.slug for model in content.new_models]
    return _Plan(content=content, labels=labels, scores=scores)


def _store(
    plan: _Plan, outcome: ImportOutcome, *, actor: Account | None, pass_name: str, notices: BenchmarkNotices
) -> None:
    benchmark = plan.content.benchmark
    for name in ("licence", "attribution", "canary"):
        if (value := getattr(notices, name)) is not None:
            setattr(benchmark, name, value)
    benchmark.save()
    write_content(plan.content)
    write_labels(plan.content, plan.labels)
    if plan.scores.new_scores:
        _store_scores(plan.scores, benchmark=benchmark, pass_name=pass_name)
    record_event(
        actor=actor,
        action="files.imported",
        subject=f"benchmark:{benchmark.slug}",
        totals={kind: outcome.total(kind) for kind in KINDS},
    )


def _store_scores(plan: ScorePlan, *, benchmark: Benchmark, pass_name: str) -> None:
    created = [Judge(slug=slug, short_name=slug[:50]) for slug in plan.new_judge_slugs]
    judges = plan.judges | {judge.slug: judge for judge in Judge.objects.bulk_create(created)}
    used = sorted({score.judge_slug for score in plan.new_scores})
    judge_pass = imported_pass(benchmark, name=pass_name, judges=[judges[slug] for slug in used])
    record_imported(
        judge_pass=judge_pass,
        verdicts=[
            ImportedVerdict(
                response_id=score.response.pk,
                judge_id=judges[score.judge_slug].pk,
                **asdict(score.reading),
            )
            for score in plan.new_scores
        ],
    )
