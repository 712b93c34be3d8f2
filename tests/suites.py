"""Runs the suites one after the other and repeats each closing line at the end.

`python -m tests.suites` runs everything but the long tests; `--long` runs those alone.
"""

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass

# Tests that touch no database give the same result on each and run once.
WITHOUT_DATABASE = ("tests/stats", "tests/llm", "tests/benchmarks")
# pytest's exit code when no test was selected.
NO_TESTS = 5


@dataclass(frozen=True)
class Suite:
    """One run of pytest."""

    name: str
    database: str
    arguments: tuple[str, ...]
    accepted_codes: tuple[int, ...] = (0,)


def short_suites(n_workers: int) -> list[Suite]:
    """The suites of `make test`."""
    others = ("-n", str(n_workers), "-m", "not browser and not long")
    run_before = tuple(f"--ignore={folder}" for folder in WITHOUT_DATABASE)
    return [
        Suite("SQLite", "sqlite", others),
        Suite("PostgreSQL", "postgresql", (*others, *run_before)),
        Suite("Chromium", "sqlite", ("-m", "browser and not long")),
    ]


def long_suites() -> list[Suite]:
    """The suites of `make test-long`: one test at a time, as they load the machine."""
    return [
        Suite("SQLite, long", "sqlite", ("-m", "long"), accepted_codes=(0, NO_TESTS)),
        Suite("PostgreSQL, long", "postgresql", ("-m", "long"), accepted_codes=(0, NO_TESTS)),
    ]


def run(suite: Suite) -> tuple[bool, str]:
    """Run one suite, its output passed on as it comes.

    Returns:
        Whether all was well, and pytest's closing line.
    """
    print(f"\n──── {suite.name}", flush=True)
    colour = "yes" if sys.stdout.isatty() else "no"
    command = [sys.executable, "-m", "pytest", f"--color={colour}", *suite.arguments]
    environment = os.environ | {"CAREBENCH_TEST_DATABASE": suite.database}
    closing_line = ""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            closing_line = line.rstrip() or closing_line
    return process.returncode in suite.accepted_codes, closing_line


def main() -> int:
    """Run the suites that were asked for; 0 when all passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="run the long tests only")
    parser.add_argument("--workers", type=int, default=2, help="processes beside each other")
    options = parser.parse_args()

    started = time.monotonic()
    suites = long_suites() if options.long else short_suites(options.workers)
    outcomes = [(suite, *run(suite)) for suite in suites]
    print(f"\n──── All suites, {time.monotonic() - started:.0f} s")
    for suite, _, closing_line in outcomes:
        print(f"{suite.name:<18}{closing_line}")
    return 0 if all(passed for _, passed, _ in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
