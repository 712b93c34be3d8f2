"""`manage.py demo` as a person runs it: in a copy of the tree, to the pages and back to nothing."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from carebench_web.demo.environment import find_free_port

ROOT = Path(__file__).resolve().parents[2]
START_S = 120
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))

pytestmark = pytest.mark.long


@pytest.fixture
def copy_of_the_tree(tmp_path: Path) -> Path:
    """What git tracks, in a folder of its own, so that nobody's own demo is touched."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def demo(copy_of_the_tree: Path) -> Iterator[tuple[subprocess.Popen[str], int, Path]]:
    port = find_free_port()
    with (copy_of_the_tree / "output.txt").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", str(port)],
            cwd=copy_of_the_tree,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        try:
            yield process, port, copy_of_the_tree
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(30)


def wait_for(pattern: str, folder: Path, process: subprocess.Popen[str]) -> str:
    ends_at = time.monotonic() + START_S
    while time.monotonic() < ends_at:
        text = (folder / "output.txt").read_text()
        if re.search(pattern, text):
            return text
        assert process.poll() is None, text
        time.sleep(0.5)
    raise AssertionError(f"{pattern!r} did not appear in:\n{text}")


def processes_in(folder: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "cwd").resolve() == folder:
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
    return found


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="lists processes through /proc")
def test_demo_serves_judges_live_and_leaves_nothing_running(
    demo: tuple[subprocess.Popen[str], int, Path],
) -> None:
    process, port, folder = demo

    text = wait_for(r"Ctrl-C stops it", folder, process)
    with DIRECT.open(f"http://127.0.0.1:{port}/sign-in/") as answer:
        page = answer.read().decode()
    n_running = len(processes_in(folder))
    second = subprocess.run(
        [sys.executable, "manage.py", "demo", "--port", str(find_free_port())],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    process.send_signal(signal.SIGINT)
    code = process.wait(40)

    passwords = json.loads((folder / "var/demo/accounts.json").read_text())
    assert all(password in text for password in passwords.values())
    assert "published" in text
    assert second.returncode != 0
    assert "A demo runs already" in second.stderr
    assert "<form" in page
    assert n_running >= 4
    assert code == 0
    assert processes_in(folder) == []
