"""Resume a judge pass."""

from judging.management.steering import SteeringCommand
from judging.passes.control import resume_pass


class Command(SteeringCommand):
    help = "Go on with exactly the missing rows of a paused pass."
    act = staticmethod(resume_pass)
