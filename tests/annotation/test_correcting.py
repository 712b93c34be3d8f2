"""A response's text is corrected while nobody depends on it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.choices import AssignmentState, CorrectionReason, LabelAction, ResponseState
from annotation.correcting import UnusableText, correct_response
from annotation.errors import Conflict
from annotation.models import Account, Assignment, AuditEvent, Response, ResponseRevision
from tests.factories import (
    make_assignment,
    make_item,
    make_label,
    make_response,
    sha256_of,
)

pytestmark = pytest.mark.django_db
RIGHT = "Let us look at this together with somebody you trust."


def correct(response: Response, text: str = RIGHT, **values: Any) -> Response:
    return correct_response(response, text=text, reason=CorrectionReason.INCOMPLETE, **values)


def test_text_is_corrected_and_the_one_before_is_kept(researcher: Account) -> None:
    response = make_response(n_tokens=7, tokens_source="PROVIDER", finish_reason="stop")
    before = response.text

    correct(response, actor=researcher)

    response.refresh_from_db()
    assert (response.text, response.text_hash) == (RIGHT, sha256_of(RIGHT))
    assert (response.n_tokens, response.tokens_source, response.finish_reason) == (None, None, None)
    kept = ResponseRevision.objects.get(response=response)
    assert (kept.text, kept.text_hash, kept.finish_reason) == (before, sha256_of(before), "stop")
    assert (kept.reason, kept.actor) == (CorrectionReason.INCOMPLETE, researcher)


def test_correction_is_audited_without_the_text(researcher: Account) -> None:
    response = make_response()

    correct(response, actor=researcher)

    event = AuditEvent.objects.get(action="response.corrected")
    assert (event.actor, event.subject) == (researcher, f"response:{response.public_id}")
    assert event.detail["text_hash_before"] == response.text_hash
    assert event.detail["text_hash"] == sha256_of(RIGHT)
    assert RIGHT not in str(event.detail)


@pytest.mark.parametrize(
    "values",
    [
        {"state": ResponseState.EMPTY, "text": ""},
        {"state": ResponseState.ERROR, "text": "", "error": "timed out"},
        {"state": ResponseState.TRUNCATED, "finish_reason": "length"},
    ],
    ids=["empty", "error", "truncated"],
)
def test_corrected_response_is_complete(values: dict[str, Any]) -> None:
    corrected = correct(make_response(**values))

    assert (corrected.state, corrected.error) == (ResponseState.OK, None)


@pytest.mark.parametrize(
    "text", ["", "  \n", "a\0b", "half \ud800"], ids=["none", "blank", "nul", "surrogate"]
)
def test_text_that_no_response_can_have_is_refused(text: str) -> None:
    with pytest.raises(UnusableText):
        correct(make_response(), text)


def test_text_longer_than_a_file_may_hold_is_refused() -> None:
    with pytest.raises(UnusableText, match="1,000,002 bytes"):
        correct(make_response(), "é" * 500_001)


def test_same_text_is_refused() -> None:
    response = make_response()

    with pytest.raises(UnusableText, match="already"):
        correct(response, response.text)

    assert not ResponseRevision.objects.exists()


@pytest.mark.parametrize(
    "values",
    [{}, {"rating": None, "action": LabelAction.RETRACTED, "is_current": False}],
    ids=["current", "taken-back"],
)
def test_labelled_response_keeps_its_text(values: dict[str, Any]) -> None:
    response = make_response()
    make_label(item=make_item(response=response), **values)

    with pytest.raises(Conflict, match="has been labelled"):
        correct(response)

    response.refresh_from_db()
    assert response.text != RIGHT


def test_response_before_a_reader_keeps_its_text() -> None:
    response = make_response()
    make_assignment(item=make_item(response=response))

    with pytest.raises(Conflict, match="before them"):
        correct(response)


def test_page_left_open_on_the_earlier_text_can_no_longer_answer() -> None:
    response = make_response()
    item = make_item(response=response)
    make_assignment(item=item, lease_until=timezone.now() - timedelta(minutes=1))
    make_assignment(item=item, state=AssignmentState.SKIPPED, skip_reason="UNCLEAR")

    correct(response)

    assert list(Assignment.objects.values_list("state", flat=True)) == [AssignmentState.SKIPPED]


def test_text_of_another_response_outside_rollouts_is_refused() -> None:
    other = make_response(rollout=None, text=RIGHT)
    response = make_response(prompt=other.prompt, target_model=other.target_model, rollout=None)

    with pytest.raises(Conflict, match="Use that one"):
        correct(response)
