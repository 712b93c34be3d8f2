"""The structure that the rest relies on: who may import whom, what start-up loads, where files lie."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection, models

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("annotation", "judging", "carebench_web")
HEAVY_LIBRARIES = "openai bpe_openai scipy statsmodels sklearn pandas altair vl_convert openpyxl"
TOP_LEVEL = {
    *PACKAGES,
    *("templates", "tests", "benchmarks", "docs", "locale", ".ci"),
    *("manage.py", "requirements.txt", "requirements-dev.txt", "pyproject.toml", "Makefile"),
    *("README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *(".env.example", ".gitignore", ".dockerignore", "compose.yaml", "Dockerfile"),
}
MAX_LINES = 400
APPEND_ONLY_TABLES = {
    "annotation_label",
    "annotation_auditevent",
    "annotation_responserevision",
    "judging_verdictattempt",
    "judging_generationattempt",
    "judging_verdictrevision",
    "judging_rubric",
    "judging_gradingrule",
}


@pytest.fixture(scope="module")
def copied_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three packages and the import rules, free to be broken."""
    folder = tmp_path_factory.mktemp("sources")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "static")
        )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture
def sources(copied_sources: Path) -> Iterator[Path]:
    """The copy, mended after each test."""
    before = {path: path.read_text() for path in copied_sources.rglob("*.py")}
    yield copied_sources
    for path, text in before.items():
        path.write_text(text)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the import contracts of the packages in `folder`."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=120)


def test_import_contracts_hold() -> None:
    checked = lint_imports(ROOT)

    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("annotation/models.py", "import judging.models", "carebench_web → judging → annotation"),
        ("judging/models.py", "import carebench_web.views", "carebench_web → judging → annotation"),
        ("annotation/choices.py", "import annotation.models", "Layers inside annotation"),
        ("judging/models.py", "import judging.urls", "Layers inside judging"),
        ("judging/stats/__init__.py", "import django.db", "judging.stats is pure"),
        ("judging/stats/__init__.py", "import judging.models", "judging.stats is pure"),
        ("judging/llm/__init__.py", "import django.conf", "judging.llm knows no Django"),
        ("judging/models.py", "import openai", "Only judging.llm.client imports openai"),
    ],
    ids=[
        "annotation-imports-judging",
        "judging-imports-composition",
        "annotation-upwards",
        "judging-upwards",
        "stats-imports-django",
        "stats-imports-models",
        "llm-imports-django",
        "openai-outside-client",
    ],
)
def test_forbidden_import_is_caught(sources: Path, module: str, line: str, contract: str) -> None:
    with (sources / module).open("a") as file:
        file.write(f"\n{line}\n")

    checked = lint_imports(sources)

    assert checked.returncode == 1
    assert f"{contract} BROKEN" in checked.stdout


def test_module_without_a_layer_is_caught(sources: Path) -> None:
    stray = sources / "annotation" / "helpers.py"
    stray.touch()

    checked = lint_imports(sources)
    stray.unlink()

    assert "annotation.helpers" in checked.stdout
    assert checked.returncode == 1


def test_judging_leaves_no_way_back_into_annotation() -> None:
    """A reverse accessor would lead from a response on an annotator's page to its verdicts."""
    accessors = {
        f"{model.__name__}.{field.name}": field.remote_field.related_name
        for model in apps.get_app_config("judging").get_models()
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignKey | models.ManyToManyField)
        and field.related_model._meta.app_label == "annotation"
    }

    assert accessors
    assert set(accessors.values()) == {"+"}


@pytest.mark.django_db
def test_migrations_are_complete(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        call_command("makemigrations", "--check", "--dry-run")
    except SystemExit:
        pytest.fail(f"A migration is missing:\n{capsys.readouterr().out}", pytrace=False)


@pytest.mark.django_db
def test_missing_migration_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps.get_model("annotation", "Prompt")._meta.get_field("case_uid"), "max_length", 201)

    with pytest.raises(SystemExit):
        call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_start_up_loads_no_heavy_library() -> None:
    code = (
        "import sys, django; django.setup(); import carebench_web.urls;"
        f"print(*sorted(set('{HEAVY_LIBRARIES}'.split()) & set(sys.modules)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "carebench_web.settings"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert loaded.stdout.split() == []


@pytest.mark.django_db
def test_append_only_tables_have_their_triggers() -> None:
    """SQLite drops a table's triggers when a migration rebuilds the table."""
    query, n_per_table = (
        ("SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'", 2)
        if connection.vendor == "sqlite"
        else ("SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE NOT tgisinternal", 1)
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        tables = [table for table, _ in cursor.fetchall()]

    assert sorted(tables) == sorted([*APPEND_ONLY_TABLES] * n_per_table)


def kept_files() -> list[Path]:
    """Files that are in the repository or would be added to it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).exists()]


def test_top_level_holds_only_what_is_agreed() -> None:
    present = {path.relative_to(ROOT).parts[0] for path in kept_files()}

    assert present <= TOP_LEVEL


def test_no_module_is_too_long() -> None:
    too_long = {
        str(path.relative_to(ROOT)): n_lines
        for path in kept_files()
        if path.suffix in {".py", ".js", ".html"}
        and (n_lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }

    assert too_long == {}
