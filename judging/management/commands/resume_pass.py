"""Resume a judge pass."""

import argparse
from typing import Any

from judging.management.steering import SteeringCommand, add_caps, read_amount
from judging.models import JudgePass
from judging.passes.control import resume_pass


class Command(SteeringCommand):
    help = "Go on with exactly the missing rows of a paused pass; a pass at its budget needs a higher cap."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        super().add_arguments(parser)
        add_caps(parser)

    def act(self, judge_pass: JudgePass, options: dict[str, Any]) -> None:
        resume_pass(judge_pass, max_calls=options["max_calls"], max_cost=read_amount(options["max_cost"]))
