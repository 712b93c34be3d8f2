"""Workers that die at seeded moments and are replaced at once."""

import random
import time
from functools import partial

from tests.chaos.processes import Installation, Process, kill, wait_until

SEED = 20260629


def kill_at_marks(site: Installation, workers: list[Process], *, marks: list[int], seed: int = SEED) -> None:
    """Kill one of the workers a moment after each count of settled verdicts; another takes its place."""
    generator = random.Random(seed)
    for mark in sorted(marks):
        wait_until(partial(site.has_settled, mark), most_s=180, what=f"{mark} verdicts settled")
        time.sleep(generator.uniform(0, 0.2))
        replace_one(site, workers, generator)


def kill_until_over(
    site: Installation, workers: list[Process], *, most_kills: int, every_s: tuple[float, float] = (3.0, 5.0)
) -> int:
    """Kill a worker every few seconds until the pass is over; returns how many died."""
    generator = random.Random(SEED)
    for n_kills in range(most_kills):
        next_at = time.monotonic() + generator.uniform(*every_s)
        while time.monotonic() < next_at:
            if site.is_over():
                return n_kills
            time.sleep(0.1)
        replace_one(site, workers, generator)
    return most_kills


def replace_one(site: Installation, workers: list[Process], generator: random.Random) -> None:
    """`kill -9` one worker and start the next at once."""
    victim = generator.randrange(len(workers))
    kill(workers[victim])
    workers[victim] = site.start_worker()
