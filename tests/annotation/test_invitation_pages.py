"""Where an invitation link leads, with and without an account."""

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.campaigns import accept_invitation, invite
from annotation.choices import AnnotatorType
from annotation.models import Account, Campaign, Invitation, Membership
from tests.annotation.desk import make_desk
from tests.conftest import signed_in
from tests.factories import make_campaign

pytestmark = pytest.mark.django_db
PASSWORD = "four mild green words"


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(name="Round for model-x")


@pytest.fixture
def secret(campaign: Campaign) -> str:
    return invite(campaign=campaign, annotator_type=AnnotatorType.PARENT, actor=None)[0].secret


def address(secret: str) -> str:
    return reverse("annotation:join", args=[secret])


def welcome(campaign: Campaign) -> str:
    return reverse("annotation:welcome", args=[campaign.public_id])


def test_link_opens_for_nobody_in_particular_and_names_no_study(secret: str) -> None:
    page = Client().get(address(secret))

    assert page.status_code == 200
    assert "You are invited" in page.content.decode()
    assert "model-x" not in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    assert not Account.objects.exists()


def test_choosing_a_password_signs_in_and_shows_the_name_to_note(secret: str, campaign: Campaign) -> None:
    client = Client()

    reply = client.post(address(secret), {"password": PASSWORD})
    page = client.get(reply.headers["Location"])

    account = Account.objects.get()
    assert reply.headers["Location"] == welcome(campaign)
    assert account.username in page.content.decode()
    assert reverse("annotation:next", args=[campaign.public_id]) in page.content.decode()


def test_person_comes_back_with_the_noted_name(secret: str) -> None:
    Client().post(address(secret), {"password": PASSWORD})
    client = Client()

    client.post(reverse("login"), {"username": Account.objects.get().username, "password": PASSWORD})

    assert client.get(reverse("annotation:home")).status_code == 302
    assert settings.SESSION_COOKIE_NAME in client.cookies


@pytest.mark.parametrize("password", ["", "short", "12345678901"])
def test_unusable_password_is_422_and_leaves_the_link(secret: str, password: str) -> None:
    page = Client().post(address(secret), {"password": password})

    assert page.status_code == 422
    assert 'id="error-summary"' in page.content.decode()
    assert Client().get(address(secret)).status_code == 200


def test_used_link_is_404_and_leads_to_the_sign_in_page(secret: str) -> None:
    annotator = accept_invitation(secret=secret, password=PASSWORD)

    page = Client().get(address(secret))

    assert page.status_code == 404
    assert annotator.code in page.content.decode()
    assert reverse("login") in page.content.decode()


@pytest.mark.parametrize("method", ["get", "post"])
def test_unknown_link_is_404(method: str) -> None:
    assert getattr(Client(), method)(address("made-up"), {"password": PASSWORD}).status_code == 404


def test_link_takes_no_other_method(secret: str) -> None:
    assert Client().put(address(secret)).status_code == 405


def test_person_with_an_account_adds_the_task_by_one_press(
    annotator_client: Client, annotator_account: Account, secret: str, campaign: Campaign
) -> None:
    shown = annotator_client.get(address(secret))
    reply = annotator_client.post(address(secret))

    assert "Add this task to mine" in shown.content.decode()
    assert reply.headers["Location"] == reverse("annotation:next", args=[campaign.public_id])
    assert Membership.objects.get().annotator.account == annotator_account


def test_member_is_told_that_the_link_is_for_someone_else(secret: str) -> None:
    desk = make_desk()
    Invitation.objects.update(campaign=desk.campaign)

    page = signed_in(desk.account).post(address(secret))

    assert page.status_code == 409
    assert "part of this task already" in page.content.decode()


def test_researcher_sees_whom_the_link_is_for_and_does_not_use_it(
    researcher_client: Client, secret: str
) -> None:
    shown = researcher_client.get(address(secret))
    pressed = researcher_client.post(address(secret))

    assert "private window" in shown.content.decode()
    assert pressed.status_code == 403
    assert Invitation.objects.get().used_at is None


def test_welcome_is_for_members_only(annotator_client: Client, campaign: Campaign) -> None:
    assert Client().get(welcome(campaign)).status_code == 302
    assert annotator_client.get(welcome(campaign)).status_code == 404
    assert annotator_client.post(welcome(campaign)).status_code == 405


def test_link_asks_the_database_once(secret: str, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        Client().get(address(secret))
