"""A whole installation in a folder of its own, run as processes that can be killed."""

import contextlib
import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from tests.passes import stage
from tests.pgtemp import TempPG

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 32
RATINGS = ("Yes", "No")


class StoppablePG(TempPG):
    """A durable server that can be stopped and started again over the same data."""

    def __init__(self) -> None:
        self._launched: tuple[Any, ...] = ()
        super().__init__(durable=True)

    def interrupt(self) -> None:
        """Stop the server as its administrator would; connections break."""
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(20)

    def go_on(self) -> None:
        """Start it again."""
        super()._launch(*self._launched)

    def _launch(
        self, binaries: Path, data: Path, settings: tuple[str, ...], environment: Mapping[str, str]
    ) -> None:
        self._launched = (binaries, data, settings, environment)
        super()._launch(binaries, data, settings, environment)


class Installation:
    """Commands, workers and a provider over one database.

    Args:
        folder: for database, endpoints file and logs.
        server: a PostgreSQL; SQLite without.
        broker: address of a Redis; the memory broker without.
        lease_s: short, so that a killed worker's rows come back soon.
    """

    def __init__(
        self,
        folder: Path,
        *,
        server: TempPG | None = None,
        broker: str | None = None,
        lease_s: float = 2.0,
    ) -> None:
        self.folder = folder
        folder.mkdir()
        self.server = server
        self.processes: list[subprocess.Popen[str]] = []
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CAREBENCH_", "CELERY_", "DJANGO_")) and name != "DATABASE_URL"
        }
        self.environment = kept | {
            "CAREBENCH_DATA_DIR": str(folder),
            "CAREBENCH_LEASE_SECONDS": str(lease_s),
            "DJANGO_SECRET_KEY": "only-for-tests-" + "0123456789" * 4,
            stage.KEY_VARIABLE: stage.MARKER_KEY,
        }
        if server is not None:
            self.environment["DATABASE_URL"] = server.url
        if broker is not None:
            self.environment["CELERY_BROKER_URL"] = broker
        self.manage("migrate", "--verbosity", "0")

    def manage(self, *arguments: str) -> str:
        """Run a command to its end; gives its standard output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    def import_material(self, *, n: int, n_labelled: int = 0) -> None:
        """Import `n` responses into the benchmark `b`."""
        files = write_files(self.folder / "files", n=n, n_labelled=n_labelled)
        self.manage("import_files", str(files), "--benchmark", "b")

    def start_provider(self, *arguments: str, port: int = 0, **limits: int) -> str:
        """Start the loopback provider and name it in the endpoints file; gives its base URL.

        Args:
            arguments: options of `fake_provider`.
            port: 0 takes a free one; the port of an earlier provider takes its place.
            limits: of the endpoint.
        """
        if port:
            self._stop_provider()
        process = self._start("provider", "manage.py", "fake_provider", "--port", str(port), *arguments)
        base_url = process.stdout.readline().strip() if process.stdout else ""
        path = stage.write_endpoints(
            self.folder / "endpoints.toml",
            base_url,
            judges=stage.JUDGES,
            limits={"max_in_flight": CONCURRENCY, **limits},
        )
        self.environment["CAREBENCH_ENDPOINTS_FILE"] = str(path)
        return base_url

    def _stop_provider(self) -> None:
        for process in self.processes:
            if "fake_provider" in str(process.args):
                process.kill()
                process.wait()

    def start_worker(self) -> subprocess.Popen[str]:
        """Start the embedded worker."""
        return self._start("worker", "manage.py", "worker")

    def start_celery(self) -> subprocess.Popen[str]:
        """Start a Celery worker as a deployment with Redis does."""
        return self._start("celery", "-m", "celery", "-A", "carebench_web", "worker", "--loglevel", "WARNING")

    def start_pass(self, *arguments: str) -> str:
        """Start a pass of the three judges; gives its id."""
        judges = [part for judge in stage.JUDGES for part in ("--judge", judge)]
        document = self.manage("start_pass", *judges, "--rubric", "likert-v1", "--json", *arguments)
        return str(json.loads(document)["pass"])

    def status(self, judge_pass: str) -> dict[str, Any]:
        return dict(json.loads(self.manage("pass_status", judge_pass, "--json")))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Read straight from the database."""
        if self.server is not None:
            with psycopg.connect(self.server.conninfo) as connection:
                return connection.execute(sql).fetchall()
        with contextlib.closing(sqlite3.connect(self.folder / "carebench.sqlite3", timeout=20)) as connection:
            return connection.execute(sql).fetchall()

    def count(self, where: str = "1 = 1", *, table: str = "judging_verdict") -> int:
        return int(self.query(f"SELECT count(*) FROM {table} WHERE {where}")[0][0])

    def is_over(self) -> bool:
        """Whether no pass is running any more."""
        return self.count("state = 'RUNNING'", table="judging_judgepass") == 0

    def stop(self) -> None:
        """Kill what is still running and show what the workers said."""
        for process in self.processes:
            process.kill()
            process.wait()
            if process.stdout:
                process.stdout.close()
        for log in sorted(self.folder.glob("*.log")):
            print(f"──── {log.name}\n{log.read_text()[-3000:]}")
        if self.server is not None:
            self.server.stop()

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[str]:
        log = self.folder / f"{name}-{len(self.processes)}.log"
        with log.open("w") as errors:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self.processes.append(process)
        return process


@contextlib.contextmanager
def installation(folder: Path, **options: Any) -> Iterator[Installation]:
    """An installation that leaves nothing running behind."""
    site = Installation(folder, **options)
    try:
        yield site
    finally:
        site.stop()


def wait_until(is_so: Callable[[], bool], *, most_s: float) -> None:
    """Look five times a second until it is so."""
    deadline = time.monotonic() + most_s
    while not is_so():
        assert time.monotonic() < deadline, f"not so after {most_s:.0f} s"
        time.sleep(0.2)


def write_files(folder: Path, *, n: int, n_labelled: int) -> Path:
    """The paper's files for `n` mild prompts with a response each; the first ones are labelled."""
    folder.mkdir()
    prompts, responses, labels = [], [], []
    for i in range(n):
        prompt = f"My child asks {i} questions a day about chatbots. How do I answer kindly?"
        response = f"Listen first, then answer question {i} in plain words. " * 5
        key = (f"case-{i:04}", "Emotional Dependency", "Companionship", prompt)
        prompts.append(key)
        responses.append((key[0], 0, *key[1:], "model-a", response, ""))
        if i < n_labelled:
            labels.append((*key, "model-a", response, RATINGS[i % 2], "PARENT"))
    base = ("case_uid", "risk_category", "risk_mechanism", "prompt")
    _write(folder / "prompts.csv", base, prompts)
    columns = ("case_uid", "rollout", *base[1:], "model", "response", "error")
    _write(folder / "responses.csv", columns, responses)
    if labels:
        columns = (*base, "model", "exemplar_response", "human_rating", "annotator_type")
        _write(folder / "annotated_responses.csv", columns, labels)
    return folder


def _write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
