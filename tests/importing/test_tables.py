"""Delimiters, headers, fields and cells of a text file."""

import re
from pathlib import Path

import pytest

from annotation.importing.tables import MAX_CELL_BYTES
from annotation.models import Benchmark, Prompt, Response
from tests.importing.sheets import (
    PROMPT,
    codes,
    counts,
    import_rows,
    import_text,
    notes,
    prompt_row,
    response_row,
    write_folder,
)

pytestmark = pytest.mark.django_db

HEADER = "case_uid,risk_category,risk_mechanism,prompt"
ROW = "case-1,Care,Talk,Hello"


@pytest.mark.parametrize(
    "cell",
    [
        "two\nlines",
        "CRLF\r\nand CR\rinside",
        "\nends and begins with a line end\n",
        'he said "hello", and left',
        '"',
        '""',
        "a lone ' quote",
        "trailing backslash\\",
        "comma, semicolon; tab\t.",
        "line\u2028separator",
        "paragraph\u2029separator",
        "next\u0085line",
        "vertical\x0btab and form\x0cfeed",
        "file\x1cgroup\x1drecord\x1eunit\x1fseparators",
        "no-break\u00a0space and zero\u200bwidth",
        "\ufeffa mark inside",
        "e\u0301 is not \u00e9",
        "\U0001f600 beyond the basic plane",
        "  spaces kept  ",
        "=1+1",
        "#not a comment",
    ],
    ids=ascii,
)
def test_cell_is_kept_exactly(tmp_path: Path, cell: str) -> None:
    outcome = import_rows(
        tmp_path, prompts=[prompt_row(prompt=cell)], responses=[response_row(prompt=cell, response=cell)]
    )

    assert codes(outcome) == []
    assert Prompt.objects.get().text == cell
    assert Response.objects.get().text == cell


@pytest.mark.parametrize(
    "text", ["None", "N/A", "NA", "null", "nan", "NaN", "-", "0", "FALSE", "true", "1.0", "#N/A", "\\N"]
)
def test_text_that_looks_like_a_missing_value_is_that_text(tmp_path: Path, text: str) -> None:
    import_rows(tmp_path, responses=[response_row(response=text)])

    response = Response.objects.get()
    assert (response.text, response.state) == (text, "OK")


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\x00", "U+0000"),
        ("\ud800", "U+D800"),
        ("\udfff", "U+DFFF"),
        ("\ufffe", "U+FFFE"),
        ("\uffff", "U+FFFF"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("column", ["response", "model", "case_uid", "error"])
def test_character_that_cannot_be_stored_is_a_row_error(
    tmp_path: Path, character: str, name: str, column: str
) -> None:
    good, bad = response_row(rollout="0"), dict(response_row(rollout="1"))
    bad[column] = f"ab{character}"
    lines = [",".join(good), *(",".join(f'"{cell}"' for cell in row.values()) for row in (bad, good))]
    data = "\n".join(lines).encode(errors="surrogatepass")

    outcome = import_text(tmp_path / "responses.csv", data, skips_bad_rows=True)

    assert codes(outcome) == [("unstorable_character", 2, column)]
    assert f"{name} at position 3" in outcome.problems[0].message
    assert counts(outcome, "responses") == (1, 0, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("x" * 200_000, [], id="200 KB"),
        pytest.param("x" * MAX_CELL_BYTES, [], id="at the limit"),
        pytest.param("x" * (MAX_CELL_BYTES + 1), [("cell_too_large", 2, "response")], id="one byte more"),
        pytest.param("é" * (MAX_CELL_BYTES // 2 + 1), [("cell_too_large", 2, "response")], id="in bytes"),
        pytest.param("x" * 5_000_000, [("cell_too_large", 2, "response")], id="5 MB"),
    ],
)
def test_cell_size_is_limited_by_row(
    tmp_path: Path, text: str, expected: list[tuple[str, int | None, str | None]]
) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(response=text), response_row(rollout="1")])

    assert codes(outcome) == expected
    assert outcome.files[0].rows == 2


def test_cell_that_never_ends_stops_the_file_within_bounded_memory(tmp_path: Path) -> None:
    text = f'{HEADER}\n{ROW}\ncase-2,Care,Talk,"{"x" * (17 * 1024 * 1024)}'

    outcome = import_text(tmp_path / "prompts.csv", text)

    assert codes(outcome) == [("cell_too_large", 3, None)]
    assert outcome.problems[0].is_whole_file


