"""What the commands that pause, resume and cancel a pass have in common."""

import argparse
import json
import sys
import time
from abc import abstractmethod
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.models import JudgePass
from judging.passes.progress import PassProgress
from judging.selectors import find_pass_anywhere


class SteeringCommand(BaseCommand):
    """One act on one pass. A subclass says which."""

    @abstractmethod
    def act(self, judge_pass: JudgePass, options: dict[str, Any]) -> None:
        """Make the one domain call."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("judge_pass", metavar="PASS", help="id of the pass")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            judge_pass = find_pass_anywhere(options["judge_pass"])
            self.act(judge_pass, options)
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps({"pass": judge_pass.public_id, "state": judge_pass.state}))
        else:
            self.stdout.write(f"{judge_pass.public_id} is {judge_pass.state}.")


def add_caps(parser: argparse.ArgumentParser) -> None:
    """The two caps of a pass as options."""
    parser.add_argument("--max-calls", type=int, metavar="N", help="no more calls than this")
    parser.add_argument("--max-cost", metavar="X", help="no more money than this, in the prices' unit")


def read_amount(
    text: str | None, *, option: str = "--max-cost", expected: str = "an amount such as 12.50"
) -> Decimal | None:
    """The value of `--max-cost`, or of another option that takes a number.

    Raises:
        CommandError: it is no number.
    """
    if text is None:
        return None
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"{option} is {text!r}; expected {expected}.") from error


def show_progress(progress: PassProgress) -> None:
    """One line on standard error about how far a pass is; a terminal shows the newest in place."""
    counts = ", ".join(f"{state} {n}" for state, n in sorted(progress.counts.items()))
    rate = f", {progress.rate_per_s:.0f}/s" if progress.rate_per_s else ""
    end = "\r" if sys.stderr.isatty() else "\n"
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {counts}{rate}{end}")
