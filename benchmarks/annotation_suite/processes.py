"""CPU and memory of a server and all its children, as Linux counts them."""

import os
from collections.abc import Iterator
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PARENT, USER, SYSTEM, USER_OF_ENDED, SYSTEM_OF_ENDED = 1, 11, 12, 13, 14
"""Where a field stands in /proc/PID/stat, counted after the name in brackets."""


def cpu_seconds(pid: int) -> float:
    """CPU time of a process, of its running children and theirs, and of those that have ended."""
    return sum(sum(_fields(one)[USER : SYSTEM_OF_ENDED + 1]) for one in family(pid)) / TICKS_PER_S


def memory_mib(pid: int) -> float:
    """Memory of a process and its children; what they share is counted once (proportional set size)."""
    return sum(_kibibytes(one, "Pss") for one in family(pid)) / 1024


def resident_mib(pid: int) -> float:
    """The same with what they share counted in each, as tools like `ps` add it up."""
    return sum(_kibibytes(one, "Rss") for one in family(pid)) / 1024


def parent_of(pid: int) -> int:
    """Process id of the parent."""
    return _fields(pid)[PARENT]


def family(pid: int) -> Iterator[int]:
    """A process, its children and theirs."""
    yield pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from family(int(child))


def _fields(pid: int) -> list[int]:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return [0, *(int(field) for field in after_name[1:20])]


def _kibibytes(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))
