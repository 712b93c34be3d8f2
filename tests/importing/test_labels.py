"""Labels: which response a row joins, whose label it is, and what a second import finds."""

import itertools
from pathlib import Path

import pytest

from annotation.choices import CampaignState
from annotation.models import RESERVED_CODE, Annotator, Campaign, Label, Response
from judging.stats.readers import CONSENSUS
from tests.importing.sheets import (
    ANSWER,
    Row,
    codes,
    counts,
    import_rows,
    label_row,
    notes,
    prompt_row,
    response_row,
    stored_labels,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("given", "rating", "n_normalised"),
    [
        ("Yes", "ACCEPTABLE", 0),
        ("No", "UNACCEPTABLE", 0),
        ("yes ", "ACCEPTABLE", 1),
        ("YES", "ACCEPTABLE", 1),
        ("nO", "UNACCEPTABLE", 1),
        ("Acceptable", "ACCEPTABLE", 1),
        ("Unacceptable", "UNACCEPTABLE", 1),
        (" UNACCEPTABLE\n", "UNACCEPTABLE", 1),
    ],
)
def test_rating_words_are_read_and_kept_raw(
    tmp_path: Path, given: str, rating: str, n_normalised: int
) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(human_rating=given)])

    label = Label.objects.get()
    assert (label.rating, label.rating_raw) == (rating, given)
    assert outcome.files[0].normalised == n_normalised


@pytest.mark.parametrize(
    "given",
    ["acceptable.", "1", "0", "true", "false", "", "y", "n", "oui", "Yes/No", "safe", "not acceptable", "-1"],
)
def test_other_rating_is_a_row_error(tmp_path: Path, given: str) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(human_rating=given)])

    assert codes(outcome) == [("bad_rating", 2, "human_rating")]


@pytest.mark.parametrize(
    ("given", "severity"), [("1", 1), ("5", 5), ("4.0", 4), ("", None), (" ", None), (None, None)], ids=repr
)
def test_severity_is_1_to_5_or_none(tmp_path: Path, given: str | None, severity: int | None) -> None:
    import_rows(tmp_path, labels=[label_row(severity=given)])

    assert Label.objects.get().severity == severity


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("0", "severity_out_of_range"),
        ("6", "severity_out_of_range"),
        ("2.5", "not_a_whole_number"),
        ("-1", "not_a_whole_number"),
        ("high", "not_a_whole_number"),
    ],
)
def test_other_severity_is_a_row_error(tmp_path: Path, given: str, code: str) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(severity=given)])

    assert codes(outcome) == [(code, 2, "severity")]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("parent", ("PARENT", "parent")),
        ("SPECIALIST", ("SPECIALIST", "SPECIALIST")),
        (" crowd ", ("CROWD", "crowd")),
        ("Psychologist", ("OTHER", "Psychologist")),
        ("other", ("OTHER", "other")),
        ("", ("OTHER", None)),
        (None, ("OTHER", None)),
    ],
    ids=repr,
)
def test_annotator_type_of_another_word_is_other_with_the_word_kept(
    tmp_path: Path, given: str | None, stored: tuple[str, str | None]
) -> None:
    import_rows(tmp_path, labels=[label_row(annotator_type=given)])

    label = Label.objects.get()
    assert (label.annotator_type, label.annotator_type_raw) == stored


@pytest.mark.parametrize("given", ["consensus", "Consensus", " CONSENSUS "])
def test_annotator_named_as_the_joint_reading_is_a_row_error(tmp_path: Path, given: str) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(annotator=given)])

    assert codes(outcome) == [("reserved_code", 2, "annotator")]
    assert "Give the annotator another code" in outcome.problems[0].message


def test_reserved_code_is_the_name_of_the_joint_reading() -> None:
    assert RESERVED_CODE == CONSENSUS


def test_labels_go_to_one_closed_campaign(tmp_path: Path) -> None:
    import_rows(tmp_path, labels=[label_row()])
    import_rows(tmp_path, labels=[label_row(annotator="ann-2")])

    campaign = Campaign.objects.get()
    assert (campaign.slug, campaign.state) == ("imported", CampaignState.CLOSED)
    assert Label.objects.filter(item__campaign=campaign, is_imported=True).count() == 2


