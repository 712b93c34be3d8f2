"""The application's settings over a throw-away folder and database.

Nothing of the caller's environment reaches the tests: every name that the application reads is
cleared first. `CAREBENCH_TEST_DATABASE` chooses `sqlite` (default) or `postgresql`, which is started
here; pytest-xdist's workers find the server that the first process started.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from tests.pgtemp import TempPG

DATABASE_KIND = os.environ.get("CAREBENCH_TEST_DATABASE", "sqlite")
SERVER_NAME = "CAREBENCH_TEST_SERVER"
KEPT_NAMES = {"CAREBENCH_TEST_DATABASE", SERVER_NAME, "DJANGO_SETTINGS_MODULE", "DJANGO_ALLOW_ASYNC_UNSAFE"}

for name in [name for name in os.environ if name.startswith(("CAREBENCH_", "CELERY_", "DJANGO_"))]:
    if name not in KEPT_NAMES:
        del os.environ[name]
os.environ.pop("DATABASE_URL", None)

folder = Path(tempfile.mkdtemp(prefix="carebench-tests-"))
_owner_pid = os.getpid()


def _remove_folder() -> None:
    if os.getpid() == _owner_pid:
        shutil.rmtree(folder, ignore_errors=True)


atexit.register(_remove_folder)
os.environ["CAREBENCH_DATA_DIR"] = str(folder)
os.environ["DJANGO_SECRET_KEY"] = "only-for-tests-" + "0123456789" * 4
if DATABASE_KIND == "postgresql":
    if SERVER_NAME not in os.environ:
        server = TempPG()
        os.environ[SERVER_NAME] = server.url
    os.environ["DATABASE_URL"] = os.environ[SERVER_NAME]
elif DATABASE_KIND != "sqlite":
    raise ValueError(f"CAREBENCH_TEST_DATABASE is {DATABASE_KIND!r}; expected sqlite or postgresql.")

from carebench_web.settings import *  # noqa: E402, F403
from carebench_web.settings import DATABASES, USES_SQLITE  # noqa: E402

if USES_SQLITE:
    # A file and not memory: threads and other processes must meet in the same database.
    DATABASES["default"]["TEST"] = {"NAME": str(folder / "test.sqlite3")}
# The real hasher takes a third of a second for each account, by intent.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
