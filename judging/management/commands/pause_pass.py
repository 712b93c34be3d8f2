"""Pause a judge pass."""

from typing import Any

from judging.management.steering import SteeringCommand
from judging.models import JudgePass
from judging.passes.control import pause_pass


class Command(SteeringCommand):
    help = "Claim no more rows of a running pass; calls in flight are recorded."

    def act(self, judge_pass: JudgePass, options: dict[str, Any]) -> None:
        pause_pass(judge_pass)
