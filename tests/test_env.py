"""Reading the environment: good values are read, bad ones stop the start with a sentence."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from carebench_web import env

ROOT = Path(__file__).resolve().parent.parent
NAME = "CAREBENCH_TEST_VALUE"
SECRET_KEY = "k" * 40


def test_text_unset_without_default_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)

    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is not set"):
        env.read_text(NAME)


@pytest.mark.parametrize("value", ["", "  ", "\t"], ids=["empty", "spaces", "tab"])
def test_text_blank_counts_as_unset(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)

    assert env.read_text(NAME, default="else") == "else"


def test_text_loses_surrounding_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, " two words \n")

    assert env.read_text(NAME) == "two words"


@pytest.mark.parametrize(
    ("value", "expected"),
    [("true", True), ("Yes", True), ("1", True), ("ON", True), ("false", False), ("0", False), ("no", False)],
)
def test_flag_reads_common_words(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv(NAME, value)

    assert env.read_flag(NAME, default=not expected) is expected


@pytest.mark.parametrize("default", [True, False])
def test_flag_unset_is_the_default(monkeypatch: pytest.MonkeyPatch, default: bool) -> None:
    monkeypatch.delenv(NAME, raising=False)

    assert env.read_flag(NAME, default=default) is default


def test_flag_of_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "perhaps")

    with pytest.raises(ImproperlyConfigured, match=f"{NAME} is 'perhaps'; expected one of"):
        env.read_flag(NAME, default=False)


@pytest.mark.parametrize("value", ["0.5", "60", "6e1"])
def test_number_within_its_limits_is_read(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)

    assert env.read_number(NAME, default=1, least=0.5, most=60) == float(value)


@pytest.mark.parametrize("value", ["0.4", "61", "nan", "inf", "ten", "1,5"])
def test_number_outside_its_limits_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv(NAME, value)

    with pytest.raises(ImproperlyConfigured, match=r"expected a number from 0\.5 to 60"):
        env.read_number(NAME, default=1, least=0.5, most=60)


def test_list_drops_blanks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, "a.example, ,b.example,")

    assert env.read_list(NAME, default="") == ["a.example", "b.example"]


def test_folder_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(NAME, str(tmp_path / "new" / "folder"))

    assert env.read_folder(NAME, default=tmp_path).is_dir()


def test_folder_under_a_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(NAME, str(tmp_path / "file" / "folder"))

    with pytest.raises(ImproperlyConfigured, match="cannot be made"):
        env.read_folder(NAME, default=tmp_path)


def test_file_unset_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)

    assert env.read_file_path(NAME) is None


def test_file_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(NAME, str(tmp_path / "endpoints.toml"))

    with pytest.raises(ImproperlyConfigured, match="which is no file"):
        env.read_file_path(NAME)


def test_database_unset_is_sqlite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(NAME, raising=False)

    database = env.read_database(NAME, default_sqlite=tmp_path / "own.sqlite3")

    assert database["ENGINE"] == "django.db.backends.sqlite3"
    assert database["NAME"] == str(tmp_path / "own.sqlite3")


def test_database_of_postgresql_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(NAME, "postgresql://care:secret@db.example:5433/bench")

    database = env.read_database(NAME, default_sqlite=tmp_path / "unused")

    assert database["ENGINE"] == "django.db.backends.postgresql"
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 5433, "bench")
    assert (database["USER"], database["PASSWORD"]) == ("care", "secret")


@pytest.mark.parametrize(
    "url",
    ["mysql://u@h/n", "/var/lib/bench.sqlite3", "postgresql://u@h:5432/"],
    ids=["mysql", "path", "no-name"],
)
def test_database_of_another_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str
) -> None:
    monkeypatch.setenv(NAME, url)

    with pytest.raises(ImproperlyConfigured, match=NAME):
        env.read_database(NAME, default_sqlite=tmp_path / "unused")


@pytest.mark.parametrize(
    "url", ["memory://", "redis://h:6379/0", "rediss://h/0", "redis+socket:///run/redis.sock"]
)
def test_broker_of_a_known_kind_is_taken(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv(NAME, url)

    assert env.read_broker(NAME) == url


@pytest.mark.parametrize("url", ["foo", "amqp://u:hidden@h//", "redis:h"])
def test_broker_of_another_kind_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv(NAME, url)

    with pytest.raises(ImproperlyConfigured, match=NAME) as refusal:
        env.read_broker(NAME)

    assert "hidden" not in str(refusal.value)


def start(
    tmp_path: Path, *, command: Sequence[str] = ("manage.py", "check"), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Start the application with this environment alone, as a deployer would."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "CAREBENCH_DATA_DIR": str(tmp_path)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_start_with_only_a_secret_key_works(tmp_path: Path) -> None:
    started = start(tmp_path, DJANGO_SECRET_KEY=SECRET_KEY)

    assert started.returncode == 0, started.stderr


def test_web_process_without_collected_files_starts_without_a_warning(tmp_path: Path) -> None:
    script = (
        "from carebench_web import settings; settings.STATIC_ROOT = settings.DATA_DIR / 'none'; "
        "import carebench_web.wsgi"
    )

    started = start(tmp_path, command=("-c", script), DJANGO_SECRET_KEY=SECRET_KEY)

    assert (started.returncode, started.stderr) == (0, "")


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({}, "DJANGO_SECRET_KEY is not set"),
        ({"DJANGO_SECRET_KEY": "short"}, "DJANGO_SECRET_KEY has 5 characters; expected at least 32"),
        ({"DJANGO_SECRET_KEY": SECRET_KEY, "DJANGO_DEBUG": "maybe"}, "DJANGO_DEBUG is 'maybe'"),
        (
            {"DJANGO_SECRET_KEY": SECRET_KEY, "DATABASE_URL": "oracle://x"},
            "DATABASE_URL begins with 'oracle:'",
        ),
        ({"DJANGO_SECRET_KEY": SECRET_KEY, "CAREBENCH_ENDPOINTS_FILE": "/nowhere.toml"}, "which is no file"),
    ],
    ids=["no-key", "short-key", "bad-flag", "bad-database", "no-endpoints-file"],
)
def test_start_with_a_bad_value_stops_with_its_name(
    tmp_path: Path, environment: dict[str, str], sentence: str
) -> None:
    started = start(tmp_path, **environment)

    assert started.returncode != 0
    assert sentence in started.stderr


def test_every_setting_is_in_the_example() -> None:
    source = (ROOT / "carebench_web" / "settings.py").read_text()
    read = set(re.findall(r'env\.read_\w+\(\s*"(\w+)"', source))
    shown = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), flags=re.MULTILINE))

    assert read == shown
