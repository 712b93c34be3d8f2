"""Import the paper's CSV files into a benchmark."""

import argparse
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.importing.files import IMPORTED_PASS_NAME, BenchmarkNotices, ImportOutcome, import_files

MAX_PRINTED_PROBLEMS = 50


class Command(BaseCommand):
    help = "Import prompts, responses, labels and judge scores. All rows or none, unless --skip-bad-rows."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders")
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="count and check, store nothing")
        parser.add_argument("--skip-bad-rows", action="store_true", help="store the good rows all the same")
        parser.add_argument("--pass-name", default=IMPORTED_PASS_NAME, help="pass that judge scores go to")
        parser.add_argument("--licence", help="licence notice of the benchmark, carried by every export")
        parser.add_argument("--attribution", help="attribution of the benchmark, carried by every export")
        parser.add_argument("--canary", help="canary text of the benchmark, carried by every export")
        parser.add_argument("--encoding", default="utf-8", help="encoding of the files (default utf-8)")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            outcome = import_files(
                options["paths"],
                benchmark_slug=options["benchmark"],
                is_dry_run=options["dry_run"],
                skips_bad_rows=options["skip_bad_rows"],
                pass_name=options["pass_name"],
                notices=BenchmarkNotices(
                    licence=options["licence"], attribution=options["attribution"], canary=options["canary"]
                ),
                encoding=options["encoding"],
                report_progress=self._report if self.stderr.isatty() else None,
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps(outcome.to_json(), ensure_ascii=False, indent=2))
        else:
            self._print(outcome)
        if outcome.problems:
            raise SystemExit(1)

    def _report(self, message: str) -> None:
        self.stderr.write(f"{message} ...", self.style.NOTICE)

    def _print(self, outcome: ImportOutcome) -> None:
        for file in outcome.files:
            if file.kind is None:
                words = ["not read"] if file.problems else list(file.notes)
                self.stdout.write(f"{file.path}: {'; '.join(words)}")
                continue
            implied = "".join(
                f", {count} {name} made" for name, count in sorted(file.implied.items()) if count
            )
            self.stdout.write(
                f"{file.path} ({file.kind}): {file.rows} rows, {file.created} new, {file.unchanged} "
                f"unchanged, {file.rejected} refused, {file.normalised} normalised{implied}"
            )
            for note, count in file.notes.items():
                self.stdout.write(f"  note: {note} ({count})")
        for problem in outcome.problems[:MAX_PRINTED_PROBLEMS]:
            place = problem.file + (f" line {problem.line}" if problem.line else "")
            self.stderr.write(f"{place}: {problem.message} [{problem.code}]")
        if (n_more := len(outcome.problems) - MAX_PRINTED_PROBLEMS) > 0:
            self.stderr.write(f"... and {n_more} more problems; --json lists all")
        if outcome.is_stored:
            self.stdout.write("Stored.")
        elif outcome.is_dry_run:
            self.stdout.write("Dry run: nothing was stored.")
        elif any(problem.is_whole_file for problem in outcome.problems):
            self.stdout.write("Nothing was stored. Mend the files above and import again.")
        else:
            self.stdout.write(
                "Nothing was stored. Mend the rows above, or use --skip-bad-rows for the good ones."
            )