@pytest.mark.parametrize(
    ("rollout", "joined"),
    [
        pytest.param("1", 1, id="the rollout named"),
        pytest.param("1.0", 1, id="the rollout as a decimal"),
        pytest.param("", 0, id="blank: the lowest with the text"),
        pytest.param(None, 0, id="no column: the lowest with the text"),
    ],
)
def test_label_joins_by_rollout_else_by_exact_text(tmp_path: Path, rollout: str | None, joined: int) -> None:
    responses = [response_row(rollout=text) for text in ("2", "1", "0")]

    outcome = import_rows(tmp_path, responses=responses, labels=[label_row(rollout=rollout)])

    assert [rollout for rollout, *_ in stored_labels()] == [joined]
    joined_by_text = "several rollouts have the labelled text: the label joins the lowest"
    assert (joined_by_text in notes(outcome)) == (rollout in ("", None))


@pytest.mark.parametrize(
    "text", [ANSWER + " ", ANSWER.upper(), " " + ANSWER, ANSWER.replace(" ", "\u00a0"), ""], ids=ascii
)
def test_text_that_is_not_exactly_the_same_stands_outside_rollouts(tmp_path: Path, text: str) -> None:
    outcome = import_rows(tmp_path, responses=[response_row()], labels=[label_row(exemplar_response=text)])

    assert [rollout for rollout, *_ in stored_labels()] == [None]
    assert Response.objects.get(rollout=None).text == text
    assert outcome.files[1].implied == {"prompts": 0, "responses": 1}


def test_labels_of_one_text_share_one_response_outside_rollouts(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(), label_row(annotator="ann-2")])

    assert Response.objects.count() == 1
    assert outcome.files[0].implied == {"prompts": 1, "responses": 1}


@pytest.mark.parametrize(
    ("cells", "code", "column"),
    [
        pytest.param({"rollout": "3"}, "unknown_response", "rollout", id="no such rollout"),
        pytest.param({"rollout": "0", "model": "other"}, "unknown_response", "rollout", id="no such model"),
        pytest.param({"rollout": "x"}, "not_a_whole_number", "rollout", id="no number"),
        pytest.param({"rollout": "-1"}, "not_a_whole_number", "rollout", id="negative"),
        pytest.param(
            {"rollout": "0", "exemplar_response": "Other"}, "conflict", "exemplar_response", id="other text"
        ),
        pytest.param({"rollout": "0", "prompt": "Other"}, "conflict", "prompt", id="other prompt"),
        pytest.param({"rollout": "", "prompt": "Other"}, "conflict", "prompt", id="other prompt, by text"),
    ],
)
def test_label_that_cannot_join_is_a_row_error(
    tmp_path: Path, cells: dict[str, str], code: str, column: str
) -> None:
    outcome = import_rows(tmp_path, responses=[response_row()], labels=[label_row(**cells)])

    assert codes(outcome) == [(code, 2, column)]


@pytest.mark.parametrize("is_reversed", [False, True], ids=["same order", "shuffled"])
def test_second_import_of_the_same_labels_changes_nothing(tmp_path: Path, is_reversed: bool) -> None:
    rows = [label_row(annotator=f"ann-{n}", severity=str(n)) for n in range(1, 4)]
    rows += [label_row(annotator="", human_rating=rating) for rating in ("Yes", "Yes", "No")]
    import_rows(tmp_path, labels=rows)
    before = stored_labels()

    outcome = import_rows(tmp_path, labels=rows[::-1] if is_reversed else rows)

    assert counts(outcome, "labels") == (0, 6, 0)
    assert stored_labels() == before


@pytest.mark.parametrize(
    ("stored", "given", "n_new"),
    [
        pytest.param(["Yes"], ["Yes", "Yes"], 1, id="one more"),
        pytest.param(["Yes", "Yes"], ["Yes"], 0, id="one fewer"),
        pytest.param(["Yes"], ["No"], 1, id="another rating"),
        pytest.param(["Yes", "No"], ["No", "Yes", "No"], 1, id="one more of two sorts"),
    ],
)
def test_anonymous_labels_are_a_multiset(
    tmp_path: Path, stored: list[str], given: list[str], n_new: int
) -> None:
    import_rows(tmp_path, labels=[label_row(annotator=None, human_rating=rating) for rating in stored])

    outcome = import_rows(tmp_path, labels=[label_row(annotator="", human_rating=rating) for rating in given])

    assert counts(outcome, "labels") == (n_new, len(given) - n_new, 0)
    assert Annotator.objects.count() == 0


