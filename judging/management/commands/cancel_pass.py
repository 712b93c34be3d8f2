"""Cancel a judge pass."""

from typing import Any

from judging.management.steering import SteeringCommand
from judging.models import JudgePass
from judging.passes.control import cancel_pass


class Command(SteeringCommand):
    help = "End a pass for good; results that still come in change nothing."

    def act(self, judge_pass: JudgePass, options: dict[str, Any]) -> None:
        cancel_pass(judge_pass)
