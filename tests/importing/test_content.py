"""Prompts and responses: keys, states, conflicts, and what a second import finds."""

from pathlib import Path

import pytest

from annotation.models import Benchmark, Prompt, Response
from annotation.selectors import EmptyShare, models_with_many_empty
from tests.factories import make_response
from tests.importing.sheets import (
    ANSWER,
    BENCHMARK,
    Row,
    codes,
    counts,
    import_rows,
    label_row,
    notes,
    prompt_row,
    response_row,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("case_uid", ["001", "1", "1.0", "1e3", "０１", "NULL", "None", "a/b?c", "=1+1", "ß"])
def test_case_uid_is_opaque_text(tmp_path: Path, case_uid: str) -> None:
    outcome = import_rows(tmp_path, prompts=[prompt_row(case_uid=case_uid)])

    assert Prompt.objects.get().case_uid == case_uid
    assert outcome.files[0].normalised == 0


@pytest.mark.parametrize("given", [" 001 ", "\t001", "001\n", "\u00a0001"], ids=ascii)
def test_space_around_a_key_is_trimmed_with_a_note(tmp_path: Path, given: str) -> None:
    outcome = import_rows(tmp_path, prompts=[prompt_row(case_uid=given)])

    assert Prompt.objects.get().case_uid == "001"
    assert notes(outcome) == {"space around case_uid was trimmed": 1}
    assert outcome.files[0].normalised == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("001", "1"),
        ("1", "1.0"),
        ("7.", "007"),
        ("Case-1", "case-1"),
        ("１", "1"),
        ("a  b", "a b"),
        ("0", "00"),
    ],
)
@pytest.mark.parametrize("kind", ["prompts", "responses", "labels"])
def test_look_alike_ids_are_kept_apart_and_warned_of(
    tmp_path: Path, first: str, second: str, kind: str
) -> None:
    make = {"prompts": prompt_row, "responses": response_row, "labels": label_row}[kind]

    outcome = import_rows(tmp_path, **{kind: [make(case_uid=first), make(case_uid=second)]})

    assert counts(outcome, kind) == (2, 0, 0)
    assert notes(outcome) == {f"the case ids {first!r} and {second!r} look alike and are kept apart": 1}


@pytest.mark.parametrize(("first", "second"), [("1", "10"), ("1", "2"), ("1.5", "15"), ("case-1", "case-01")])
def test_ids_that_no_spreadsheet_confuses_are_not_warned_of(tmp_path: Path, first: str, second: str) -> None:
    outcome = import_rows(tmp_path, prompts=[prompt_row(case_uid=first), prompt_row(case_uid=second)])

    assert notes(outcome) == {}


def test_id_that_looks_like_a_stored_one_is_warned_of(tmp_path: Path) -> None:
    import_rows(tmp_path, prompts=[prompt_row(case_uid="007")])

    outcome = import_rows(tmp_path, prompts=[prompt_row(case_uid="7")])

    assert notes(outcome) == {"the case ids '007' and '7' look alike and are kept apart": 1}


def test_many_look_alikes_make_few_notes(tmp_path: Path) -> None:
    rows = [prompt_row(case_uid=f"{zero}{n}") for n in range(1, 10) for zero in ("", "0")]

    outcome = import_rows(tmp_path, prompts=rows)

    assert notes(outcome)["more case ids look alike and are kept apart"] == 4
    assert len(notes(outcome)) == 6


@pytest.mark.parametrize("column", ["case_uid", "risk_category", "model"])
@pytest.mark.parametrize("blank", ["", "   "], ids=["empty", "spaces"])
def test_blank_key_is_a_row_error(tmp_path: Path, column: str, blank: str) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(**{column: blank})])

    assert codes(outcome) == [("blank_key", 2, column)]


@pytest.mark.parametrize("column", ["case_uid", "risk_category", "risk_mechanism", "model"])
@pytest.mark.parametrize(("length", "n_problems"), [(200, 0), (201, 1)])
def test_key_has_at_most_200_characters(tmp_path: Path, column: str, length: int, n_problems: int) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(**{column: "k" * length})])

    assert codes(outcome) == [("key_too_long", 2, column)] * n_problems


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u00a0"], ids=ascii)
@pytest.mark.parametrize("is_known", [False, True], ids=["new case", "known case"])
def test_blank_prompt_is_a_row_error(tmp_path: Path, blank: str, is_known: bool) -> None:
    if is_known:
        import_rows(tmp_path, prompts=[prompt_row()])

    outcome = import_rows(tmp_path, prompts=[prompt_row(prompt=blank)])

    assert codes(outcome) == [("blank_prompt", 2, "prompt")]