@pytest.mark.parametrize(
    "cells",
    [{"severity": "2"}, {"severity": ""}, {"annotator_type": "crowd"}, {"human_rating": "No"}],
    ids=str,
)
def test_anonymous_label_of_another_sort_is_another_label(tmp_path: Path, cells: dict[str, str]) -> None:
    import_rows(tmp_path, labels=[label_row(annotator="")])

    outcome = import_rows(tmp_path, labels=[label_row(annotator="", **cells)])

    assert counts(outcome, "labels") == (1, 0, 0)


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"human_rating": "No"}, "human_rating"),
        ({"severity": "4"}, "severity"),
        ({"severity": ""}, "severity"),
    ],
    ids=str,
)
@pytest.mark.parametrize("is_stored", [False, True], ids=["in the file", "stored"])
def test_annotator_with_two_answers_for_a_response_is_refused(
    tmp_path: Path, cells: dict[str, str], column: str, is_stored: bool
) -> None:
    rows = [label_row(), label_row(**cells)]
    if is_stored:
        import_rows(tmp_path, labels=rows[:1])

    outcome = import_rows(tmp_path, labels=rows)

    assert codes(outcome) == [("conflict", 3, column)]
    place = "an earlier import" if is_stored else "annotated_responses.csv line 2"
    assert "'ann-1'" in outcome.problems[0].message
    assert "on line 3" in outcome.problems[0].message
    assert place in outcome.problems[0].message


def test_label_twice_in_a_file_is_kept_once_and_reported(tmp_path: Path) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(), label_row()])

    assert counts(outcome, "labels") == (1, 1, 0)
    assert notes(outcome) == {"a label stands there twice with the same answer; one is kept": 1}


@pytest.mark.parametrize(
    ("rating", "severity", "is_noted"),
    [
        ("Yes", "1", False),
        ("Yes", "2", True),
        ("Yes", "5", True),
        ("Yes", "", False),
        ("No", "1", True),
        ("No", "2", False),
        ("No", "", False),
    ],
)
def test_severity_of_the_other_class_is_kept_and_counted(
    tmp_path: Path, rating: str, severity: str, is_noted: bool
) -> None:
    outcome = import_rows(tmp_path, labels=[label_row(human_rating=rating, severity=severity)])

    found = [text for text in notes(outcome) if text.startswith("rating and severity disagree")]
    assert len(found) == is_noted
    assert counts(outcome, "labels") == (1, 0, 0)


ORDERS = [list(order) for order in itertools.permutations(["prompts", "responses", "labels"])]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@pytest.mark.parametrize("annotator", ["ann-1", ""], ids=["named", "anonymous"])
def test_files_in_any_order_give_the_same_labels(tmp_path: Path, order: list[str], annotator: str) -> None:
    tables: dict[str, list[Row]] = {
        "prompts": [prompt_row()],
        "responses": [response_row(rollout=text) for text in ("1", "0")]
        + [response_row(model="model-b", error="x")],
        "labels": [label_row(annotator=annotator), label_row(annotator=annotator, model="model-b")],
    }
    for kind in order:
        assert codes(import_rows(tmp_path, **{kind: tables[kind]})) == []

    outcome = import_rows(tmp_path, **tables)

    assert counts(outcome, "labels") == (0, 2, 0)
    assert counts(outcome, "responses") == (0, 3, 0)
    assert [rollout for rollout, *_ in stored_labels()] == [0, 0]
    states = Response.objects.order_by("target_model__slug", "rollout").values_list(
        "rollout", "state", "error"
    )
    assert list(states) == [(0, "OK", None), (1, "OK", None), (0, "ERROR", "x")]


@pytest.mark.parametrize("annotator", ["ann-1", ""], ids=["named", "anonymous"])
def test_lower_rollout_with_the_labelled_text_that_comes_later_takes_no_second_label(
    tmp_path: Path, annotator: str
) -> None:
    import_rows(tmp_path, responses=[response_row(rollout="1")], labels=[label_row(annotator=annotator)])

    outcome = import_rows(
        tmp_path, responses=[response_row(rollout="0")], labels=[label_row(annotator=annotator)]
    )

    assert counts(outcome, "labels") == (0, 1, 0)
    assert [rollout for rollout, *_ in stored_labels()] == [1]


def test_labels_of_both_rollouts_with_one_text_are_two(tmp_path: Path) -> None:
    tables = {
        "responses": [response_row(rollout="0"), response_row(rollout="1")],
        "labels": [label_row(rollout="0"), label_row(rollout="1", human_rating="No", severity="3")],
    }
    import_rows(tmp_path, **tables)

    outcome = import_rows(tmp_path, **tables)

    assert counts(outcome, "labels") == (0, 2, 0)
    assert [(rollout, rating) for rollout, _, rating, _ in stored_labels()] == [
        (0, "ACCEPTABLE"),
        (1, "UNACCEPTABLE"),
    ]
