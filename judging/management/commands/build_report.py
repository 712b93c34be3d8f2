"""Every number of a benchmark in one document."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.reports import build_report
from judging.selectors import find_benchmark, find_pass


class Command(BaseCommand):
    help = "Compute a benchmark's report: failure rates by model and category, and all agreement."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--pass", dest="judge_pass", help="verdicts of this pass (default: newest finished)"
        )
        parser.add_argument("--rule", help="a rule's name, or its JSON")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = find_benchmark(options["benchmark"])
            report = build_report(
                benchmark,
                judge_pass=find_pass(benchmark, options["judge_pass"]) if options["judge_pass"] else None,
                rule=options["rule"],
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
            return
        if report["rule"] is None:
            self.stdout.write("No finished pass: there are labels to compare, and no verdicts to report.")
            return
        self.stdout.write(f"Rule {report['rule_name']} ({report['rule_source']}): {report['rule_in_words']}")
        for row in report["models"]:
            rate = row["failure_rate"]
            shown = "–" if rate is None else f"{rate:.1%}"
            self.stdout.write(
                f"{row['model']}: {shown} of {row['n_decided']} decided, {row['n_undecided']} undecided"
            )
