"""The annotator's pages without a script: what each does, and what it makes of bad input."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse

from annotation.campaigns import pause_campaign, withdraw_consent
from annotation.choices import AnnotatorType, AssignmentState, LabelAction, Rating, SkipReason
from annotation.labelling import skip_item
from annotation.models import Account, Consent, Label
from tests.annotation.desk import Desk, answer, item_url, join, make_desk, sent, take, url
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return make_desk()


@pytest.fixture
def client(desk: Desk) -> Client:
    return signed_in(desk.account)


def test_start_page_leads_straight_into_the_only_task(client: Client, desk: Desk) -> None:
    assert client.get(reverse("annotation:home")).headers["Location"] == url("next", desk)


def test_start_page_lists_several_tasks_without_their_names(client: Client, desk: Desk) -> None:
    other = make_desk(name="Round for model-x")
    type(desk.annotator).objects.filter(pk=other.annotator.pk).update(account=desk.account)

    page = client.get(reverse("annotation:home"))

    assert page.content.decode().count("3 waiting") == 0
    assert page.content.decode().count("</data> waiting") == 2
    assert "model-x" not in page.content.decode()


def test_start_page_without_a_task_says_so(annotator_client: Client) -> None:
    assert "Nothing is waiting for you" in annotator_client.get(reverse("annotation:home")).content.decode()


def test_next_before_consent_leads_to_the_consent_page(client: Client, desk: Desk) -> None:
    Consent.objects.all().delete()

    assert client.get(url("next", desk)).headers["Location"] == url("consent", desk)
    assert desk.campaign.consent_text in client.get(url("consent", desk)).content.decode()


def test_consent_is_recorded_and_leads_on(client: Client, desk: Desk) -> None:
    Consent.objects.all().delete()

    page = client.post(url("consent", desk))

    assert page.headers["Location"] == url("next", desk)
    assert Consent.objects.get().annotator == desk.annotator


def test_label_page_names_the_theme_before_the_text_and_asks_as_a_parent(client: Client, desk: Desk) -> None:
    assignment = take(desk)

    html = client.get(item_url(desk, assignment)).content.decode()

    prompt = assignment.item.response.prompt
    assert html.index(prompt.risk_category) < html.index("<details") < html.index(prompt.text)
    assert assignment.item.response.text in html
    assert "Would you, as a parent, find this answer acceptable?" in html


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        (AnnotatorType.SPECIALIST, "Would you, as a specialist, find this answer acceptable?"),
        (AnnotatorType.CROWD, "Would you find this answer acceptable?"),
    ],
)
def test_question_names_the_role(desk: Desk, kind: AnnotatorType, question: str) -> None:
    person = join(desk.campaign, kind)
    assert person.account is not None

    page = signed_in(person.account).get(item_url(desk, take(desk, person)))

    assert question in page.content.decode()


def test_answer_by_plain_form_is_stored_and_leads_on(client: Client, desk: Desk) -> None:
    assignment = take(desk)

    page = client.post(item_url(desk, assignment), sent("UNACCEPTABLE", note="Too sure of itself."))

    label = Label.objects.get()
    assert page.status_code == 302
    assert page.headers["Location"] == url("next", desk)
    assert (label.rating, label.note, label.annotator) == (
        Rating.UNACCEPTABLE,
        "Too sure of itself.",
        desk.annotator,
    )


def test_answer_by_script_gets_a_receipt(client: Client, desk: Desk) -> None:
    body = sent()

    reply = client.post(item_url(desk, take(desk)), body, headers={"accept": "application/json"})

    label = Label.objects.get()
    assert reply.json() == {
        "submission_id": body["submission_id"],
        "label": label.public_id,
        "saved_at": label.created_at.isoformat(),
        "next": url("next", desk),
    }


def test_severity_is_asked_and_stored_where_the_campaign_wants_it() -> None:
    desk = make_desk(scale="BINARY_AND_SEVERITY")
    client = signed_in(desk.account)
    assignment = take(desk)

    html = client.get(item_url(desk, assignment)).content.decode()
    client.post(item_url(desk, assignment), sent(severity="4"))

    assert html.count('name="severity"') == 5
    assert Label.objects.get().severity == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param({"value": ""}, "Press Acceptable or Unacceptable", id="no rating"),
        pytest.param({"value": "MAYBE"}, "Select a valid choice", id="unknown rating"),
        pytest.param({"severity": ""}, "Choose how severe it is", id="no severity"),
        pytest.param({"severity": "6"}, "Select a valid choice", id="severity outside the scale"),
        pytest.param({"submission_id": "7"}, "Enter a valid UUID", id="no submission id"),
        pytest.param({"note": "x" * 2001}, "at most 2000 characters", id="endless note"),
    ],
)
def test_answer_that_cannot_be_used_is_422_and_keeps_what_was_typed(
    change: dict[str, str], words: str
) -> None:
    desk = make_desk(scale="BINARY_AND_SEVERITY")
    assignment = take(desk)
    body = sent(severity="2", note="A half-written thought") | change

    page = signed_in(desk.account).post(item_url(desk, assignment), body)

    assert page.status_code == 422
    assert words in page.content.decode()
    assert body["note"] in page.content.decode()
    assert not Label.objects.exists()


def test_going_back_shows_the_answer_and_sending_another_revises_it(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment, Rating.ACCEPTABLE, note="First thought")
    first = Label.objects.get()

    html = client.get(item_url(desk, assignment)).content.decode()
    client.post(item_url(desk, assignment), sent("UNACCEPTABLE", revises=first.public_id))

    assert "First thought" in html
    assert f'name="revises" value="{first.public_id}"' in html
    assert Label.objects.get(is_current=True).action == LabelAction.REVISED


def test_stale_window_gets_409_with_both_answers_and_can_replace(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment, Rating.ACCEPTABLE, note="From the other window")

    page = client.post(item_url(desk, assignment), sent("UNACCEPTABLE", note="From this window"))
    html = page.content.decode()
    stored = Label.objects.get()
    client.post(item_url(desk, assignment), sent("UNACCEPTABLE", revises=stored.public_id))

    assert page.status_code == 409
    assert "From the other window" in html
    assert "From this window" in html
    assert f'name="revises" value="{stored.public_id}"' in html
    assert Label.objects.get(is_current=True).rating == Rating.UNACCEPTABLE


def test_stale_script_gets_409_with_a_code(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment)

    reply = client.post(item_url(desk, assignment), sent(), headers={"accept": "application/json"})

    assert (reply.status_code, reply.json()["code"]) == (409, "stale_label")


def test_answer_that_was_taken_back_elsewhere_is_409(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment)
    seen = Label.objects.get()
    body = {"label": seen.public_id, "submission_id": str(uuid.uuid4())}
    client.post(url("undo", desk), body)

    page = client.post(item_url(desk, assignment), sent(revises=seen.public_id))

    assert page.status_code == 409
    assert "Your answer was taken back" in page.content.decode()


def test_undo_takes_the_last_answer_back_and_shows_its_item(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment)
    label = Label.objects.get()

    html = client.get(item_url(desk, take(desk))).content.decode()
    page = client.post(url("undo", desk), {"label": label.public_id, "submission_id": str(uuid.uuid4())})

    assert f'name="label" value="{label.public_id}"' in html
    assert page.headers["Location"] == item_url(desk, assignment)
    assert not Label.objects.filter(is_current=True).exists()


def test_skip_stores_the_reason_and_leads_on(client: Client, desk: Desk) -> None:
    assignment = take(desk)

    page = client.post(item_url(desk, assignment, "skip"), {"reason": "TOO_DISTRESSING"})

    assignment.refresh_from_db()
    assert page.headers["Location"] == url("next", desk)
    assert (assignment.state, assignment.skip_reason) == (AssignmentState.SKIPPED, SkipReason.TOO_DISTRESSING)


def test_skip_without_a_known_reason_is_422(client: Client, desk: Desk) -> None:
    assert client.post(item_url(desk, take(desk), "skip"), {"reason": "BORED"}).status_code == 422


def test_skip_of_an_answered_item_is_409(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment)

    assert client.post(item_url(desk, assignment, "skip"), {"reason": "OTHER"}).status_code == 409


def test_skipped_item_can_be_opened_again(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    skip_item(assignment=assignment, annotator=desk.annotator, reason=SkipReason.OTHER)

    assert "You skipped this one" in client.get(item_url(desk, assignment)).content.decode()


def test_stop_page_names_support_and_the_way_back_to_the_same_item(desk: Desk) -> None:
    desk = make_desk(support_text="Call a friend.")
    client = signed_in(desk.account)
    assignment = take(desk)

    html = client.get(url("stop", desk)).content.decode()

    assert "Nothing is lost" in html
    assert "Call a friend." in html
    assert url("next", desk) in html
    assert client.get(url("next", desk)).headers["Location"] == item_url(desk, assignment)


def test_last_item_leads_to_thanks(client: Client, desk: Desk) -> None:
    for _ in desk.items:
        answer(take(desk))

    assert client.get(url("next", desk)).headers["Location"] == url("thanks", desk)
    assert "Thank you" in client.get(url("thanks", desk)).content.decode()


def test_withdrawal_asks_once_and_then_ends_the_consent(client: Client, desk: Desk) -> None:
    asked = client.get(url("withdraw", desk))
    still = Consent.objects.get().withdrawn_at
    done = client.post(url("withdraw", desk))

    assert "Withdraw your consent?" in asked.content.decode()
    assert still is None
    assert "Your consent is withdrawn" in done.content.decode()
    assert Consent.objects.get().withdrawn_at is not None


def test_answer_after_withdrawal_in_another_window_is_refused(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    page = client.post(item_url(desk, assignment), sent())

    assert page.status_code == 403
    assert "there is no consent from you" in page.content.decode()
    assert not Label.objects.exists()


def test_texts_are_not_shown_after_withdrawal(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    assert client.get(item_url(desk, assignment)).headers["Location"] == url("consent", desk)


def test_answer_to_a_paused_task_is_refused_in_words(client: Client, desk: Desk, researcher: Account) -> None:
    assignment = take(desk)
    pause_campaign(campaign=desk.campaign, actor=researcher)

    page = client.post(item_url(desk, assignment), sent())

    assert page.status_code == 404
    assert "not open at the moment" in page.content.decode()
    assert not Label.objects.exists()
