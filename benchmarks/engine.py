"""The judge engine at its goals: every result and attempt saved, against a bare client that saves nothing.

Run from the checkout: `python -m benchmarks.engine [--quick] [--only PART ...] [sqlite] [postgresql]`.
Each line says what was measured and what the goal is. The provider is a process of its own on this
machine with a fixed latency and next to no work, so that only the cost of the client differs. The bare
client is the SDK's own: a gather of `chat.completions.create` behind a semaphore. Rounds are interleaved
and medians compared. On a busy machine only what is compared within a round holds.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.engine_suite.installation import (
    Child,
    Installation,
    faulty_provider,
    installation,
    provider,
    run,
)

DATABASES = ("sqlite", "postgresql")
LATENCY_MS = 200
N_RACE = 1_500
N_SHARE = 6_000
N_MOST_ROWS = 15_000
SLOTS = (64, 128)
LEAST_RATIO = {64: 1.0, 128: 1.2}
LEAST_SHARE = {64: 0.88, 128: 0.82}
MOST_CPU_S = 1.8
MOST_MIB = 160.0
MOST_MORE_MIB = 15.0
MOST_LABEL_MS = 50.0
LEAST_TWO_WORKERS = 1.85
LEAST_FAULTY_RATE = 130.0
FAULTS = ("--rate-limited", "0.05", "--server-error", "0.02", "--malformed", "0.02", "--slow", "0.01")
# Twelve and a half times a worker's slots. At one latency a single row beyond a whole number of waves costs
# one more wave, so a number on that edge would measure the edge and not the second worker.
N_TWO_WORKERS = 1_600


@dataclass(frozen=True)
class Line:
    """One figure beside its goal."""

    what: str
    measured: str
    goal: str
    is_met: bool

    def __str__(self) -> str:
        outcome = "met" if self.is_met else "MISSED"
        return f"  {self.what:<70} {self.measured:>24}   goal {self.goal:<10} {outcome}"


def main() -> int:
    """Measure each part on each database and print it beside its goal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("databases", nargs="*", default=[], metavar="DATABASE", help="sqlite, postgresql")
    parser.add_argument("--quick", action="store_true", help="only the race at 64 in flight, on SQLite")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), metavar="PART")
    options = parser.parse_args()
    databases = options.databases or (DATABASES[:1] if options.quick else DATABASES)
    unknown = sorted(set(databases) - set(DATABASES))
    if unknown:
        parser.error(f"the database {unknown[0]!r} is not known; expected {' or '.join(DATABASES)}")
    parts = [partial(race, slots=64)] if options.quick else [PARTS[name] for name in options.only]
    for database in databases:
        print(f"{database}:", flush=True)
        with installation(database) as site:
            run(site.at("http://127.0.0.1:9/v1", slots=64), "prepare", str(N_MOST_ROWS))
            for part in parts:
                for line in part(site):
                    print(line, flush=True)
    return 0


def race(site: Installation, *, slots: int) -> Iterator[Line]:
    """The engine against the bare client, and the CPU that it takes."""
    with provider(LATENCY_MS) as base_url:
        environment = site.at(base_url, slots=slots)
        options = ["--base-url", base_url, "--slots", str(slots)]
        found = run(environment, "race", str(N_RACE), *options)
    bare, engine = statistics.median(found["bare"]), statistics.median(found["engine"])
    rounds = ", ".join(
        f"{theirs / ours:.2f}" for theirs, ours in zip(found["bare"], found["engine"], strict=True)
    )
    kilobytes = round(found["request_bytes"] / 1000)
    yield Line(
        f"{N_RACE:,} calls of {kilobytes} kB at {LATENCY_MS} ms, {slots} in flight, against the bare client",
        f"{bare / engine:.2f}x ({rounds})",
        f">= {LEAST_RATIO[slots]:.1f}x",
        bare / engine >= LEAST_RATIO[slots],
    )
    cpu_s = statistics.median(found["cpu"]) * 1000 / N_RACE
    yield Line("  CPU seconds per 1,000 calls", f"{cpu_s:.2f} s", f"<= {MOST_CPU_S} s", cpu_s <= MOST_CPU_S)