@pytest.mark.parametrize(
    ("text", "note"),
    [
        pytest.param(f"{HEADER}\n{ROW}\n", None, id="comma"),
        pytest.param(f"{HEADER}\n{ROW}\n".replace(",", ";"), "semicolons", id="semicolon"),
        pytest.param(f"{HEADER}\n{ROW}\n".replace(",", "\t"), "tabs", id="tab"),
        pytest.param(f"sep=;\n{HEADER}\n{ROW}\n".replace(",", ";"), "semicolons", id="sep=;"),
        pytest.param(f"SEP=;\r\n{HEADER}\r\n{ROW}".replace(",", ";"), "semicolons", id="SEP=; with CRLF"),
        pytest.param(f"sep=\t\r{HEADER}\r{ROW}".replace(",", "\t"), "tabs", id="sep=tab with CR"),
        pytest.param(f"sep=,\n{HEADER}\n{ROW}\n", None, id="sep=,"),
        pytest.param(
            '"case_uid";"risk_category";"risk_mechanism";"prompt"\n"case-1";"Care";"Talk";"Hello"\n',
            "semicolons",
            id="all quoted",
        ),
        pytest.param(
            "case_uid;risk_category;risk_mechanism;prompt;a,b;c,d\ncase-1;Care;Talk;Hello;1,2;3,4\n",
            "semicolons",
            id="commas in other names",
        ),
    ],
)
def test_delimiter_is_detected_and_shown(tmp_path: Path, text: str, note: str | None) -> None:
    outcome = import_text(tmp_path / "prompts.csv", text)

    assert codes(outcome) == []
    assert Prompt.objects.get().text == "Hello"
    found = [text for text in notes(outcome) if text.startswith("fields are separated by")]
    assert found == ([f"fields are separated by {note}"] if note else [])


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        pytest.param(f"{HEADER}\n{ROW}\n".replace(",", "|"), "missing_column", "case_uid|risk", id="pipe"),
        pytest.param(f"sep=|\n{HEADER}\n{ROW}".replace(",", "|"), "unknown_separator", "'|'", id="sep=|"),
        pytest.param(
            "case_uid,risk_category,prompt\na,b,c\n", "missing_column", "risk_mechanism", id="missing"
        ),
        pytest.param(f"{HEADER},prompt\n{ROW},x\n", "duplicate_column", "'prompt'", id="twice"),
        pytest.param(f"{HEADER}, PROMPT\n{ROW},x\n", "duplicate_column", "'prompt'", id="twice when folded"),
        pytest.param(f"{HEADER},\n{ROW},\n", "unnamed_column", "no name", id="unnamed"),
        pytest.param(f"{HEADER},a\x00b\n{ROW},\n", "unstorable_character", "U+0000", id="NUL in the header"),
        pytest.param(f"{ROW}\n", "missing_column", "case-1", id="no header"),
        pytest.param("", "no_rows", "no rows", id="empty"),
        pytest.param("\ufeff", "no_rows", "no rows", id="only a mark"),
        pytest.param("\r\n\n\r", "no_rows", "no rows", id="only row ends"),
        pytest.param("sep=;\n", "no_rows", "no rows", id="only a separator"),
        pytest.param(HEADER, "no_rows", "no rows", id="header only"),
        pytest.param(f"{HEADER}\n\n\n", "no_rows", "no rows", id="header and blank lines"),
    ],
)
def test_file_that_cannot_be_read_as_a_whole_is_refused(
    tmp_path: Path, text: str, code: str, said: str
) -> None:
    outcome = import_text(tmp_path / "prompts.csv", text, skips_bad_rows=True)

    assert [problem.code for problem in outcome.problems] == [code]
    assert outcome.problems[0].is_whole_file
    assert said in outcome.problems[0].message
    assert not Benchmark.objects.exists()


def test_missing_column_names_found_and_expected(tmp_path: Path) -> None:
    outcome = import_text(tmp_path / "prompts.csv", "case_uid,risk_category,prompt\na,b,c\n")

    assert codes(outcome) == [("missing_column", 1, "risk_mechanism")]
    assert "Found: case_uid, risk_category, prompt." in outcome.problems[0].message
    assert f"Expected: {HEADER.replace(',', ', ')}." in outcome.problems[0].message


