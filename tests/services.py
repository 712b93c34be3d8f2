"""The two programs outside Python that some tests drive: Chromium and a Redis server.

`python -m tests.services` makes them available before a run. A test whose program is still missing
is skipped with a loud line, and fails where `CI` is set.
"""

import os
import shutil
import subprocess
import sys
from typing import NoReturn

import pytest

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
REDIS_NAMES = ("redis-server", "valkey-server")
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING = "is missing, so this was NOT TESTED"


def find_chromium() -> str | None:
    """Path of the system's Chromium, else of the one that Playwright downloaded."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def find_redis() -> str | None:
    """Path of a Redis or Valkey server."""
    return next((path for name in REDIS_NAMES if (path := shutil.which(name))), None)


def skip_without(program: str) -> NoReturn:
    """Leave the test because `program` is not there; in CI that is a failure."""
    reason = f"{program} {MISSING}. Run `make test` as root on Debian, or install it."
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def main() -> int:
    """Install what is missing where that is possible, and say what is not."""
    packages = []
    if find_chromium() is None:
        packages += ["chromium", "fonts-dejavu-core"]
    if find_redis() is None:
        packages.append("redis-server")
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        _install_by_apt(packages)
    if find_chromium() is None:
        print("Chromium is not installed; asking Playwright for its own.", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    missing = [name for name, find in (("Chromium", find_chromium), ("Redis", find_redis)) if find() is None]
    for name in missing:
        print(f"!!!! {name} {MISSING}: its tests will be skipped.", file=sys.stderr, flush=True)
    return 1 if missing and os.environ.get("CI") else 0


def _install_by_apt(packages: list[str]) -> None:
    print(f"Installing by apt: {' '.join(packages)}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "--quiet", "--quiet", *command], check=False, env=environment)


if __name__ == "__main__":
    sys.exit(main())
