"""Read the stored replies of a pass again."""

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.selectors import find_pass_anywhere
from judging.verdicts.reparsing import ReparsePlan, Rereading, apply_reparse, plan_reparse

HEADER = (
    "case_uid",
    "response_id",
    "judge",
    "state_before",
    "score_before",
    "detail_before",
    "state",
    "score",
    "detail",
)


class Command(BaseCommand):
    help = "Show what reading a pass's stored replies again would change; with --apply, change it. No call."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("judge_pass", metavar="PASS", help="id of a pass that has ended")
        parser.add_argument("--apply", action="store_true", help="write the changes, and keep what was said")
        parser.add_argument("--out", type=Path, metavar="FILE", help="write every changed row as CSV")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            judge_pass = find_pass_anywhere(options["judge_pass"])
            if options["out"] is None:
                plan = plan_reparse(judge_pass, on_progress=self._show_progress)
            else:
                with options["out"].open("w", encoding="utf-8", newline="") as file:
                    rows = csv.writer(file)
                    rows.writerow(HEADER)
                    plan = plan_reparse(
                        judge_pass,
                        on_change=lambda changed: rows.writerow(_row_of(changed)),
                        on_progress=self._show_progress,
                    )
            if options["apply"]:
                apply_reparse(judge_pass, digest=plan.digest)
        except OSError as error:
            raise CommandError(f"{options['out']} cannot be written: {error.strerror}.") from error
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps(plan.to_json() | {"is_applied": options["apply"]}, indent=2))
        else:
            self._say(plan, is_applied=options["apply"])

    def _say(self, plan: ReparsePlan, *, is_applied: bool) -> None:
        outcome = "were" if is_applied else "would be"
        self.stdout.write(
            f"{plan.n_read:,} replies read by parser version {plan.parser_version}: "
            f"{plan.n_changed:,} verdicts {outcome} changed. Nothing was called."
        )
        for (before, after), n in sorted(plan.changes.items()):
            self.stdout.write(f"  {n:>8,}  {before} → {after}")
        for reason, n in sorted(plan.left_out.items()):
            self.stdout.write(f"  left out: {n:,} ({reason})")
        if plan.n_changed and not is_applied:
            self.stdout.write("Nothing was written. --out FILE lists the rows; --apply changes them.")

    def _show_progress(self, n_read: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r\033[K{n_read:,} replies", ending="")
            self.stderr.flush()


def _row_of(changed: Rereading) -> tuple[Any, ...]:
    before, after = changed.before, changed.after
    return (
        changed.case_uid,
        changed.response,
        changed.judge,
        before.state,
        before.failure_mode if before.score is None else before.score,
        before.detail,
        after.state,
        after.failure_mode if after.score is None else after.score,
        after.detail,
    )