def test_header_is_trimmed_and_folded_with_a_note(tmp_path: Path) -> None:
    outcome = import_text(
        tmp_path / "prompts.csv", f" Case_UID ,RISK category,risk_mechanism,Prompt\n{ROW}\n"
    )

    assert counts(outcome, "prompts") == (1, 0, 0)
    assert notes(outcome) == {
        "header ' Case_UID ' was read as 'case_uid'": 1,
        "header 'RISK category' was read as 'risk_category'": 1,
        "header 'Prompt' was read as 'prompt'": 1,
    }


def test_columns_in_another_order_and_further_ones_are_noted(tmp_path: Path) -> None:
    outcome = import_text(
        tmp_path / "prompts.csv",
        "prompt,risk_mechanism,colour,case_uid,risk_category\nHello,Talk,red,case-1,Care\n",
    )

    assert Prompt.objects.get().text == "Hello"
    assert notes(outcome) == {"column 'colour' was not read": 1}


@pytest.mark.parametrize(
    ("row", "n_fields"), [("a,b,c,d,e", 5), ("a,b,c", 3), ("a", 1), (" ", 1), ("a,b,c,d,", 5)], ids=repr
)
def test_field_too_many_or_too_few_is_a_row_error(tmp_path: Path, row: str, n_fields: int) -> None:
    outcome = import_text(tmp_path / "prompts.csv", f"{HEADER}\n{ROW}\n{row}\n", skips_bad_rows=True)

    assert codes(outcome) == [("wrong_number_of_fields", 3, None)]
    assert f"has {n_fields} fields; the header has 4" in outcome.problems[0].message
    assert counts(outcome, "prompts") == (1, 0, 1)


def test_rows_after_a_bad_one_are_read_and_all_bad_ones_named(tmp_path: Path) -> None:
    text = f'{HEADER}\n{ROW}\nx\ncase-2,Care,Talk,"two\r\nlines\rmore\n"\ny\ncase-3,Care,Talk,three\n\nz,z'

    outcome = import_text(tmp_path / "prompts.csv", text, skips_bad_rows=True)

    assert [problem.line for problem in outcome.problems] == [3, 8, 11]
    assert counts(outcome, "prompts") == (3, 0, 3)


def test_line_of_a_problem_is_the_one_the_row_begins_on(tmp_path: Path) -> None:
    text = f'{HEADER}\n\n"case-1","Care","Talk","one\ntwo\nthree"\n"case-2","Care","","a\nb",extra\n'

    outcome = import_text(tmp_path / "prompts.csv", f"sep=,\r\n{text}")

    assert codes(outcome) == [("wrong_number_of_fields", 7, None)]


@pytest.mark.parametrize(
    ("tail", "line"),
    [
        pytest.param('case-2,Care,Talk,"never closed\nmore\n', 3, id="unclosed at the end"),
        pytest.param('case-2,Care,Talk,"closed" and more\n', 3, id="text after the closing quote"),
        pytest.param('x\n"case-2"x,Care,Talk,y\n', 4, id="after a bad row"),
    ],
)
def test_bad_quoting_stops_the_file_naming_the_line(tmp_path: Path, tail: str, line: int) -> None:
    outcome = import_text(tmp_path / "prompts.csv", f"{HEADER}\n{ROW}\n{tail}", skips_bad_rows=True)

    problem = outcome.problems[-1]
    assert (problem.code, problem.line, problem.is_whole_file) == ("bad_quoting", line, True)
    assert f"begins on line {line}" in problem.message
    assert not outcome.is_stored
    file = outcome.files[0]
    assert file.rows == file.created + file.unchanged + file.rejected


def test_message_of_a_bad_cell_says_place_found_expected_and_way_out(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(rollout="1.5")])

    problem = outcome.problems[0].to_json()
    assert problem["file"] == "responses.csv"
    assert problem["line"] == 2
    assert problem["column"] == "rollout"
    assert re.search(r"rollout is '1\.5'; expected a whole number .*Correct", problem["message"])


def test_blank_lines_are_no_rows(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, prompts=[prompt_row()])
    text = (folder / "prompts.csv").read_text()

    outcome = import_text(folder / "prompts.csv", text.replace("\n", "\n\n") + "\n\n")

    assert outcome.files[0].rows == 1
    assert Prompt.objects.get().text == PROMPT
