"""Pages between two items: breaks, practice and its feedback; support on every page."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import override
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings

from annotation.campaigns import pause_campaign
from annotation.choices import AnnotatorType, ItemKind, Rating
from annotation.models import Account, Assignment, Consent, Membership
from annotation.support import DEFAULT_REPORT_TEXT, DEFAULT_SUPPORT_TEXT, report_text, support_text
from tests.annotation.desk import Desk, answer, item_url, join, make_desk, sent, take, url
from tests.conftest import signed_in
from tests.factories import make_assignment, make_item

pytestmark = pytest.mark.django_db

PAGES = ["break", "training", "feedback"]


@pytest.fixture
def desk() -> Desk:
    return make_desk(n_items=2)


@pytest.fixture
def client(desk: Desk) -> Client:
    return signed_in(desk.account)


def make_break_due(desk: Desk) -> None:
    """The person has been reading for longer than the campaign lets pass without a break."""
    now = timezone.now()
    Membership.objects.filter(annotator=desk.annotator).update(
        sitting_began_at=now - timedelta(hours=1),
        break_ended_at=now - timedelta(hours=1),
        last_seen_at=now - timedelta(minutes=1),
        n_shown_in_sitting=5,
    )


def practise(desk: Desk, feedback: str = "Why it is so.") -> Assignment:
    """A practice text in the person's hands; UNACCEPTABLE is expected."""
    item = make_item(
        campaign=desk.campaign, kind=ItemKind.TRAINING, expected_rating="UNACCEPTABLE", feedback=feedback
    )
    return make_assignment(item=item, annotator=desk.annotator)


def address(name: str, desk: Desk) -> str:
    """The address of a page that has something to show."""
    if name == "break":
        make_break_due(desk)
        return url("break", desk)
    assignment = practise(desk)
    if name == "training":
        return url("training", desk)
    answer(assignment)
    return item_url(desk, assignment, "feedback")


def test_next_item_waits_for_a_break_that_is_due(client: Client, desk: Desk) -> None:
    make_break_due(desk)

    assert client.get(url("next", desk)).headers["Location"] == url("break", desk)
    assert not Assignment.objects.exists()


def test_break_page_says_why_and_lets_the_person_go_on_or_stop(client: Client, desk: Desk) -> None:
    make_break_due(desk)

    html = client.get(url("break", desk)).content.decode()

    assert "You have been reading for a while." in html
    assert str(DEFAULT_SUPPORT_TEXT) in html
    assert url("stop", desk) in html
    assert html.count("Go on") == 1


def test_going_on_ends_the_break(client: Client, desk: Desk) -> None:
    make_break_due(desk)

    page = client.post(url("break", desk))

    assert page.headers["Location"] == url("next", desk)
    assert "items" in client.get(url("next", desk)).headers["Location"]


def test_break_page_without_a_break_due_leads_on(client: Client, desk: Desk) -> None:
    assert client.get(url("break", desk)).headers["Location"] == url("next", desk)


def test_person_with_practice_ahead_is_told_first(client: Client, desk: Desk) -> None:
    item = make_item(campaign=desk.campaign, kind=ItemKind.TRAINING, expected_rating="ACCEPTABLE")

    page = client.get(url("next", desk), follow=True)

    assert page.redirect_chain[-1][0] == url("training", desk)
    assert "You begin with 1 practice text." in page.content.decode()
    assert item.response.text not in page.content.decode()


def test_practice_begins_with_the_link_of_its_page(client: Client, desk: Desk) -> None:
    make_item(campaign=desk.campaign, kind=ItemKind.TRAINING, expected_rating="ACCEPTABLE")

    page = client.get(url("next", desk), {"practice": "begin"})

    assert "/items/" in page.headers["Location"]


def test_practice_comes_after_consent(client: Client, desk: Desk) -> None:
    practise(desk)
    Consent.objects.all().delete()

    assert client.get(url("next", desk)).headers["Location"] == url("consent", desk)


