"""The web tier as it is deployed: gunicorn with its workers, in a process group that can be killed."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.chaos.wire import Broken, Wire

ROOT = Path(__file__).resolve().parents[2]
START_S = 60.0


class WebServer:
    """gunicorn over one installation, at a port that stays the same when it is started again."""

    def __init__(
        self, environment: Mapping[str, str], *, log: Path, n_workers: int = 2, n_threads: int = 4
    ) -> None:
        self._environment = environment
        self._log = log
        self._options = ("--workers", str(n_workers), "--threads", str(n_threads), "--preload")
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    @property
    def master_pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [sys.executable, "-m", "gunicorn", "carebench_web.wsgi", "--bind", f"127.0.0.1:{self.port}"]
        command += [*self._options, "--keep-alive", "60", "--no-control-socket", "--log-level", "warning"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=dict(self._environment),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_S
        while not self._answers():
            assert self._process.poll() is None, f"gunicorn ended: {self._log.read_text()[-2000:]}"
            assert time.monotonic() < deadline, f"gunicorn did not answer for {START_S:.0f} s"
            time.sleep(0.05)

    def worker_pids(self) -> list[int]:
        """The workers that run at this moment."""
        children = Path(f"/proc/{self.master_pid}/task/{self.master_pid}/children").read_text()
        return [int(pid) for pid in children.split()]

    def kill_worker(self, number: int) -> None:
        """`kill -9` one worker; gunicorn starts another in its place."""
        pids = self.worker_pids()
        if pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pids[number % len(pids)], signal.SIGKILL)

    def kill(self) -> None:
        """`kill -9` all of it at once."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _answers(self) -> bool:
        wire = Wire(self.port)
        try:
            return wire.ask("GET", "/health/", {}).status == 200
        except Broken:
            return False
        finally:
            wire.close()


@contextlib.contextmanager
def serving(server: WebServer) -> Iterator[WebServer]:
    """The server for the length of a `with` block; nothing of it is left running."""
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
