"""Collect responses from target models."""

import argparse
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judging.choices import PassState
from judging.collecting.planning import MAX_TOKENS, CollectionRequest
from judging.collecting.starting import StartedCollection, start_collection
from judging.errors import DomainError
from judging.foreground import judge_until_done
from judging.management.steering import add_caps, read_amount, show_progress
from judging.selectors import find_benchmark

SIMULATED_WARNING = (
    "These answers are SIMULATED: they come from the loopback provider and are marked so on pages and in "
    "exports."
)


class Command(BaseCommand):
    help = (
        "Ask target models for the responses that are missing: each model answers each prompt once a "
        "rollout. What is there stays; what failed is asked for again. Prints the pass id."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--model", nargs="+", required=True, metavar="NAME", action="extend")
        parser.add_argument(
            "--rollouts", type=int, default=1, metavar="N", help="responses of each model to each prompt"
        )
        parser.add_argument("--limit", type=int, metavar="N", help="only the first N prompts")
        parser.add_argument(
            "--max-tokens",
            type=int,
            default=MAX_TOKENS,
            metavar="N",
            help=f"the most that one answer may take, hidden reasoning included (default {MAX_TOKENS})",
        )
        parser.add_argument("--temperature", metavar="X", help="0 to 2; the provider's own without it")
        parser.add_argument(
            "--system-prompt", type=Path, metavar="FILE", help="UTF-8 text sent before every prompt"
        )
        add_caps(parser)
        parser.add_argument(
            "--foreground", action="store_true", help="collect in this process until it is done"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            started = start_collection(
                find_benchmark(options["benchmark"]),
                CollectionRequest(
                    models=tuple(options["model"]),
                    rollouts=options["rollouts"],
                    limit=options["limit"],
                    max_tokens=options["max_tokens"],
                    temperature=read_amount(
                        options["temperature"], option="--temperature", expected="a number such as 0.7"
                    ),
                    system_prompt=_read_text(options["system_prompt"]),
                    max_calls=options["max_calls"],
                    max_cost=read_amount(options["max_cost"]),
                ),
            )
            judge_pass = started.judge_pass
            if judge_pass is not None and judge_pass.is_simulated:
                self.stderr.write(SIMULATED_WARNING)
            if judge_pass is not None and options["foreground"]:
                judge_until_done(judge_pass, report=None if options["json"] else show_progress)
        except DomainError as error:
            raise CommandError(error.message) from error
        self._finish(started, as_json=options["json"], is_foreground=options["foreground"])

    def _finish(self, started: StartedCollection, *, as_json: bool, is_foreground: bool) -> None:
        judge_pass, plan = started.judge_pass, started.plan
        state = PassState.FINISHED if judge_pass is None else judge_pass.state
        if as_json:
            document = {
                "pass": judge_pass.public_id if judge_pass else None,
                "state": state,
                "n_rows": len(plan.missing),
                "n_standing": plan.n_standing,
                "n_under_way": plan.n_under_way,
            }
            self.stdout.write(json.dumps(document))
        elif judge_pass is not None:
            self.stdout.write(judge_pass.public_id)
        if judge_pass is None:
            self.stderr.write(
                f"Nothing is missing: all {plan.n_standing:,} responses are there. Nothing was called."
            )
        elif is_foreground and state != PassState.FINISHED:
            reason = f" ({judge_pass.pause_reason})" if judge_pass.pause_reason else ""
            self.stderr.write(f"The collection is {state}{reason}, not finished.")
            raise SystemExit(1)


def _read_text(path: Path | None) -> str | None:
    """The text of `--system-prompt`.

    Raises:
        CommandError: the file cannot be read as UTF-8.
    """
    if path is None:
        return None
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"The system prompt {path} cannot be read ({type(error).__name__}); expected a UTF-8 text file."
        ) from error