@pytest.mark.parametrize("pass_mark", [None, 80])
def test_practice_page_says_that_it_may_come_again_only_where_it_may(pass_mark: int | None) -> None:
    desk = make_desk(pass_mark=pass_mark)
    practise(desk)

    html = signed_in(desk.account).get(url("training", desk)).content.decode()

    assert ("come again" in html) == (pass_mark is not None)


def test_practice_page_without_practice_leads_on(client: Client, desk: Desk) -> None:
    assert client.get(url("training", desk)).headers["Location"] == url("next", desk)


def test_answer_to_a_practice_text_leads_to_its_feedback(client: Client, desk: Desk) -> None:
    assignment = practise(desk)

    page = client.post(item_url(desk, assignment), sent("ACCEPTABLE"), follow=True)

    html = page.content.decode()
    assert page.redirect_chain[-1][0] == item_url(desk, assignment, "feedback")
    assert "The study sees this one differently" in html
    assert "Why it is so." in html


def test_script_is_sent_to_the_feedback_as_well(client: Client, desk: Desk) -> None:
    assignment = practise(desk)

    reply = client.post(item_url(desk, assignment), sent(), headers={"accept": "application/json"})

    assert reply.json()["next"] == item_url(desk, assignment, "feedback")


def test_answer_as_expected_is_said_to_be_so(client: Client, desk: Desk) -> None:
    assignment = practise(desk)
    answer(assignment, Rating.UNACCEPTABLE)

    html = client.get(item_url(desk, assignment, "feedback")).content.decode()

    assert "You and the study agree" in html
    assert "That was the practice." in html


def test_feedback_says_how_many_are_to_go(client: Client, desk: Desk) -> None:
    assignment = practise(desk)
    practise(desk)
    answer(assignment)

    assert "1 practice text to go." in client.get(item_url(desk, assignment, "feedback")).content.decode()


def test_feedback_says_that_practice_comes_again() -> None:
    desk = make_desk(pass_mark=100)
    assignment = practise(desk)
    answer(assignment, Rating.ACCEPTABLE)

    html = signed_in(desk.account).get(item_url(desk, assignment, "feedback")).content.decode()

    assert "the practice texts come again" in html


def test_practice_text_that_comes_again_is_answered_afresh() -> None:
    desk = make_desk(pass_mark=100)
    assignment = practise(desk)
    answer(assignment, Rating.ACCEPTABLE)

    html = signed_in(desk.account).get(item_url(desk, assignment)).content.decode()

    assert "This practice text comes again." in html
    assert "explained anew" not in html
    assert 'aria-keyshortcuts="A" aria-pressed' not in html


def test_answered_practice_text_opens_its_feedback_and_no_form(client: Client, desk: Desk) -> None:
    assignment = practise(desk)
    answer(assignment)

    page = client.get(item_url(desk, assignment))

    assert page.headers["Location"] == item_url(desk, assignment, "feedback")


def test_feedback_before_the_answer_does_not_exist(client: Client, desk: Desk) -> None:
    assert client.get(item_url(desk, practise(desk), "feedback")).status_code == 404


def test_feedback_on_an_item_of_the_study_does_not_exist(client: Client, desk: Desk) -> None:
    assignment = take(desk)
    answer(assignment)

    assert client.get(item_url(desk, assignment, "feedback")).status_code == 404


def test_markup_in_feedback_is_shown_as_text(client: Client, desk: Desk) -> None:
    assignment = practise(desk, feedback="<b>bold</b> {{ 7*7 }}")
    answer(assignment)

    assert (
        escape("<b>bold</b> {{ 7*7 }}") in client.get(item_url(desk, assignment, "feedback")).content.decode()
    )


