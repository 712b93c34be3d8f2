"""Servers that a test may stop, wipe and start again: PostgreSQL and Redis as they really are."""

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import redis

from tests.pgtemp import TempPG
from tests.services import find_redis, skip_without

START_S = 10.0


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
        """Start it again, unless it runs."""
        if self._server is None or self._server.poll() is not None:
            super()._launch(*self._launched)

    def url_of(self, database: str) -> str:
        """Address of one of its databases, for `DATABASE_URL`."""
        return f"{self.url.rpartition('/')[0]}/{database}"

    def conninfo_of(self, database: str) -> str:
        """The same address as libpq writes it."""
        return f"host={self.root} user=postgres dbname={database}"

    def copy(self, source: str, target: str) -> None:
        """Make `target` anew as a copy of `source`, which nobody may be connected to."""
        with psycopg.connect(self.conninfo, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {target} WITH (FORCE)".encode())
            connection.execute(f"CREATE DATABASE {target} TEMPLATE {source}".encode())

    def _launch(
        self, binaries: Path, data: Path, settings: tuple[str, ...], environment: Mapping[str, str]
    ) -> None:
        self._launched = (binaries, data, settings, environment)
        super()._launch(binaries, data, settings, environment)


class StoppableRedis:
    """A Redis that keeps nothing, on a socket in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._program = find_redis() or skip_without("Redis")
        self._folder = folder
        self.socket = folder / "redis.sock"
        self._server: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        """Address for `CELERY_BROKER_URL`."""
        return f"redis+socket://{self.socket}"

    @property
    def client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self.socket))

    def messages(self) -> list[tuple[Any, Any]]:
        """Every waiting message, as (queue, message)."""
        queues = [key for key in self.client.scan_iter() if self.client.type(key) == b"list"]
        return [(queue, message) for queue in queues for message in self.client.lrange(queue, 0, -1)]

    def double_messages(self) -> list[tuple[Any, Any]]:
        """Put every waiting message a second time, the very same; gives those there were."""
        messages = self.messages()
        self.push(messages)
        return messages

    def push(self, messages: list[tuple[Any, Any]]) -> None:
        """Put messages, as a publisher does."""
        for queue, message in messages:
            self.client.lpush(queue, message)

    def start(self) -> None:
        """Start it, empty."""
        options = ("--port", "0", "--unixsocket", str(self.socket), "--save", "", "--appendonly", "no")
        self._server = subprocess.Popen(
            [self._program, *options], cwd=self._folder, stdout=subprocess.DEVNULL, start_new_session=True
        )
        deadline = time.monotonic() + START_S
        while True:
            try:
                self.client.ping()
                return
            except redis.ConnectionError:
                assert time.monotonic() < deadline, "Redis did not start"
                time.sleep(0.02)

    def kill(self) -> None:
        """Take it away with all it holds; connections break."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self.socket.unlink(missing_ok=True)


@contextlib.contextmanager
def stoppable_redis(folder: Path) -> Iterator[StoppableRedis]:
    """A Redis that is gone at the end."""
    folder.mkdir()
    broker = StoppableRedis(folder)
    try:
        yield broker
    finally:
        broker.kill()
