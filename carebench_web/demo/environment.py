"""The environment of `manage.py demo`: everything stays under `var/demo`, whatever the shell holds.

Must run before settings are read, so it knows no Django.
"""

import os
import re
import secrets
import socket
from collections.abc import MutableMapping
from pathlib import Path

DEMO_FOLDER = Path(__file__).resolve().parents[2] / "var" / "demo"
PROVIDER_LIMIT = 8
ENDPOINTS_NAME = "endpoints.toml"
PROVIDER_PORT = re.compile(r"127\.0\.0\.1:([0-9]{1,5})/")

ENDPOINTS_TEMPLATE = """\
# Written by `manage.py demo`: the loopback provider, whose answers are simulated.
[[endpoint]]
name = "simulated"
base_url = "http://127.0.0.1:{port}/v1"
allow_private = true
max_in_flight = {limit}

  [[endpoint.model]]
  slug = "gemini-3.1-pro"
  short_name = "Gemini"
  family = "Google"

  [[endpoint.model]]
  slug = "gpt-5.4"
  short_name = "GPT"
  family = "OpenAI"

  [[endpoint.model]]
  slug = "claude-opus-4.6"
  short_name = "Opus"
  family = "Anthropic"

  [[endpoint.model]]
  slug = "claude-sonnet-4.6"
  short_name = "Sonnet"
  family = "Anthropic"
  roles = ["classifier"]
"""


def prepare_environment(
    environment: MutableMapping[str, str] = os.environ, *, folder: Path = DEMO_FOLDER
) -> None:
    """Point every setting at the demo's own folder, and write its key and endpoints file once.

    A demo that runs already must not notice: this is done for `demo --help` as well.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key_file = folder / "secret_key"
    if not key_file.exists():
        key_file.write_text(secrets.token_urlsafe(48))
        key_file.chmod(0o600)
    endpoints_file = folder / ENDPOINTS_NAME
    if not endpoints_file.exists():
        write_endpoints(endpoints_file, port=find_free_port())
    for name in [name for name in environment if name.startswith(("CAREBENCH_", "DJANGO_"))]:
        del environment[name]
    environment.update(
        {
            "CAREBENCH_DATA_DIR": str(folder),
            "CAREBENCH_ENDPOINTS_FILE": str(endpoints_file),
            "CELERY_BROKER_URL": "memory://",
            "DATABASE_URL": f"sqlite:///{folder / 'carebench.sqlite3'}",
            "DJANGO_SECRET_KEY": key_file.read_text().strip(),
            "DJANGO_SETTINGS_MODULE": "carebench_web.settings",
        }
    )


def write_endpoints(file: Path, *, port: int) -> None:
    """Name the loopback provider at `port` as the only endpoint of the demo's judges."""
    file.write_text(ENDPOINTS_TEMPLATE.format(port=port, limit=PROVIDER_LIMIT))


def choose_provider_port(file: Path) -> int:
    """The port that the endpoints file names if nothing listens on it, else a free one; writes the file anew.

    The same port each time: a pass of an earlier run goes on only at the address that it was started with.
    Written anew, since the file of an earlier version may name fewer models.
    """
    named = PROVIDER_PORT.search(file.read_text())
    port = int(named[1]) if named is not None and is_free(int(named[1])) else find_free_port()
    write_endpoints(file, port=port)
    return port


def is_free(port: int) -> bool:
    """Whether nothing listens on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def find_free_port() -> int:
    """A port of this machine that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
