"""Annotators at work: next + submit pairs over HTTP, against gunicorn with 4 workers on PostgreSQL.

Run from the checkout: `python -m benchmarks.annotation`. 2,000 items of 2 kB, three labels each. A pair is
what the label page costs: ask for the next item, follow to its page, send the answer, get the receipt. The
load driver runs on the same cores, so its own CPU time is taken from what the server could use; the
servers' CPU is measured apart, from /proc. PostgreSQL keeps its normal durability. On a busy machine only CPU
times hold.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import psycopg

from benchmarks.annotation_suite.processes import cpu_seconds, memory_mib, parent_of, resident_mib
from benchmarks.engine_suite.installation import ROOT, Installation, installation
from tests.chaos.web import WebServer, serving

N_WORKERS = 4
N_WARM_UP = 20
N_PAIRS = {1: 400, 8: 1_600}
MOST_CPU_MS = 12.0
MOST_P95_MS = 120.0
LEAST_RATE = 100.0
MOST_MIB = 350.0


@dataclass(frozen=True)
class Run:
    """What so many annotators did, and what it cost the servers."""

    n_people: int
    seconds: float
    pairs_ms: list[float]
    web_cpu_s: float
    database_cpu_s: float
    driver_cpu_s: float

    @property
    def rate(self) -> float:
        """Pairs a second, all annotators together."""
        return len(self.pairs_ms) / self.seconds

    @property
    def p95_ms(self) -> float:
        return statistics.quantiles(self.pairs_ms, n=20)[-1]

    def cpu_ms(self, cpu_s: float) -> float:
        """CPU milliseconds a pair."""
        return cpu_s * 1000 / len(self.pairs_ms)


def main() -> int:
    """Measure one annotator, then eight, and print each figure beside its goal."""
    with installation("postgresql") as site:
        environment = {
            name: value for name, value in site.environment.items() if name != "CAREBENCH_ENDPOINTS_FILE"
        }
        room = json.loads(_run("prepare", environment))
        server = WebServer(environment, log=site.folder / "web.log", n_workers=N_WORKERS)
        with serving(server):
            database = _postmaster(site)
            sessions = room["sessions"]
            for n_people in N_PAIRS:
                mine, sessions = sessions[:n_people], sessions[n_people:]
                run = _measure(server, database, environment, start=room["start"], sessions=mine)
                for line in _lines(run):
                    print(line, flush=True)
            for line in _memory_lines(server.master_pid):
                print(line, flush=True)
    return 0


def _measure(
    server: WebServer, database: int, environment: Mapping[str, str], *, start: str, sessions: list[str]
) -> Run:
    plan = {
        "port": server.port,
        "start": start,
        "sessions": sessions,
        "n_warm_up": N_WARM_UP,
        "n_pairs": N_PAIRS[len(sessions)],
    }
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "benchmarks.annotation_suite.driver"]
    with subprocess.Popen(
        command, cwd=ROOT, env=dict(environment), stdin=pipe, stdout=pipe, text=True
    ) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        driver.stdin.write(json.dumps(plan) + "\n")
        driver.stdin.flush()
        driver.stdout.readline()
        web_before, database_before = cpu_seconds(server.master_pid), cpu_seconds(database)
        driver.stdin.write("go\n")
        driver.stdin.flush()
        found = json.loads(driver.stdout.readline() or "null")
        web_cpu_s = cpu_seconds(server.master_pid) - web_before
        database_cpu_s = cpu_seconds(database) - database_before
    if found is None:
        raise RuntimeError("The load driver failed; its error output stands above.")
    return Run(
        n_people=len(sessions),
        seconds=found["seconds"],
        pairs_ms=found["pairs_ms"],
        web_cpu_s=web_cpu_s,
        database_cpu_s=database_cpu_s,
        driver_cpu_s=found["cpu_s"],
    )


def _lines(run: Run) -> Iterator[str]:
    who = "1 annotator" if run.n_people == 1 else f"{run.n_people} annotators"
    has_goal = run.n_people > 1
    yield _line(
        f"next + submit, {who}",
        f"{run.rate:.0f} pairs/s",
        f">= {LEAST_RATE:.0f}" if has_goal else "",
        run.rate >= LEAST_RATE,
    )
    median_ms = statistics.median(run.pairs_ms)
    yield _line(
        f"  pair p95 (median {median_ms:.0f} ms)",
        f"{run.p95_ms:.0f} ms",
        f"<= {MOST_P95_MS:.0f} ms" if has_goal else "",
        run.p95_ms <= MOST_P95_MS,
    )
    web_ms = run.cpu_ms(run.web_cpu_s)
    beside = f"PostgreSQL {run.cpu_ms(run.database_cpu_s):.1f}, driver {run.cpu_ms(run.driver_cpu_s):.1f}"
    yield _line(
        f"  CPU of the web tier a pair ({beside} ms beside it)",
        f"{web_ms:.1f} ms",
        f"<= {MOST_CPU_MS:.0f} ms",
        web_ms <= MOST_CPU_MS,
    )


def _memory_lines(pid: int) -> Iterator[str]:
    used = memory_mib(pid)
    yield _line(
        f"memory of the web tier ({resident_mib(pid):.0f} MiB with shared pages counted in each)",
        f"{used:.0f} MiB",
        f"<= {MOST_MIB:.0f} MiB",
        used <= MOST_MIB,
    )


def _line(what: str, measured: str, goal: str, is_met: bool) -> str:
    outcome = f"goal {goal:<11} {'met' if is_met else 'MISSED'}" if goal else ""
    return f"  {what:<76} {measured:>12}   {outcome}".rstrip()


def _run(module: str, environment: Mapping[str, str]) -> str:
    command = [sys.executable, "-m", f"benchmarks.annotation_suite.{module}"]
    return subprocess.run(
        command, cwd=ROOT, env=dict(environment), stdout=subprocess.PIPE, text=True, check=True
    ).stdout


def _postmaster(site: Installation) -> int:
    """Process id of the PostgreSQL server, found through one of its own connections."""
    address = site.environment["DATABASE_URL"]
    folder = address.split("@/", 1)[1].rpartition("/")[0]
    with psycopg.connect(f"host={folder} user=postgres dbname=postgres") as connection:
        return parent_of(connection.info.backend_pid)


if __name__ == "__main__":
    sys.exit(main())
