"""Start a judge pass."""

import argparse
import json
import sys
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.models import Benchmark, Campaign
from judging.choices import AnswerForm, EmptyPolicy, ExclusionPolicy, PassState
from judging.errors import DomainError
from judging.foreground import judge_until_done
from judging.management.steering import add_caps, read_amount
from judging.models import JudgePass
from judging.passes.progress import PassProgress
from judging.passes.starting import DEFAULT_EMBEDDER, PassRequest, start_pass
from judging.passes.warnings import warnings_before
from judging.rubrics import DEFAULT_RUBRIC
from judging.selectors import find_benchmark, find_campaign


class Command(BaseCommand):
    help = "Start a judge pass: every judge scores every complete response. Prints the pass id."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--judge", nargs="+", required=True, metavar="NAME", action="extend")
        parser.add_argument("--rubric", default=DEFAULT_RUBRIC)
        parser.add_argument(
            "--shots", type=int, default=0, metavar="K", help="exemplars of each kind (default 0)"
        )
        parser.add_argument("--campaign", help="judge only the responses of this campaign")
        parser.add_argument("--limit", type=int, metavar="N", help="judge only the first N responses")
        parser.add_argument(
            "--output", default=AnswerForm.TEXT, choices=AnswerForm.values, help="how judges answer"
        )
        parser.add_argument(
            "--exclusion",
            default=ExclusionPolicy.CASE,
            choices=ExclusionPolicy.values,
            help="which labelled responses are never exemplars of a response",
        )
        parser.add_argument(
            "--embedder",
            default=DEFAULT_EMBEDDER,
            metavar="NAME",
            help="tfidf, or a model of the endpoints file with the role embedder",
        )
        parser.add_argument("--pool-campaign", help="take exemplars from the labels of this campaign only")
        parser.add_argument(
            "--empty-policy",
            default=EmptyPolicy.SKIP,
            choices=EmptyPolicy.values,
            help="skip empty responses, or count them as Acceptable without a call",
        )
        add_caps(parser)
        parser.add_argument(
            "--again", action="store_true", help="judge again although this configuration is finished"
        )
        parser.add_argument(
            "--foreground", action="store_true", help="judge in this process until it is done"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            benchmark = find_benchmark(options["benchmark"])
            request = PassRequest(
                judges=tuple(options["judge"]),
                rubric=options["rubric"],
                shots=options["shots"],
                campaign=_find_if_named(benchmark, options["campaign"]),
                limit=options["limit"],
                max_calls=options["max_calls"],
                max_cost=read_amount(options["max_cost"]),
                again=options["again"],
                output=options["output"],
                exclusion=options["exclusion"],
                embedder=options["embedder"],
                pool_campaign=_find_if_named(benchmark, options["pool_campaign"]),
                empty_policy=options["empty_policy"],
            )
            for warning in warnings_before(benchmark, request):
                self.stderr.write(f"Warning: {warning.message}")
            judge_pass = start_pass(benchmark, request)
            is_finished_already = judge_pass.state == PassState.FINISHED
            if options["foreground"] and not is_finished_already:
                judge_until_done(judge_pass, report=None if options["json"] else self._show)
        except DomainError as error:
            raise CommandError(error.message) from error
        if is_finished_already:
            self.stderr.write(
                "A pass with exactly this configuration is finished already: nothing was called. "
                "--again judges once more."
            )
        self._finish(judge_pass, as_json=options["json"], is_foreground=options["foreground"])

    def _finish(self, judge_pass: JudgePass, *, as_json: bool, is_foreground: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"pass": judge_pass.public_id, "state": judge_pass.state}))
        else:
            self.stdout.write(judge_pass.public_id)
        if is_foreground and judge_pass.state != PassState.FINISHED:
            reason = f" ({judge_pass.pause_reason})" if judge_pass.pause_reason else ""
            self.stderr.write(f"The pass is {judge_pass.state}{reason}, not finished.")
            raise SystemExit(1)

    def _show(self, progress: PassProgress) -> None:
        counts = ", ".join(f"{state} {n}" for state, n in sorted(progress.counts.items()))
        rate = f", {progress.rate_per_s:.0f}/s" if progress.rate_per_s else ""
        end = "\r" if sys.stderr.isatty() else "\n"
        self.stderr.write(f"{time.strftime('%H:%M:%S')} {counts}{rate}", ending=end)


def _find_if_named(benchmark: Benchmark, name: str | None) -> Campaign | None:
    return find_campaign(benchmark, name) if name else None
