"""A whole installation run as processes that can be killed: commands, workers, providers, pages."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.chaos.material import BENCHMARK, Database
from tests.chaos.servers import StoppableRedis
from tests.passes import stage

ROOT = Path(__file__).resolve().parents[2]
CONCURRENCY = 32
PRICES = ("1", "2")

Process = subprocess.Popen[str]


class Installation:
    """Commands, workers and providers over one database.

    Args:
        folder: for the endpoints file, logs and whatever the commands write.
        database: with tables and material.
        broker: a Redis, for Celery workers; without, the embedded worker and its memory broker.
        lease_s: short, so that a killed worker's rows come back soon.
        root: the checkout to run.
        environment: more variables.
    """

    def __init__(
        self,
        folder: Path,
        *,
        database: Database,
        broker: StoppableRedis | None = None,
        lease_s: float = 2.0,
        root: Path = ROOT,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        folder.mkdir()
        self.database = database
        self.broker = broker
        self.root = root
        self._running: list[Process] = []
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CAREBENCH_", "CELERY_", "DJANGO_"))
        }
        self.environment = kept | {
            "CAREBENCH_DATA_DIR": str(folder),
            "CAREBENCH_LEASE_SECONDS": str(lease_s),
            "DATABASE_URL": database.url,
            "DJANGO_SECRET_KEY": "only-for-tests-" + "0123456789" * 4,
            stage.KEY_VARIABLE: stage.MARKER_KEY,
            **(environment or {}),
        }
        if broker is not None:
            self.environment["CELERY_BROKER_URL"] = broker.url

    def manage(self, *arguments: str) -> str:
        """Run a command to its end; gives its standard output."""
        output, errors, code = self.finish(self.begin("manage.py", *arguments))
        assert code == 0, errors[-2000:]
        return output

    def begin(self, *arguments: str) -> Process:
        """Start a Python program whose output the caller reads with `finish`."""
        return self._launch(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def finish(self, process: Process) -> tuple[str, str, int]:
        """Standard output, standard error and exit code of a program that was begun."""
        output, errors = process.communicate(timeout=120)
        return output, errors, process.returncode

    def start_provider(self, *arguments: str, port: int = 0) -> "Provider":
        """Start a loopback provider, on a free port unless one is named."""
        process = self._start("provider", "manage.py", "fake_provider", "--port", str(port), *arguments)
        base_url = process.stdout.readline().strip() if process.stdout else ""
        assert base_url, "the provider did not start"
        return Provider(process, base_url)

    def name_endpoints(self, base_urls: Mapping[str, str], **limits: int) -> None:
        """Write the endpoints file: each judge at its address, one endpoint for each address."""
        path = self.folder / "endpoints.toml"
        lines = []
        for n, base_url in enumerate(dict.fromkeys(base_urls.values())):
            lines += [
                "[[endpoint]]",
                f'name = "local-{n}"',
                f'base_url = "{base_url}"',
                f'key_variable = "{stage.KEY_VARIABLE}"',
                "allow_private = true",
                *(f"{name} = {value}" for name, value in ({"max_in_flight": CONCURRENCY} | limits).items()),
            ]
            for judge in [judge for judge, address in base_urls.items() if address == base_url]:
                lines += ["[[endpoint.model]]", f'slug = "{judge}"', 'roles = ["judge", "target"]']
                lines += [f'price_in = "{PRICES[0]}"', f'price_out = "{PRICES[1]}"']
        path.write_text("\n".join(lines) + "\n")
        self.environment["CAREBENCH_ENDPOINTS_FILE"] = str(path)

    def start_judging_provider(self, *arguments: str, **limits: int) -> "Provider":
        """Start a provider and name it as the endpoint of all three judges."""
        provider = self.start_provider(*arguments)
        self.name_endpoints(dict.fromkeys(stage.JUDGES, provider.base_url), **limits)
        return provider

    def start_worker(self, *queues: str) -> Process:
        """Start a worker: Celery's own where there is a broker, else the embedded one.

        Args:
            queues: kinds of passes to work on; all without.
        """
        if self.broker is None:
            chosen = ("--queue", *queues) if queues else ()
            return self._start("worker", "manage.py", "worker", *chosen)
        level = self.environment.get("CAREBENCH_TEST_LOG_LEVEL", "WARNING")
        chosen = ("--queues", ",".join(queues)) if queues else ()
        options = ("--loglevel", level, "--without-mingle", "--without-gossip", *chosen)
        return self._start("celery", "-m", "celery", "-A", "carebench_web", "worker", *options)

    def start_pass(self, *arguments: str, judges: tuple[str, ...] = stage.JUDGES) -> str:
        """Start a pass; gives its id."""
        output, errors, code = self.finish(self.begin_pass(*arguments, judges=judges))
        assert code == 0, errors[-2000:]
        return str(json.loads(output)["pass"])

    def begin_pass(self, *arguments: str, judges: tuple[str, ...] = stage.JUDGES) -> Process:
        """Start a pass without waiting for the command's end."""
        given = ("--benchmark", BENCHMARK, "--rubric", "likert-v1", "--json", *arguments)
        return self.begin("manage.py", "start_pass", "--judge", *judges, *given)

    def status(self, judge_pass: str) -> dict[str, Any]:
        """The document of `pass_status --json`."""
        return dict(json.loads(self.manage("pass_status", judge_pass, "--json")))

    def pages(self, *addresses: str) -> dict[str, str]:
        """The site's pages as a signed-in researcher gets them, by address."""
        output, errors, code = self.finish(self.begin("-m", "tests.chaos.pages", *addresses))
        assert code == 0, errors[-2000:]
        return dict(json.loads(output))

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Read straight from the database."""
        return self.database.query(sql)

    def count(self, where: str = "1 = 1", *, table: str = "judging_verdict") -> int:
        return int(self.query(f"SELECT count(*) FROM {table} WHERE {where}")[0][0])

    def has_settled(self, n: int) -> bool:
        """Whether so many verdicts are settled."""
        return self.count("settled_at IS NOT NULL") >= n

    def is_over(self) -> bool:
        """Whether no pass is running any more."""
        return self.count("state = 'RUNNING'", table="judging_judgepass") == 0

    def logs(self) -> str:
        """Everything that the processes said, in the order in which they were started."""
        return "\n".join(f"──── {log.name}\n{log.read_text()}" for log in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        """Kill what is still running and show the end of what the workers said."""
        for process in self._running:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for log in sorted(self.folder.glob("*.log")):
            print(f"──── {log.name}\n{log.read_text()[-3000:]}")

    def _start(self, name: str, *arguments: str) -> Process:
        log = self.folder / f"{name}-{len(self._running):02}.log"
        with log.open("w") as errors:
            return self._launch(arguments, stdout=subprocess.PIPE, stderr=errors)

    def _launch(self, arguments: tuple[str, ...], *, stdout: Any, stderr: Any) -> Process:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.root,
            env=self.environment,
            stdout=stdout,
            stderr=stderr,
            text=True,
        )
        self._running.append(process)
        return process


class Provider:
    """A running loopback provider."""

    def __init__(self, process: Process, base_url: str) -> None:
        self._process = process
        self.base_url = base_url

    @property
    def port(self) -> int:
        return stage.port_of(self.base_url)

    def stats(self) -> dict[str, Any]:
        """What it counted."""
        return stage.stats(self.base_url)

    @property
    def n_calls(self) -> int:
        """How many judging calls reached it."""
        return int(self.stats()["calls"])

    def kill(self) -> None:
        """End it, so that another can stand at its port."""
        kill(self._process)


@contextlib.contextmanager
def installation(folder: Path, **options: Any) -> Iterator[Installation]:
    """An installation that leaves nothing running behind."""
    site = Installation(folder, **options)
    try:
        yield site
    finally:
        site.stop()


def kill(process: Process) -> None:
    """`kill -9`, and wait until it is gone."""
    process.kill()
    process.wait()


def wait_until(is_so: Callable[[], bool], *, most_s: float, what: str = "it") -> None:
    """Look ten times a second until it is so."""
    deadline = time.monotonic() + most_s
    while not is_so():
        assert time.monotonic() < deadline, f"{what} was not so after {most_s:.0f} s"
        time.sleep(0.1)