def test_blank_mechanism_is_kept_and_counted(tmp_path: Path) -> None:
    outcome = import_rows(
        tmp_path,
        prompts=[prompt_row(risk_mechanism=""), prompt_row(case_uid="case-2", risk_mechanism=" ")],
    )

    assert list(Prompt.objects.values_list("risk_mechanism", flat=True)) == [None, None]
    assert notes(outcome) == {"risk_mechanism is blank": 2}
    assert outcome.files[0].normalised == 0


@pytest.mark.parametrize("mechanisms", [["", "Talk"], ["Talk", ""]], ids=["blank first", "blank last"])
@pytest.mark.parametrize("at_once", [True, False], ids=["one import", "two imports"])
def test_mechanism_known_from_any_row_is_kept(tmp_path: Path, mechanisms: list[str], at_once: bool) -> None:
    rows = [response_row(risk_mechanism=text, rollout=str(n)) for n, text in enumerate(mechanisms)]

    for part in [rows] if at_once else [[row] for row in rows]:
        assert codes(import_rows(tmp_path, responses=part)) == []

    assert Prompt.objects.get().risk_mechanism == "Talk"
    assert counts(import_rows(tmp_path, responses=rows), "responses") == (0, 2, 0)


@pytest.mark.parametrize(
    ("given", "rollout", "n_normalised"),
    [("0", 0, 0), ("12", 12, 0), ("007", 7, 0), ("0.0", 0, 1), ("3.00", 3, 1), (" 2 ", 2, 0)],
)
def test_rollout_is_a_whole_number(tmp_path: Path, given: str, rollout: int, n_normalised: int) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(rollout=given)])

    assert Response.objects.get().rollout == rollout
    assert outcome.files[0].normalised == n_normalised


@pytest.mark.parametrize(
    ("given", "code"),
    [("", "blank_rollout"), (" ", "blank_rollout")]
    + [
        (text, "not_a_whole_number")
        for text in ["NaN", "-1", "1.5", "٢", "0x1", "1e0", "+1", "1_0", "1,0", "inf", "one", "1.", "9" * 12]
    ],
)
def test_other_rollout_is_a_row_error(tmp_path: Path, given: str, code: str) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(rollout=given)])

    assert codes(outcome) == [(code, 2, "rollout")]


def test_absent_rollout_column_means_rollout_0_with_a_note(tmp_path: Path) -> None:
    outcome = import_rows(
        tmp_path,
        responses=[response_row(rollout=None), response_row(rollout=None, model="model-b")],
    )

    assert list(Response.objects.values_list("rollout", flat=True)) == [0, 0]
    assert notes(outcome) == {"the file has no column rollout: the row is rollout 0": 2}


@pytest.mark.parametrize(
    ("text", "error", "state", "stored_error"),
    [
        pytest.param("Some text.", "", "OK", None, id="text"),
        pytest.param("", "", "EMPTY", None, id="empty without error"),
        pytest.param(" \n", "", "EMPTY", None, id="white space without error"),
        pytest.param("", "timeout", "ERROR", "timeout", id="empty with error"),
        pytest.param("Half a", "timeout", "ERROR", "timeout", id="text with error"),
        pytest.param("Some text.", "  ", "OK", None, id="blank error"),
        pytest.param("Some text.", None, "OK", None, id="no error column"),
    ],
)
def test_state_of_a_response(
    tmp_path: Path, text: str, error: str | None, state: str, stored_error: str | None
) -> None:
    import_rows(tmp_path, responses=[response_row(response=text, error=error)])

    response = Response.objects.get()
    assert (response.text, response.state, response.error) == (text, state, stored_error)


