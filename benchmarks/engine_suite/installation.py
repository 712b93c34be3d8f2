"""An installation in a throw-away folder: provider, database, endpoints file, and processes over them."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.pgtemp import TempPG

ROOT = Path(__file__).resolve().parents[2]
ENDPOINT = "bench"
MODEL = "gpt-5.4"
KEY_VARIABLE = "CAREBENCH_BENCH_KEY"


@contextlib.contextmanager
def provider(latency_ms: int) -> Iterator[str]:
    """The fast provider as a process; gives its base URL."""
    module = [sys.executable, "-m", "benchmarks.engine_suite.provider", str(latency_ms)]
    with _serving(module) as base_url:
        yield base_url


@contextlib.contextmanager
def faulty_provider(latency_ms: int, *faults: str) -> Iterator[str]:
    """The simulated provider with faults as a process; gives its base URL."""
    options = ["--port", "0", "--latency-ms", str(latency_ms), *faults]
    with _serving([sys.executable, "manage.py", "fake_provider", *options]) as base_url:
        yield base_url


@contextlib.contextmanager
def _serving(command: Sequence[str]) -> Iterator[str]:
    environment = os.environ | {"DJANGO_SECRET_KEY": "-" * 40}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


@dataclass(frozen=True)
class Installation:
    """A database of one kind with its normal durability, and what its processes need to find it."""

    folder: Path
    environment: Mapping[str, str]

    def at(self, base_url: str, *, slots: int, most: int | None = None) -> dict[str, str]:
        """An environment whose one endpoint is at `base_url`, with so many slots a loop.

        `most` is the endpoint's own limit; that of one loop when left out.
        """
        path = self.folder / "endpoints.toml"
        path.write_text(
            f'[[endpoint]]\nname = "{ENDPOINT}"\nbase_url = "{base_url}"\nkey_variable = "{KEY_VARIABLE}"\n'
            f"allow_private = true\nmax_in_flight = {most or slots}\n"
            f'[[endpoint.model]]\nslug = "{MODEL}"\nmodel_id = "{MODEL}"\n'
        )
        return {**self.environment, "CAREBENCH_SLOTS_PER_LOOP": str(slots)}


@contextlib.contextmanager
def installation(database: str) -> Iterator[Installation]:
    """An empty installation on SQLite or PostgreSQL, gone at the end."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("CAREBENCH_", "DJANGO_"))
    }
    with tempfile.TemporaryDirectory(prefix="carebench-bench-") as name:
        folder = Path(name)
        environment = kept | {
            "CAREBENCH_DATA_DIR": name,
            "CAREBENCH_ENDPOINTS_FILE": str(folder / "endpoints.toml"),
            "DJANGO_SECRET_KEY": "-" * 40,
            "DJANGO_SETTINGS_MODULE": "carebench_web.settings",
            KEY_VARIABLE: "bench",
        }
        server = TempPG(durable=True) if database == "postgresql" else None
        if server is not None:
            environment["DATABASE_URL"] = server.url
        try:
            yield Installation(folder, environment)
        finally:
            if server is not None:
                server.stop()


class Child:
    """A process of `benchmarks.engine_suite.child` that waits for a word to begin, then prints JSON."""

    def __init__(self, environment: Mapping[str, str], *arguments: str) -> None:
        command = [sys.executable, "-m", "benchmarks.engine_suite.child", *arguments]
        self._what = " ".join(command)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=dict(environment), stdin=pipe, stdout=pipe, text=True
        )
        self._read()

    def begin(self) -> None:
        """Let it do its work now that it is loaded."""
        self._write("go")

    def end(self) -> None:
        """Tell one that works until it is told."""
        self._write("end")

    def result(self) -> dict[str, Any]:
        """Wait for what it printed.

        Raises:
            RuntimeError: it failed; its error output stands above.
        """
        document = self._read()
        self._process.communicate()
        return dict(json.loads(document))

    def _write(self, word: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    def _read(self) -> str:
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            self._process.communicate()
            raise RuntimeError(f"{self._what} ended with code {self._process.returncode}.")
        return line


def run(environment: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    """Run one child to its end; gives what it printed."""
    child = Child(environment, *arguments)
    child.begin()
    return child.result()
