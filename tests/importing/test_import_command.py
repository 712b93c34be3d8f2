"""`import_files`: exit codes, the JSON document, and what people read."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Benchmark, Prompt
from tests.importing.sheets import label_row, prompt_row, response_row, score_row, write_folder

pytestmark = pytest.mark.django_db


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """(exit code, standard output, standard error)."""
    code = 0
    try:
        call_command("import_files", *arguments)
    except SystemExit as stop:
        code = int(stop.code or 0)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code, out, _ = run(capsys, *arguments, "--json")
    return code, json.loads(out)


def test_json_document_has_exactly_this_shape(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(
        tmp_path,
        responses=[response_row(rollout="0.0")],
        labels=[label_row(), label_row(human_rating="true")],
        scores=[score_row()],
    )
    (folder / "other.csv").write_text("x")

    code, document = run_json(capsys, str(folder), "--benchmark", "trial")

    assert code == 1
    bad_rating = document["errors"][0].pop("message")
    assert "'true'" in bad_rating
    assert document == {
        "dry_run": False,
        "stored": False,
        "files": [
            {
                "path": "responses.csv",
                "kind": "responses",
                "rows": 1,
                "created": 1,
                "unchanged": 0,
                "normalised": 1,
                "rejected": 0,
                "implied": {"prompts": 1},
                "notes": [{"text": "rollout 0.0 was read as 0", "count": 1}],
            },
            {
                "path": "annotated_responses.csv",
                "kind": "labels",
                "rows": 2,
                "created": 1,
                "unchanged": 0,
                "normalised": 0,
                "rejected": 1,
                "implied": {"prompts": 0},
                "notes": [],
            },
            {
                "path": "judge_scores.csv",
                "kind": "scores",
                "rows": 1,
                "created": 1,
                "unchanged": 0,
                "normalised": 0,
                "rejected": 0,
                "implied": {},
                "notes": [{"text": "judge 'judge-a' is new", "count": 1}],
            },
            {
                "path": "other.csv",
                "kind": None,
                "rows": 0,
                "created": 0,
                "unchanged": 0,
                "normalised": 0,
                "rejected": 0,
                "implied": {},
                "notes": [{"text": "ignored: not a name that is read", "count": 1}],
            },
        ],
        "totals": {
            "responses": {"created": 1, "unchanged": 0, "rejected": 0},
            "labels": {"created": 1, "unchanged": 0, "rejected": 1},
            "scores": {"created": 1, "unchanged": 0, "rejected": 0},
        },
        "new_judges": ["judge-a"],
        "new_models": ["model-a"],
        "errors": [
            {
                "file": "annotated_responses.csv",
                "line": 3,
                "column": "human_rating",
                "code": "bad_rating",
            }
        ],
    }


@pytest.mark.parametrize(
    ("rating", "options", "code", "n_prompts"),
    [
        pytest.param("Yes", [], 0, 1, id="all good"),
        pytest.param("Yes", ["--dry-run"], 0, 0, id="dry run"),
        pytest.param("1", [], 1, 0, id="a bad row"),
        pytest.param("1", ["--dry-run"], 1, 0, id="dry run with a bad row"),
        pytest.param("1", ["--skip-bad-rows"], 1, 1, id="a bad row skipped is not all done"),
    ],
)
def test_exit_code_is_0_only_when_all_was_done(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    rating: str,
    options: list[str],
    code: int,
    n_prompts: int,
) -> None:
    folder = write_folder(tmp_path, prompts=[prompt_row()], labels=[label_row(human_rating=rating)])

    assert run_json(capsys, str(folder), "--benchmark", "trial", *options)[0] == code
    assert Prompt.objects.count() == n_prompts


def test_refusal_of_the_whole_call_is_an_error_message(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no file or folder") as refusal:
        call_command("import_files", str(tmp_path / "nowhere"), "--benchmark", "trial")

    assert refusal.value.returncode == 1


def test_notices_and_encoding_are_taken_from_the_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path, prompts=[prompt_row(prompt="Café?")])
    path = folder / "prompts.csv"
    path.write_bytes(path.read_text().encode("cp1252"))
    options = ["--encoding", "cp1252", "--licence", "CC0", "--attribution", "A. Author", "--canary", "c-1"]

    code, _ = run_json(capsys, str(path), "--benchmark", "trial", *options)

    benchmark = Benchmark.objects.get()
    assert code == 0
    assert (benchmark.licence, benchmark.attribution, benchmark.canary) == ("CC0", "A. Author", "c-1")
    assert Prompt.objects.get().text == "Café?"


def test_people_read_counts_notes_and_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_folder(tmp_path, labels=[label_row(human_rating="yes"), label_row(severity="9")])

    code, out, err = run(capsys, str(folder), "--benchmark", "trial")

    assert code == 1
    assert (
        "annotated_responses.csv (labels): 2 rows, 1 new, 0 unchanged, 1 refused, 1 normalised, "
        "1 prompts made, 1 responses made" in out
    )
    assert "note: human_rating 'yes' was read as Acceptable (1)" in out
    assert "Nothing was stored. Mend the rows above, or use --skip-bad-rows" in out
    assert err.startswith("annotated_responses.csv line 3: The cell severity is 9; expected 1")


def test_long_lists_of_problems_are_cut_for_people(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_folder(tmp_path, prompts=[prompt_row(case_uid="") for _ in range(60)])

    _, _, err = run(capsys, str(folder), "--benchmark", "trial")

    assert len(err.splitlines()) == 51
    assert "10 more problems; --json lists all" in err


def test_file_that_cannot_be_read_is_not_offered_for_skipping(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.xlsx"
    path.write_bytes(b"PK\x03\x04")

    code, out, err = run(capsys, str(path), "--benchmark", "trial")

    assert code == 1
    assert "data.xlsx: not read" in out
    assert "--skip-bad-rows" not in out
    assert "Save it as CSV" in err
