"""Pause a judge pass."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.passes.control import pause_pass
from judging.selectors import find_pass_anywhere


class Command(BaseCommand):
    help = "Claim no more rows of a running pass; calls in flight are recorded."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("judge_pass", metavar="PASS", help="id of the pass")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            judge_pass = find_pass_anywhere(options["judge_pass"])
            pause_pass(judge_pass)
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"pass": judge_pass.public_id, "state": judge_pass.state}))
        else:
            self.stdout.write(f"{judge_pass.public_id} is {judge_pass.state}.")
