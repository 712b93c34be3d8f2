"""Cancel a judge pass."""

from judging.management.steering import SteeringCommand
from judging.passes.control import cancel_pass


class Command(SteeringCommand):
    help = "End a pass for good; results that still come in change nothing."
    act = staticmethod(cancel_pass)
