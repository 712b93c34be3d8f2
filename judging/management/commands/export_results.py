"""Write one table of a benchmark into a file."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.exports.exporting import EXACT, FORMATS, SPREADSHEET_SAFE, export_table
from judging.exports.requests import ExportRequest
from judging.exports.tables import TABLES
from judging.selectors import find_benchmark, find_campaign, find_pass


class Command(BaseCommand):
    help = "Write a table of a benchmark into a file, with a manifest beside it."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--table", required=True, choices=TABLES)
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument(
            "--pass", dest="judge_pass", help="verdicts of this pass (default: newest finished)"
        )
        parser.add_argument("--before", metavar="PASS", help="of comparison only: the earlier pass")
        parser.add_argument("--campaign", help="only labels of this campaign")
        parser.add_argument("--rule", help="a rule's name, or its JSON")
        flavours = parser.add_mutually_exclusive_group()
        flavours.add_argument(
            "--exact",
            dest="flavour",
            action="store_const",
            const=EXACT,
            help="CSV with every text as it is stored; can be imported again (default)",
        )
        flavours.add_argument(
            "--spreadsheet-safe",
            dest="flavour",
            action="store_const",
            const=SPREADSHEET_SAFE,
            help="CSV in which texts that a spreadsheet program would run begin with an apostrophe",
        )
        parser.add_argument("--json", action="store_true", help="print the manifest as one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        is_watched = sys.stderr.isatty()
        try:
            benchmark = find_benchmark(options["benchmark"])
            request = ExportRequest(
                table=options["table"],
                format=options["format"],
                judge_pass=find_pass(benchmark, options["judge_pass"]) if options["judge_pass"] else None,
                before=find_pass(benchmark, options["before"]) if options["before"] else None,
                rule=options["rule"],
                campaign=find_campaign(benchmark, options["campaign"]) if options["campaign"] else None,
                flavour=options["flavour"],
            )
            outcome = export_table(
                benchmark,
                request,
                out=options["out"],
                on_progress=self._show_progress if is_watched else None,
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        if is_watched:
            self.stderr.write("\r\033[K", ending="")
        manifest = outcome.manifest
        if options["json"]:
            self.stdout.write(json.dumps(manifest, ensure_ascii=False, indent=2))
            return
        self.stdout.write(f"{outcome.path}: {manifest['n_rows']:,} rows of {options['table']}")
        for reason, n in manifest["left_out"].items():
            self.stdout.write(f"  left out: {n:,} ({reason})")
        for change, n in manifest["n_changed_cells"].items():
            self.stdout.write(f"  changed cells: {n:,} ({change})")
        self.stdout.write(f"{outcome.manifest_path}: columns, counts and SHA-256")

    def _show_progress(self, n_rows: int) -> None:
        self.stderr.write(f"\r\033[K{n_rows:,} rows", ending="")
        self.stderr.flush()
