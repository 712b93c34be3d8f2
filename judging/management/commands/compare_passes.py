"""What changed between two passes."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.errors import DomainError
from judging.reports import compare_passes
from judging.reports.comparison_words import source_in_words
from judging.selectors import find_benchmark, find_pass


class Command(BaseCommand):
    help = "Say which verdicts differ between two passes under one rule, and whether it mattered."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("before", metavar="BEFORE", help="id or name of the earlier pass")
        parser.add_argument("after", metavar="AFTER", help="id or name of the later pass")
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--rule", help="a rule's name, or its JSON; it must fit both passes")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = find_benchmark(options["benchmark"])
            document = compare_passes(
                benchmark,
                before=find_pass(benchmark, options["before"]),
                after=find_pass(benchmark, options["after"]),
                rule=options["rule"],
            )
        except DomainError as error:
            raise CommandError(error.message) from error
        if options["json"]:
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
            return
        self.stdout.write(document["answer"])
        self.stdout.write(source_in_words(document))
        self.stdout.write(f"Rule {document['rule_name']}: {document['rule_in_words']}")
        for judge in document["judges"]:
            self.stdout.write(
                f"  {judge['judge']}: {judge['n_same']:,} of {judge['n']:,} scores the same, "
                f"{judge['n_higher']:,} higher, {judge['n_lower']:,} lower, "
                f"{judge['n_lost']:,} lost, {judge['n_gained']:,} gained"
            )
        self.stdout.write("export_results --table comparison --before BEFORE --pass AFTER lists the rows.")
