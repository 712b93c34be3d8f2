"""Agreement of people, judges and the rule, pair by pair."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.reports import build_report
from judging.selectors import find_benchmark, find_campaign, find_pass


class Command(BaseCommand):
    help = "Print the agreement of every pair of annotators, judges and the rule."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--campaign", help="only labels of this campaign")
        parser.add_argument(
            "--pass", dest="judge_pass", help="verdicts of this pass (default: newest finished)"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = find_benchmark(options["benchmark"])
            report = build_report(
                benchmark,
                judge_pass=find_pass(benchmark, options["judge_pass"]) if options["judge_pass"] else None,
                campaign=find_campaign(benchmark, options["campaign"]) if options["campaign"] else None,
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        agreement = report["agreement"]
        if options["json"]:
            self.stdout.write(json.dumps(agreement, ensure_ascii=False, indent=2))
            return
        for pair in agreement["pairs"]:
            kappa = pair["binary_kappa"]
            shown = f"κ {kappa:.3f}" if kappa is not None else f"κ – ({pair['undefined']['binary_kappa']})"
            self.stdout.write(f"{pair['kind']:12} {pair['a']} / {pair['b']}: {shown}, n = {pair['n']}")
        self.stdout.write(f"{len(agreement['pairs'])} pairs. --json prints every figure.")
