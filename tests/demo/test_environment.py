"""The demo keeps to its own folder, whatever the shell holds."""

import socket
import stat
import tomllib
from pathlib import Path

from carebench_web.demo.environment import (
    choose_provider_port,
    prepare_environment,
    write_endpoints,
)


def prepared(folder: Path, **before: str) -> dict[str, str]:
    environment = dict(before)
    prepare_environment(environment, folder=folder)
    return environment


def test_everything_lies_in_the_demo_folder(tmp_path: Path) -> None:
    environment = prepared(tmp_path / "demo")

    assert environment["CAREBENCH_DATA_DIR"] == str(tmp_path / "demo")
    assert environment["DATABASE_URL"].startswith(f"sqlite:///{tmp_path / 'demo'}")
    assert environment["CELERY_BROKER_URL"] == "memory://"


def test_settings_of_the_shell_do_not_reach_the_demo(tmp_path: Path) -> None:
    environment = prepared(
        tmp_path,
        DATABASE_URL="postgresql://db.example/production",
        DJANGO_DEBUG="true",
        CAREBENCH_ENDPOINTS_FILE="/etc/endpoints.toml",
        HOME="/home/somebody",
    )

    assert "production" not in environment["DATABASE_URL"]
    assert "DJANGO_DEBUG" not in environment
    assert environment["CAREBENCH_ENDPOINTS_FILE"] == str(tmp_path / "endpoints.toml")
    assert environment["HOME"] == "/home/somebody"


def test_secret_key_is_made_once_and_only_the_owner_reads_it(tmp_path: Path) -> None:
    first = prepared(tmp_path)["DJANGO_SECRET_KEY"]
    second = prepared(tmp_path)["DJANGO_SECRET_KEY"]

    assert first == second
    assert len(first) >= 32
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_endpoints_file_leads_to_this_machine_alone(tmp_path: Path) -> None:
    prepared(tmp_path)

    document = tomllib.loads((tmp_path / "endpoints.toml").read_text())

    (endpoint,) = document["endpoint"]
    assert endpoint["base_url"].startswith("http://127.0.0.1:")
    assert {model["slug"]: model.get("roles") for model in endpoint["model"]} == {
        **dict.fromkeys(("gemini-3.1-pro", "gpt-5.4", "claude-opus-4.6")),
        "claude-sonnet-4.6": ["classifier"],
    }


def test_a_demo_that_runs_keeps_its_endpoints_file(tmp_path: Path) -> None:
    prepared(tmp_path)
    before = (tmp_path / "endpoints.toml").read_text()

    prepared(tmp_path)

    assert (tmp_path / "endpoints.toml").read_text() == before


def test_provider_keeps_its_port_while_it_is_free(tmp_path: Path) -> None:
    prepared(tmp_path)
    file = tmp_path / "endpoints.toml"
    first = choose_provider_port(file)

    assert choose_provider_port(file) == first
    assert f"127.0.0.1:{first}/" in file.read_text()


def test_the_file_of_an_earlier_version_gets_the_models_of_this_one(tmp_path: Path) -> None:
    prepared(tmp_path)
    file = tmp_path / "endpoints.toml"
    full = file.read_text()
    file.write_text(full.partition('  slug = "claude-sonnet-4.6"')[0])

    choose_provider_port(file)

    assert file.read_text() == full


def test_provider_moves_when_its_port_is_taken(tmp_path: Path) -> None:
    prepared(tmp_path)
    file = tmp_path / "endpoints.toml"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        write_endpoints(file, port=taken)

        chosen = choose_provider_port(file)

    assert chosen != taken
    assert f"127.0.0.1:{chosen}/" in file.read_text()
