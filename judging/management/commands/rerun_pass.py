"""Judge what a pass lacks."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.choices import PassState
from judging.errors import DomainError
from judging.foreground import judge_until_done
from judging.management.steering import add_caps, read_amount
from judging.passes.rerunning import plan_rerun, rerun_missing
from judging.selectors import find_pass_anywhere


class Command(BaseCommand):
    help = "Judge the rows of an ended pass that lack a score or whose text changed. Prints the pass id."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("judge_pass", metavar="PASS", help="id of the pass")
        add_caps(parser)
        parser.add_argument(
            "--with-poison", action="store_true", help="also rows that stopped several workers"
        )
        parser.add_argument("--dry-run", action="store_true", help="count what would be judged, call nobody")
        parser.add_argument(
            "--foreground", action="store_true", help="judge in this process until it is done"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            judge_pass = find_pass_anywhere(options["judge_pass"])
            plan = plan_rerun(judge_pass, with_poison=options["with_poison"])
            running = judge_pass
            if not options["dry_run"]:
                running = rerun_missing(
                    judge_pass,
                    max_calls=options["max_calls"],
                    max_cost=read_amount(options["max_cost"]),
                    with_poison=options["with_poison"],
                )
                if options["foreground"]:
                    judge_until_done(running)
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            document = {
                "pass": running.public_id,
                "state": running.state,
                "continues": options["judge_pass"],
                "n_rows": plan.n_rows,
                "counts": dict(plan.counts),
                "n_kept": plan.n_kept,
                "n_poison_left_out": plan.n_poison,
                "why_new": plan.why_new,
            }
            self.stdout.write(json.dumps(document))
        else:
            self.stderr.write(f"{plan.n_rows:,} rows to judge, {plan.n_kept:,} scores kept.")
            if plan.why_new:
                self.stderr.write(f"It takes a new pass, because {plan.why_new}.")
            self.stdout.write(running.public_id)
        if options["foreground"] and running.state != PassState.FINISHED and not options["dry_run"]:
            raise CommandError(f"The pass is {running.state}, not finished.")
