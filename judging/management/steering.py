"""What the commands that pause, resume and cancel a pass have in common."""

import argparse
import json
from collections.abc import Callable
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.selectors import find_pass_anywhere


class SteeringCommand(BaseCommand):
    """One act on one pass. A subclass names the act."""

    act: ClassVar[Callable[..., None]]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("judge_pass", metavar="PASS", help="id of the pass")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            judge_pass = find_pass_anywhere(options["judge_pass"])
            type(self).act(judge_pass)
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"pass": judge_pass.public_id, "state": judge_pass.state}))
        else:
            self.stdout.write(f"{judge_pass.public_id} is {judge_pass.state}.")
