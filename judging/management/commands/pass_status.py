"""How far a judge pass is."""

import argparse
import datetime as dt
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.monitoring.waits import waiting_words, waits_of
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
        late = f" ({progress.n_late:,} late: they changed no verdict)" if progress.n_late else ""
        self.stdout.write(f"  calls         {progress.n_attempts:>8,}{late}")
        cost = "unknown" if progress.cost is None else f"{progress.cost:,.2f}"
        self.stdout.write(f"  cost          {cost:>8}")
        if progress.rate_per_s is not None:
            self.stdout.write(f"  per second    {progress.rate_per_s:>8.1f}")
        if progress.seconds_left is not None:
            self.stdout.write(f"  time left     {dt.timedelta(seconds=progress.seconds_left)!s:>8}")
        waits = waits_of(progress.judge_pass)
        for wait in waits:
            self.stdout.write(f"  {waiting_words(wait, waits)} until {wait.until:%Y-%m-%d %H:%M} UTC")
        if progress.judge_pass.state_note:
            self.stdout.write(f"  {progress.judge_pass.state_note}")
