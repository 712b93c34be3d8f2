"""Cells that a format cannot hold as they are."""

import hashlib

import pytest

from judging.exports.cells import MAX_WORKBOOK_UNITS, CellChanges, n_units


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", '=HYPERLINK("x")', "'quoted"],
)
def test_spreadsheet_safe_dangerous_text_is_prefixed_and_listed(text: str) -> None:
    changes = CellChanges()
    changes.row = 3

    safe = changes.spreadsheet_safe(text, "prompt")

    assert safe == "'" + text
    assert changes.to_json() == [
        {
            "row": 3,
            "column": "prompt",
            "change": "prefixed",
            "n_characters": len(text),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
    ]


@pytest.mark.parametrize("text", ["", "What is 1+1?", " =1", "None", "5", "{}"])
def test_spreadsheet_safe_harmless_text_is_unchanged(text: str) -> None:
    changes = CellChanges()

    assert changes.spreadsheet_safe(text, "prompt") == text
    assert changes.to_json() == []


@pytest.mark.parametrize("char", ["\x00", "\x0b", "\x1f", "\ud800", "\ufffe", "\uffff"])
def test_for_workbook_character_outside_xml_becomes_a_mark(char: str) -> None:
    changes = CellChanges()

    assert changes.for_workbook(f"a{char}b", "response") == "a\ufffdb"
    assert changes.count_by_kind() == {"replaced_characters": 1}


@pytest.mark.parametrize("text", ["\t", "a\nb", "\x85", "\u2028", "\x7f", "κ 😀"])
def test_for_workbook_character_inside_xml_is_kept(text: str) -> None:
    changes = CellChanges()

    assert changes.for_workbook(text, "response") == text
    assert changes.count_by_kind() == {}


def test_for_workbook_carriage_returns_are_counted_not_listed() -> None:
    changes = CellChanges()

    assert changes.for_workbook("a\r\nb\rc", "response") == "a\nb\nc"
    assert changes.count_by_kind() == {"line_ends": 1}
    assert changes.to_json() == []


@pytest.mark.parametrize("text", ["a" * 32_768, "😀" * 16_384], ids=["ascii", "two units each"])
def test_for_workbook_text_over_the_limit_is_cut_with_a_mark(text: str) -> None:
    changes = CellChanges()

    cut = changes.for_workbook(text, "response")

    assert n_units(cut) <= MAX_WORKBOOK_UNITS
    assert cut.startswith(text[:16_000])
    assert cut.endswith(f"[cut: {len(text):,} characters in full; see the sheet Notes]")
    assert changes.listed[0].n_characters == len(text)
    assert changes.listed[0].sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_for_workbook_text_at_the_limit_is_whole() -> None:
    changes = CellChanges()

    assert changes.for_workbook("a" * 32_767, "response") == "a" * 32_767
    assert changes.count_by_kind() == {}


def test_storable_lone_surrogate_becomes_a_mark() -> None:
    changes = CellChanges()

    assert changes.storable("a\udc80b", "response") == "a\ufffdb"
    assert changes.storable("a\ufffeb", "response") == "a\ufffeb"
    assert changes.count_by_kind() == {"replaced_characters": 1}
