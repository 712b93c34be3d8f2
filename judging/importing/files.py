"""`import_files`: plan every file, then store all of it or nothing."""

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction

from annotation.choices import Rating
from annotation.importing.content import load_content
from annotation.importing.labels import LabelPlan, load_label_plan, plan_labels
from annotation.importing.outcome import FileOutcome, Problem
from annotation.importing.planning import plan_prompts, plan_responses
from annotation.importing.tables import UNSTORABLE
from annotation.importing.text_files import TextFile
from annotation.models import Account, Benchmark
from judging.errors import DomainError
from judging.importing.scores import ScorePlan, load_score_plan, plan_scores
from judging.importing.sources import KINDS, Source, find_sources
from judging.importing.storing import ImportPlan, OtherImport, find_last_import, store_plan
from judging.stats.aggregation import is_inconsistent
from judging.stats.rules import DEFAULT_CUT

IMPORTED_PASS_NAME = "imported"
BENCHMARK_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
MAX_PASS_NAME_LENGTH = 100
MAX_NOTICE_LENGTHS = {"licence": 200, "attribution": 20_000, "canary": 200}


@dataclass(frozen=True)
class BenchmarkNotices:
    """What a benchmark's exports must carry; None or blank leaves a stored value as it is."""

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
    report_progress: Callable[[str], None] | None = None,
) -> ImportOutcome:
    """Read the files and store all rows, or nothing if any row is refused.

    Files are read outside the transaction, which then only writes; an import of the same benchmark
    that came in between makes this one store nothing.

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
        report_progress: told in a few words what begins now.

    Returns:
        Counts and problems of every file; `is_stored` is False when nothing was stored.

    Raises:
        OtherImport: another import of the benchmark was stored meanwhile.
        DomainError: no such path, a name or notice that cannot be stored, or a pass that was judged here.
    """
    given_notices = _check_notices(notices or BenchmarkNotices())
    pass_name = _check_pass_name(pass_name)
    benchmark = _find_benchmark(benchmark_slug, is_simulated=is_simulated)
    sources = find_sources(paths, encoding=encoding)
    outcome = ImportOutcome(is_dry_run=is_dry_run)
    report = report_progress or _keep_quiet
    plan = _make_plan(sources, benchmark, outcome, pass_name=pass_name, report=report)
    is_stopped = any(problem.is_whole_file or not skips_bad_rows for problem in outcome.problems)
    if is_dry_run or is_stopped:
        return outcome
    report("storing")
    try:
        with transaction.atomic():
            store_plan(
                plan,
                actor=actor,
                pass_name=pass_name,
                notices=given_notices,
                totals={kind: outcome.total(kind) for kind in KINDS},
            )
    except IntegrityError as error:
        raise OtherImport from error
    outcome.is_stored = True
    return outcome


def _check_notices(notices: BenchmarkNotices) -> dict[str, str]:
    given: dict[str, str] = {}
    for name, value in asdict(notices).items():
        text = (value or "").strip()
        limit = MAX_NOTICE_LENGTHS[name]
        if len(text) > limit or UNSTORABLE.search(text):
            raise DomainError(
                f"The {name} has {len(text):,} characters; expected plain text of at most {limit:,}. "
                "Shorten it.",
                code="bad_notice",
            )
        if text:
            given[name] = text
    return given


def _check_pass_name(name: str) -> str:
    text = name.strip()
    if not text or len(text) > MAX_PASS_NAME_LENGTH or UNSTORABLE.search(text):
        raise DomainError(
            f"{text[:80]!r} cannot name a pass: expected 1 to {MAX_PASS_NAME_LENGTH} characters. Choose "
            "another name.",
            code="bad_pass_name",
        )
    return text


def _find_benchmark(slug: str, *, is_simulated: bool) -> Benchmark:
    found = Benchmark.objects.filter(slug=slug).first()
    if found is not None:
        return found
    if not BENCHMARK_NAME.match(slug):
        raise DomainError(
            f"{slug[:80]!r} cannot name a benchmark: expected 1 to 64 letters, digits, - or _. Choose "
            "another name.",
            code="bad_benchmark_name",
        )
    return Benchmark(slug=slug, name=slug, is_simulated=is_simulated)


def _keep_quiet(message: str) -> None:
    """Progress that nobody asked for."""


def _make_plan(
    sources: Sequence[Source],
    benchmark: Benchmark,
    outcome: ImportOutcome,
    *,
    pass_name: str,
    report: Callable[[str], None],
) -> ImportPlan:
    # Before anything else is read, so that an import which ends meanwhile is noticed.
    last_import = find_last_import(benchmark)
    files = {kind: [source.file for source in sources if source.kind == kind] for kind in KINDS}

    def read(kind: str, plan_file: Callable[[TextFile], FileOutcome]) -> None:
        for file in files[kind]:
            report(f"reading {file.name}")
            outcome.files.append(plan_file(file))

    content = load_content(benchmark)
    read("prompts", lambda file: plan_prompts(file, content))
    read("responses", lambda file: plan_responses(file, content))
    content.place_labelled_texts()
    labels = load_label_plan(content) if files["labels"] else LabelPlan()
    read("labels", lambda file: plan_labels(file, content, labels))
    scores = load_score_plan(content, pass_name=pass_name) if files["scores"] else ScorePlan()
    read("scores", lambda file: plan_scores(file, content, scores))
    outcome.files += [_unread(source) for source in sources if source.kind is None]
    for file in outcome.files:
        _note_inconsistent(file)
    outcome.new_judges = list(scores.new_judge_slugs)
    outcome.new_models = [model.slug for model in content.new_models]
    return ImportPlan(content=content, labels=labels, scores=scores, last_import=last_import)


def _unread(source: Source) -> FileOutcome:
    outcome = FileOutcome(path=source.file.name, kind=None)
    if source.refusal is not None:
        outcome.refuse_file(source.refusal)
    elif source.looks_like is not None:
        outcome.note(
            f"ignored: not a name that is read, though its columns are those of {source.looks_like}; "
            "give the file itself to read it"
        )
    else:
        outcome.note("ignored: not a name that is read")
    return outcome


def _note_inconsistent(outcome: FileOutcome) -> None:
    n_inconsistent = sum(
        count
        for (rating, severity), count in outcome.answers.items()
        if is_inconsistent(is_unacceptable=rating == Rating.UNACCEPTABLE, severity=severity)
    )
    if n_inconsistent:
        outcome.note(
            f"rating and severity disagree (from {DEFAULT_CUT} on, a severity reads as Unacceptable); "
            "both are kept",
            count=n_inconsistent,
        )