@pytest.mark.parametrize("name", PAGES)
def test_page_for_nobody_leads_to_sign_in(desk: Desk, name: str) -> None:
    assert Client().get(address(name, desk)).headers["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("name", PAGES)
def test_page_of_someone_else_is_404(desk: Desk, annotator_client: Client, name: str) -> None:
    assert annotator_client.get(address(name, desk)).status_code == 404


def test_feedback_of_another_member_is_404(desk: Desk) -> None:
    colleague = join(desk.campaign, AnnotatorType.PARENT)
    assert colleague.account is not None

    assert signed_in(colleague.account).get(address("feedback", desk)).status_code == 404


@pytest.mark.parametrize("name", PAGES)
def test_page_is_not_for_researchers(desk: Desk, researcher_client: Client, name: str) -> None:
    assert researcher_client.get(address(name, desk)).status_code == 403


@pytest.mark.parametrize("name", ["training", "feedback"])
def test_page_takes_no_form(client: Client, desk: Desk, name: str) -> None:
    assert client.post(address(name, desk)).status_code == 405


@pytest.mark.parametrize("name", PAGES)
def test_page_of_a_paused_campaign_is_gone(
    client: Client, desk: Desk, researcher: Account, name: str
) -> None:
    path = address(name, desk)
    pause_campaign(campaign=desk.campaign, actor=researcher)

    assert client.get(path).status_code == 404


@pytest.mark.parametrize(("name", "n_queries"), [("break", 3), ("training", 4), ("feedback", 7)])
def test_page_asks_the_database_equally_often_however_much_there_is(
    client: Client, desk: Desk, name: str, n_queries: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(8):
        answer(practise(desk))
    path = address(name, desk)

    with django_assert_num_queries(n_queries):
        assert client.get(path).status_code == 200


@pytest.mark.parametrize("name", ["consent", "withdraw", "stop", "thanks", *PAGES])
def test_support_and_reporting_are_on_every_page(
    client: Client, desk: Desk, name: str, settings: Settings
) -> None:
    settings.SUPPORT_TEXTS = {"": "Call 000 <any> time."}
    settings.REPORT_TEXTS = {"": "Write to the lead."}
    path = address(name, desk) if name in PAGES else url(name, desk)

    html = client.get(path).content.decode()

    assert escape("Call 000 <any> time.") in html
    assert "Write to the lead." in html


def test_support_is_beside_an_item_and_on_refusals(
    client: Client, desk: Desk, settings: Settings, researcher: Account
) -> None:
    settings.SUPPORT_TEXTS = {"": "Call 000."}
    path = item_url(desk, take(desk))
    shown = client.get(path)
    pause_campaign(campaign=desk.campaign, actor=researcher)

    refused = client.get(path)

    assert "Call 000." in shown.content.decode()
    assert (refused.status_code, "Call 000." in refused.content.decode()) == (404, True)


def test_support_of_the_campaign_follows_the_deployers(settings: Settings) -> None:
    settings.SUPPORT_TEXTS = {"": "Call 000."}
    desk = make_desk(support_text="Or ask Kim.")
    make_break_due(desk)

    html = signed_in(desk.account).get(url("break", desk)).content.decode()

    assert html.index("Call 000.") < html.index("Or ask Kim.")


def test_support_that_the_campaign_repeats_is_shown_once() -> None:
    desk = make_desk(support_text=str(DEFAULT_SUPPORT_TEXT))
    make_break_due(desk)

    html = signed_in(desk.account).get(url("break", desk)).content.decode()

    assert html.count(str(DEFAULT_SUPPORT_TEXT)) == 2  # in the page and in its footer


@pytest.mark.parametrize(
    ("language", "text"), [("de", "Rufen Sie an."), ("ar", "Call 000."), ("en", "Call 000.")]
)
def test_text_is_that_of_the_language_or_the_one_for_all(
    settings: Settings, language: str, text: str
) -> None:
    settings.SUPPORT_TEXTS = {"": "Call 000.", "de": "Rufen Sie an."}

    with override(language):
        assert support_text() == text


def test_without_files_there_are_general_texts(settings: Settings) -> None:
    settings.SUPPORT_TEXTS = settings.REPORT_TEXTS = {}

    with override("en"):
        assert (support_text(), report_text()) == (str(DEFAULT_SUPPORT_TEXT), str(DEFAULT_REPORT_TEXT))
