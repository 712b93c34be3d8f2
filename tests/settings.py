"""The application's settings over a throw-away folder and database.

Nothing of the caller's environment reaches the tests: every name that the application reads is
cleared first. `CAREBENCH_TEST_DATABASE` chooses `sqlite` (default) or `postgresql`, which is started
here. pytest-xdist's workers find the folder and the server of the process that started them.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.pgtemp import TempPG

DATABASE_NAME, FOLDER_NAME, SERVER_NAME = (
    "CAREBENCH_TEST_DATABASE",
    "CAREBENCH_TEST_FOLDER",
    "CAREBENCH_TEST_SERVER",
)
KEPT_NAMES = {DATABASE_NAME, FOLDER_NAME, SERVER_NAME, "DJANGO_SETTINGS_MODULE", "DJANGO_ALLOW_ASYNC_UNSAFE"}


def make_folder() -> Path:
    """A folder for this process, below the one that the first process removes."""
    if "pytest" not in sys.modules:
        # The checks of `make check` write nothing, and mypy leaves without running atexit.
        return Path(__file__).resolve().parent.parent / "var" / "check"
    if FOLDER_NAME not in os.environ:
        os.environ[FOLDER_NAME] = tempfile.mkdtemp(prefix="carebench-tests-")
        atexit.register(remove_folder, os.environ[FOLDER_NAME], owner_pid=os.getpid())
    return Path(os.environ[FOLDER_NAME]) / os.environ.get("PYTEST_XDIST_WORKER", "first")


def remove_folder(path: str, *, owner_pid: int) -> None:
    """Remove the tests' folder at exit, but not when a forked child leaves."""
    if os.getpid() == owner_pid:
        shutil.rmtree(path, ignore_errors=True)


for name in [name for name in os.environ if name.startswith(("CAREBENCH_", "CELERY_", "DJANGO_"))]:
    if name not in KEPT_NAMES:
        del os.environ[name]
os.environ.pop("DATABASE_URL", None)

folder = make_folder()
os.environ["CAREBENCH_DATA_DIR"] = str(folder)
os.environ["DJANGO_SECRET_KEY"] = "only-for-tests-" + "0123456789" * 4
match os.environ.get(DATABASE_NAME, "sqlite"):
    case "sqlite":
        pass
    case "postgresql":
        if SERVER_NAME not in os.environ:
            os.environ[SERVER_NAME] = TempPG().url
        os.environ["DATABASE_URL"] = os.environ[SERVER_NAME]
    case other:
        raise ValueError(f"{DATABASE_NAME} is {other!r}; expected sqlite or postgresql.")

from carebench_web.settings import *  # noqa: E402, F403
from carebench_web.settings import DATABASES, USES_SQLITE  # noqa: E402

if USES_SQLITE:
    # A file and not memory: threads and other processes must meet in the same database.
    DATABASES["default"]["TEST"] = {"NAME": str(folder / "test.sqlite3")}
# The real hasher takes a third of a second for each account, by intent.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Each test's client would list every static file anew, a sixth of the time of a page's test.
WHITENOISE_AUTOREFRESH = True
