"""What is typed and not sent: kept, shown again, and gone with the answer that it became."""

import uuid

import pytest

from annotation.campaigns import withdraw_consent
from annotation.choices import Rating
from annotation.errors import DomainError
from annotation.labelling import retract_label, save_draft
from annotation.models import Assignment, Draft, Label
from tests.annotation.desk import Desk, answer, item_url, make_desk, sent, take
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return make_desk()


def keep(assignment: Assignment, note: str, label: Label | None = None) -> Draft | None:
    return save_draft(assignment=assignment, annotator=assignment.annotator, label=label, note=note)


def test_draft_is_shown_when_the_person_comes_back(desk: Desk) -> None:
    assignment = take(desk)
    client = signed_in(desk.account)

    client.post(item_url(desk, assignment, "draft"), {"note": "Half a thought"})

    assert "Half a thought" in client.get(item_url(desk, assignment)).content.decode()


def test_draft_without_scripts_leads_back_to_the_text(desk: Desk) -> None:
    assignment = take(desk)

    page = signed_in(desk.account).post(item_url(desk, assignment, "draft"), sent(note="Half a thought"))

    assert page.headers["Location"] == item_url(desk, assignment)
    assert Draft.objects.get().note == "Half a thought"


def test_second_draft_takes_the_place_of_the_first(desk: Desk) -> None:
    assignment = take(desk)

    keep(assignment, "First")
    keep(assignment, "Second")

    assert [draft.note for draft in Draft.objects.all()] == ["Second"]


def test_draft_that_was_emptied_is_forgotten(desk: Desk) -> None:
    assignment = take(desk)
    keep(assignment, "First")

    assert keep(assignment, "") is None
    assert not Draft.objects.exists()


def test_answer_ends_the_draft(desk: Desk) -> None:
    assignment = take(desk)
    keep(assignment, "Half a thought")

    answer(assignment, note="A whole one")

    assert not Draft.objects.exists()


def test_draft_that_arrives_after_its_answer_is_ignored(desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment)

    assert keep(assignment, "Too late") is None
    assert not Draft.objects.exists()


def test_draft_of_a_change_goes_before_the_note_of_the_answer(desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment, note="As sent")
    client = signed_in(desk.account)

    keep(assignment, "As changed", label=Label.objects.get())

    html = client.get(item_url(desk, assignment)).content.decode()
    assert "As changed" in html
    assert "As sent" not in html


def test_undo_leaves_note_and_severity_to_answer_anew() -> None:
    desk = make_desk(scale="BINARY_AND_SEVERITY")
    assignment = take(desk)
    answer(assignment, Rating.UNACCEPTABLE, severity=4, note="Typed once")

    retract_label(label=Label.objects.get(), annotator=desk.annotator, submission_id=uuid.uuid4())

    draft = Draft.objects.get()
    assert (draft.assignment, draft.note, draft.severity) == (assignment, "Typed once", 4)


def test_draft_after_withdrawal_is_refused_and_not_stored(desk: Desk) -> None:
    assignment = take(desk)
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    with pytest.raises(DomainError):
        keep(assignment, "Half a thought")

    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    "change", [{"note": "x" * 2001}, {"severity": "6"}], ids=["endless note", "severity outside the scale"]
)
def test_draft_that_cannot_be_used_is_422(desk: Desk, change: dict[str, str]) -> None:
    page = signed_in(desk.account).post(item_url(desk, take(desk), "draft"), {"note": "x"} | change)

    assert page.status_code == 422
    assert not Draft.objects.exists()
