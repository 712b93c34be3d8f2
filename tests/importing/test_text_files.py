"""Bytes to text: encodings, marks and line ends. Nothing is guessed, nothing replaced."""

from pathlib import Path

import pytest

from annotation.importing.text_files import CHUNK_BYTES
from annotation.models import Prompt
from tests.importing.sheets import codes, counts, import_paths, import_text

pytestmark = pytest.mark.django_db

HEADER = "case_uid,risk_category,risk_mechanism,prompt"


def table(*prompts: str) -> str:
    lines = [f'case-{number},Care,Talk,"{prompt}"' for number, prompt in enumerate(prompts, start=1)]
    return "\n".join([HEADER, *lines, ""])


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        pytest.param(table("Café, naïve").encode(), "utf-8", id="utf-8"),
        pytest.param(b"\xef\xbb\xbf" + table("Café, naïve").encode(), "utf-8", id="utf-8 with mark"),
        pytest.param(table("Café, naïve").encode("cp1252"), "cp1252", id="cp1252, named"),
        pytest.param(table("Café, naïve").encode("utf-16"), "utf-16", id="utf-16 with mark, named"),
        pytest.param(table("Café, naïve").encode("utf-16-le"), "utf-16-le", id="utf-16 without mark, named"),
    ],
)
def test_text_in_its_encoding_is_read_exactly(tmp_path: Path, data: bytes, encoding: str) -> None:
    outcome = import_text(tmp_path / "prompts.csv", data, encoding=encoding)

    assert codes(outcome) == []
    assert Prompt.objects.get().text == "Café, naïve"
    assert Prompt.objects.get().case_uid == "case-1"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_encoding_error_names_byte_and_line(tmp_path: Path, line_end: str) -> None:
    text = table("plain", "two\nlines", "caf\xe9").replace("\n", line_end)
    data = text.encode("cp1252")

    outcome = import_text(tmp_path / "prompts.csv", data)

    problem = outcome.problems[0]
    assert (problem.code, problem.line) == ("encoding", 5)
    assert f"Byte {data.index(0xE9)} (line 5) is 0xe9" in problem.message
    assert "name its encoding" in problem.message
    assert not Prompt.objects.exists()


def test_encoding_error_after_a_character_split_between_chunks_names_the_byte(tmp_path: Path) -> None:
    start = f'{HEADER}\ncase-1,Care,Talk,"'
    data = (start + "x" * (CHUNK_BYTES - len(start) - 1) + "é").encode() + b'\xff"\n'

    outcome = import_text(tmp_path / "prompts.csv", data)

    assert f"Byte {len(data) - 3} (line 2) is 0xff" in outcome.problems[0].message


@pytest.mark.parametrize(
    ("data", "encoding", "code", "way_out"),
    [
        pytest.param(table("Café").encode("utf-16"), "utf-8", "encoding", "encoding, utf-16", id="utf-16"),
        pytest.param(
            table("a").encode("utf-16-le"),
            "utf-8",
            "unstorable_character",
            "encoding",
            id="utf-16 unmarked",
        ),
        pytest.param(b"PK\x03\x04" + bytes(40), "utf-8", "not_text", "CSV (UTF-8)", id="renamed XLSX"),
        pytest.param(b"\xd0\xcf\x11\xe0" + bytes(40), "utf-8", "not_text", "CSV (UTF-8)", id="renamed XLS"),
        pytest.param(b"\x1f\x8b" + bytes(40), "utf-8", "not_text", "CSV (UTF-8)", id="gzip"),
        pytest.param(table("a").encode(), "klingon", "encoding", "utf-8 or cp1252", id="unknown encoding"),
        pytest.param(table("a").encode(), "hex", "encoding", "utf-8 or cp1252", id="codec that is no text"),
        pytest.param(table("é").encode(), "ascii", "encoding", "encoding", id="ascii"),
        pytest.param(
            table("a").encode("utf-16")[:-1], "utf-16", "encoding", "encoding", id="half a character"
        ),
    ],
)
def test_other_bytes_are_refused_with_a_way_out(
    tmp_path: Path, data: bytes, encoding: str, code: str, way_out: str
) -> None:
    outcome = import_text(tmp_path / "prompts.csv", data, encoding=encoding)

    assert [problem.code for problem in outcome.problems] == [code]
    assert outcome.problems[0].is_whole_file
    assert way_out in outcome.problems[0].message
    assert not outcome.is_stored


def test_three_kinds_of_row_ends_in_one_file_are_read(tmp_path: Path) -> None:
    text = f"{HEADER}\r\ncase-1,Care,Talk,one\rcase-2,Care,Talk,two\ncase-3,Care,Talk,three"

    outcome = import_text(tmp_path / "prompts.csv", text)

    assert counts(outcome, "prompts") == (3, 0, 0)
    assert list(Prompt.objects.order_by("pk").values_list("text", flat=True)) == ["one", "two", "three"]


def test_row_end_between_two_chunks_is_one_row_end(tmp_path: Path) -> None:
    filler = "x" * 8170
    text = "\r\n".join([HEADER, *(f"case-{n},Care,Talk,{filler}{'y' * n}" for n in range(40)), ""])

    outcome = import_text(tmp_path / "prompts.csv", text)

    assert counts(outcome, "prompts") == (40, 0, 0)


def test_file_that_cannot_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "prompts.csv"
    path.write_text(table("a"))
    monkeypatch.setattr(Path, "open", refuse)

    outcome = import_paths([path])

    assert codes(outcome) == [("unreadable_file", None, None)]
