"""Classify how Unacceptable responses fail."""

import argparse
import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.choices import PassState
from judging.classifying import ClassificationRequest, start_classification
from judging.errors import DomainError
from judging.foreground import judge_until_done
from judging.management.steering import add_caps, read_amount, show_progress
from judging.models import JudgePass
from judging.reports.failure_modes import build_failure_modes
from judging.selectors import find_benchmark, find_pass


class Command(BaseCommand):
    help = (
        "Start a classification: a model names the failure mode of every response that the rule finds "
        "Unacceptable. Prints the pass id; pass_status, pause_pass, resume_pass and cancel_pass take it."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument(
            "--pass", dest="judge_pass", help="the judging pass to grade (default: newest finished)"
        )
        parser.add_argument("--rule", help="a rule's name, or its JSON (default: the benchmark's)")
        parser.add_argument(
            "--classifier", metavar="NAME", help="default: the only classifier whose key is set"
        )
        add_caps(parser)
        parser.add_argument(
            "--again", action="store_true", help="classify again although this configuration is finished"
        )
        parser.add_argument(
            "--foreground", action="store_true", help="classify in this process until it is done"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = find_benchmark(options["benchmark"])
            classification = start_classification(
                benchmark,
                ClassificationRequest(
                    judge_pass=find_pass(benchmark, options["judge_pass"]) if options["judge_pass"] else None,
                    rule=options["rule"],
                    classifier=options["classifier"],
                    max_calls=options["max_calls"],
                    max_cost=read_amount(options["max_cost"]),
                    again=options["again"],
                ),
            )
            is_finished_already = classification.state == PassState.FINISHED
            if options["foreground"] and not is_finished_already:
                judge_until_done(classification, report=None if options["json"] else show_progress)
        except DomainError as error:
            raise CommandError(error.message) from error
        if is_finished_already:
            self.stderr.write(
                "A classification with exactly this configuration is finished already: nothing was called. "
                "--again classifies once more."
            )
        self._finish(classification, as_json=options["json"], is_foreground=options["foreground"])

    def _finish(self, classification: JudgePass, *, as_json: bool, is_foreground: bool) -> None:
        if as_json:
            document = build_failure_modes(classification.benchmark, classification=classification)
            self.stdout.write(
                json.dumps(
                    {
                        "pass": classification.public_id,
                        "state": classification.state,
                        **{name: document[name] for name in ("overall", "models", "categories")},
                    }
                )
            )
        else:
            self.stdout.write(classification.public_id)
        if is_foreground and classification.state != PassState.FINISHED:
            reason = f" ({classification.pause_reason})" if classification.pause_reason else ""
            self.stderr.write(f"The classification is {classification.state}{reason}, not finished.")
            raise SystemExit(1)
