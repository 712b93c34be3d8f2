"""The demo's child processes: started together, and all stopped whatever happens."""

import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import FrameType, TracebackType

from django.conf import settings

STOP_S = 10.0
START_S = 30.0
LOOK_S = 0.2
# A proxy of the shell's environment has no business with this machine's own addresses.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Stopped(Exception):
    """A stop was asked for: Ctrl-C, or a signal to end."""


class Processes:
    """Child processes by name. Leaving the `with` block ends every one that still runs."""

    def __init__(self, log_folder: Path) -> None:
        self._log_folder = log_folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Processes":
        signal.signal(signal.SIGTERM, _raise_stopped)
        signal.signal(signal.SIGHUP, _raise_stopped)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A second Ctrl-C must not leave half of them behind.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        ends_at = time.monotonic() + STOP_S
        for process in self._running.values():
            try:
                process.wait(timeout=max(ends_at - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(self, name: str, words: str, *more: str) -> None:
        """Start `python WORDS MORE...`; what it prints goes to `NAME.log`.

        `words` is split at spaces; paths, which may hold some, come as `more`.
        """
        with (self._log_folder / f"{name}.log").open("wb") as log:
            # A session of its own: Ctrl-C reaches this process alone, which then ends them in order.
            self._running[name] = subprocess.Popen(
                [sys.executable, *words.split(), *more],
                cwd=settings.BASE_DIR,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_answers(self, name: str, url: str) -> None:
        """Wait until a started process answers at `url`.

        Raises:
            RuntimeError: it ended, or did not answer in 30 s; the message names its log.
        """
        ends_at = time.monotonic() + START_S
        while time.monotonic() < ends_at:
            self.check()
            try:
                with DIRECT.open(url, timeout=2):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(LOOK_S)
        raise RuntimeError(
            f"{name} did not answer within {START_S:.0f} s. See {self._log_folder / name}.log."
        )

    def check(self) -> None:
        """Raise RuntimeError when a started process has ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise RuntimeError(
                    f"{name} ended with code {process.returncode}. See {self._log_folder / name}.log."
                )

    def wait(self) -> None:
        """Wait until a process ends (RuntimeError) or a stop is asked for (Stopped, KeyboardInterrupt)."""
        while True:
            self.check()
            time.sleep(LOOK_S)


def _raise_stopped(number: int, frame: FrameType | None) -> None:
    raise Stopped
