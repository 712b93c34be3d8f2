"""Which kind of pass is whose work, and the loops that do it."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from judging.choices import PassKind
from judging.collecting.work import COLLECTING
from judging.queue import sweeping
from judging.queue.loop import run_endpoint
from judging.queue.sweeping import LoopKey
from judging.queue.work import Work
from judging.verdicts.work import CLASSIFYING, JUDGING

WORKS: Mapping[PassKind, Work] = MappingProxyType(
    {work.kind: work for work in (JUDGING, CLASSIFYING, COLLECTING)}
)


def run_loop(endpoint_name: str, kind: PassKind, *, should_stop: Callable[[], bool]) -> int:
    """Make the calls that are due for one kind of pass at an endpoint; returns how many were recorded.

    Raises:
        EndpointError: the endpoints file cannot be read or no longer names the endpoint.
    """
    return run_endpoint(WORKS[kind], endpoint_name, should_stop=should_stop)


def sweep() -> list[LoopKey]:
    """`queue.sweeping.sweep` over every kind of pass."""
    return sweeping.sweep(list(WORKS.values()))