@pytest.mark.parametrize("rows_reversed", [False, True], ids=["same order", "shuffled"])
def test_second_import_of_the_same_rows_changes_nothing(tmp_path: Path, rows_reversed: bool) -> None:
    prompts = [prompt_row(case_uid=f"case-{n}") for n in range(4)]
    responses = [response_row(case_uid=f"case-{n % 4}", rollout=str(n // 4)) for n in range(8)]
    import_rows(tmp_path, prompts=prompts, responses=responses)
    if rows_reversed:
        prompts, responses = prompts[::-1], responses[::-1]

    outcome = import_rows(tmp_path, prompts=prompts, responses=responses)

    assert counts(outcome, "prompts") == (0, 4, 0)
    assert counts(outcome, "responses") == (0, 8, 0)
    assert (Prompt.objects.count(), Response.objects.count()) == (4, 8)


@pytest.mark.parametrize("column", ["prompt", "risk_category", "risk_mechanism"])
def test_prompt_that_differs_is_refused_naming_both_lines(tmp_path: Path, column: str) -> None:
    rows = [prompt_row(), prompt_row(case_uid="case-2"), prompt_row(**{column: "Something else"})]

    outcome = import_rows(tmp_path, prompts=rows)

    assert codes(outcome) == [("conflict", 4, column)]
    assert f"The {column} of case 'case-1' on line 4 differs" in outcome.problems[0].message
    assert "prompts.csv line 2" in outcome.problems[0].message


@pytest.mark.parametrize("column", ["response", "error"])
def test_response_that_differs_is_refused_naming_both_lines(tmp_path: Path, column: str) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(), response_row(**{column: "Something else"})])

    assert codes(outcome) == [("conflict", 3, column)]
    assert "on line 3 differs" in outcome.problems[0].message
    assert "responses.csv line 2" in outcome.problems[0].message


@pytest.mark.parametrize("column", ["response", "error", "prompt"])
def test_row_that_differs_from_a_stored_one_is_refused(tmp_path: Path, column: str) -> None:
    import_rows(tmp_path, responses=[response_row()])

    outcome = import_rows(tmp_path, responses=[response_row(**{column: "Something else"})])

    assert codes(outcome) == [("conflict", 2, column)]
    assert "an earlier import" in outcome.problems[0].message


def test_duplicate_in_a_file_is_kept_once_and_reported(tmp_path: Path) -> None:
    outcome = import_rows(
        tmp_path, prompts=[prompt_row(), prompt_row()], responses=[response_row(), response_row()]
    )

    assert counts(outcome, "prompts") == (1, 1, 0)
    assert counts(outcome, "responses") == (1, 1, 0)
    assert notes(outcome) == {
        "a case stands in the file twice with the same text; one is kept": 1,
        "a response stands in the file twice with the same text; one is kept": 1,
    }


def test_response_file_alone_brings_its_prompts(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(), response_row(rollout="1")])

    assert Prompt.objects.count() == 1
    assert outcome.files[0].implied == {"prompts": 1}
    assert outcome.new_models == ["model-a"]


def test_refused_row_leaves_nothing_behind(tmp_path: Path) -> None:
    rows = [
        response_row(case_uid="case-2", prompt="Another question", model="model-b", rollout="x"),
        response_row(risk_mechanism=""),
        response_row(response="Something else", model="model-a"),
    ]

    outcome = import_rows(tmp_path, {"skips_bad_rows": True}, responses=rows)

    assert [problem.line for problem in outcome.problems] == [2, 4]
    assert list(Prompt.objects.values_list("case_uid", "risk_mechanism")) == [("case-1", None)]
    assert list(Response.objects.values_list("target_model__slug", flat=True)) == ["model-a"]
    assert outcome.new_models == ["model-a"]


def responses_of(model: str, *, n_empty: int, n: int) -> list[Row]:
    return [
        response_row(model=model, rollout=str(rollout), response="" if rollout < n_empty else ANSWER)
        for rollout in range(n)
    ]


def test_model_with_many_empty_responses_is_noted(tmp_path: Path) -> None:
    rows = [*responses_of("model-a", n_empty=2, n=10), *responses_of("model-b", n_empty=3, n=10)]

    outcome = import_rows(tmp_path, responses=rows)

    assert notes(outcome) == {
        "30.0 % of the 10 responses of model 'model-b' are empty; find out why before judging them": 3
    }


def test_failed_responses_do_not_count_as_empty(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, responses=[response_row(response="", error="timeout")])

    assert notes(outcome) == {}


def test_models_with_many_empty_responses_are_found_in_the_benchmark(tmp_path: Path) -> None:
    rows = [*responses_of("model-a", n_empty=2, n=10), *responses_of("model-b", n_empty=3, n=10)]
    import_rows(tmp_path, responses=rows)
    make_response(state="EMPTY", text="")

    assert models_with_many_empty(Benchmark.objects.get(slug=BENCHMARK)) == [EmptyShare("model-b", 3, 10)]


@pytest.mark.parametrize(
    ("n_empty", "n", "is_large"),
    [(0, 0, False), (0, 5, False), (1, 5, False), (201, 1000, True), (1, 1, True)],
    ids=["none at all", "none empty", "exactly 20 %", "just above", "all"],
)
def test_empty_share_is_large_above_20_percent(n_empty: int, n: int, is_large: bool) -> None:
    assert EmptyShare("model-a", n_empty, n).is_large == is_large
