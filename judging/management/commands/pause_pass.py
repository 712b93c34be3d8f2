"""Pause a judge pass."""

from judging.management.steering import SteeringCommand
from judging.passes.control import pause_pass


class Command(SteeringCommand):
    help = "Claim no more rows of a running pass; calls in flight are recorded."
    act = staticmethod(pause_pass)