def share(site: Installation, *, slots: int) -> Iterator[Line]:
    """How near a long pass comes to what latency and slots allow."""
    with provider(LATENCY_MS) as base_url:
        environment = site.at(base_url, slots=slots)
        found = run(environment, "work", _begin(environment, N_SHARE))
    reached = N_SHARE / slots * LATENCY_MS / 1000 / found["seconds"]
    yield Line(
        f"{N_SHARE:,} calls, {slots} in flight, share of slots / latency",
        f"{reached:.0%} ({found['seconds']:.1f} s)",
        f">= {LEAST_SHARE[slots]:.0%}",
        reached >= LEAST_SHARE[slots],
    )


def memory(site: Installation) -> Iterator[Line]:
    """Peak memory of a worker, and how it grows with the rows of a pass."""
    peaks = []
    with provider(50) as base_url:
        environment = site.at(base_url, slots=64)
        for n in (N_RACE, N_MOST_ROWS):
            peaks.append(run(environment, "work", _begin(environment, n))["peak_mib"])
    yield Line(
        f"peak memory of a worker at {N_RACE:,} rows",
        f"{peaks[0]:.0f} MiB",
        f"<= {MOST_MIB:.0f} MiB",
        peaks[0] <= MOST_MIB,
    )
    more = peaks[1] - peaks[0]
    yield Line(
        f"  more at {N_MOST_ROWS:,} rows",
        f"{more:.0f} MiB",
        f"<= {MOST_MORE_MIB:.0f} MiB",
        more <= MOST_MORE_MIB,
    )


def labels(site: Installation) -> Iterator[Line]:
    """How long an annotator's answer takes while a worker is busy."""
    with provider(LATENCY_MS) as base_url:
        environment = site.at(base_url, slots=64)
        annotator = Child(environment, "label")
        worker = Child(environment, "work", _begin(environment, N_RACE))
        annotator.begin()
        worker.begin()
        worker.result()
        annotator.end()
        took_ms = annotator.result()["took_ms"]
    p95 = statistics.quantiles(took_ms, n=20)[-1]
    yield Line(
        f"a label each 50 ms beside 64 in flight, p95 of {len(took_ms)}",
        f"{p95:.1f} ms",
        f"<= {MOST_LABEL_MS:.0f} ms",
        p95 <= MOST_LABEL_MS,
    )


def workers(site: Installation) -> Iterator[Line]:
    """Two worker processes against one, at one second of latency."""
    seconds = []
    with provider(1_000) as base_url:
        environment = site.at(base_url, slots=128, most=256)
        for n in (1, 2):
            judge_pass = _begin(environment, n * N_TWO_WORKERS)
            children = [Child(environment, "work", judge_pass) for _ in range(n)]
            for child in children:
                child.begin()
            seconds.append(max(child.result()["seconds"] for child in children))
    ratio = 2 * seconds[0] / seconds[1]
    yield Line(
        "two workers at 1 s with 128 in flight each, against one",
        f"{ratio:.2f}x",
        f">= {LEAST_TWO_WORKERS}x",
        ratio >= LEAST_TWO_WORKERS,
    )


def faults(site: Installation) -> Iterator[Line]:
    """Calls a second, and rows left open, with a provider that fails."""
    with faulty_provider(LATENCY_MS, *FAULTS) as base_url:
        environment = site.at(base_url, slots=64)
        found = run(environment, "work", _begin(environment, N_RACE))
    rate = found["n_attempts"] / found["seconds"]
    yield Line(
        "5 % 429, 2 % 500, 2 % malformed, 1 % slow, 64 in flight",
        f"{rate:.0f} calls/s",
        f">= {LEAST_FAULTY_RATE:.0f}",
        rate >= LEAST_FAULTY_RATE,
    )
    n_open = found["n_open"]
    yield Line(
        f"  rows of {N_RACE:,} not resolved ({found['n_scored']:,} scored)", f"{n_open}", "0", n_open == 0
    )


def _begin(environment: dict[str, str], n: int) -> str:
    return str(run(environment, "begin", str(n))["pass"])


PARTS: dict[str, Callable[[Installation], Iterator[Line]]] = {
    "race-64": partial(race, slots=64),
    "race-128": partial(race, slots=128),
    "share-64": partial(share, slots=64),
    "share-128": partial(share, slots=128),
    "memory": memory,
    "labels": labels,
    "workers": workers,
    "faults": faults,
}

if __name__ == "__main__":
    sys.exit(main())
