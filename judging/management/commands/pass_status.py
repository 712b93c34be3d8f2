"""How far a judge pass is."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.passes.progress import measure_progress
from judging.selectors import find_pass_anywhere


class Command(BaseCommand):
    help = "Print state, counts, calls, cost, rate and time left of a pass."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("judge_pass", metavar="PASS", help="id of the pass")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            progress = measure_progress(find_pass_anywhere(options["judge_pass"]))
        except DomainError as error:
            raise CommandError(error.message) from error
        document = progress.to_json()
        if options["json"]:
            self.stdout.write(json.dumps(document, indent=2))
            return
        reason = f" ({document['reason']})" if document["reason"] else ""
        self.stdout.write(f"{document['pass']} is {document['state']}{reason}")
        for state, n in sorted(document["counts"].items()):
            self.stdout.write(f"  {state:13} {n:>8,}")
        self.stdout.write(f"  calls         {document['n_attempts']:>8,}")
        if progress.judge_pass.state_note:
            self.stdout.write(f"  {progress.judge_pass.state_note}")
