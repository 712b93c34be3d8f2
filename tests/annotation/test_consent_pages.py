"""What a person reads before consenting, leaves out, and takes back."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.campaigns import (
    OtherTextRead,
    UnknownTheme,
    choose_opt_outs,
    close_campaign,
    consent_hash,
    give_consent,
)
from annotation.choices import WithdrawalPolicy
from annotation.models import Account, Assignment, AuditEvent, Campaign, CategoryOptOut, Consent, Label
from tests.annotation.desk import Desk, answer, make_desk, take, url
from tests.conftest import signed_in
from tests.factories import make_campaign, make_item, make_prompt, make_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return make_desk()


@pytest.fixture
def client(desk: Desk) -> Client:
    return signed_in(desk.account)


def change_text() -> None:
    Campaign.objects.update(consent_text="Another text.", consent_version=2)


def test_consent_keeps_the_language_of_the_page(client: Client, desk: Desk) -> None:
    Consent.objects.all().delete()
    Account.objects.filter(pk=desk.account.pk).update(language="de")

    client.post(url("consent", desk), {"read": consent_hash(desk.campaign)})

    consent = Consent.objects.get()
    assert (consent.locale, consent.text_hash) == ("de", consent_hash(desk.campaign))
    assert AuditEvent.objects.filter(action="consent.given").last().detail["locale"] == "de"


def test_consent_is_asked_again_when_the_text_changes(client: Client, desk: Desk) -> None:
    change_text()

    sent_on = client.get(url("next", desk))
    html = client.get(url("consent", desk)).content.decode()

    assert sent_on.headers["Location"] == url("consent", desk)
    assert "has changed since you agreed" in html
    assert "Another text." in html


def test_consent_to_a_text_that_changed_meanwhile_is_not_stored(client: Client, desk: Desk) -> None:
    read = consent_hash(desk.campaign)
    change_text()

    page = client.post(url("consent", desk), {"read": read})

    assert page.status_code == 409
    assert "The text has changed since you opened this page" in page.content.decode()
    assert "Another text." in page.content.decode()
    assert Consent.objects.get().version == 1


def test_consent_without_saying_to_which_text_is_422(client: Client, desk: Desk) -> None:
    Consent.objects.all().delete()

    assert client.post(url("consent", desk)).status_code == 422
    assert not Consent.objects.exists()


def test_other_text_is_refused_by_the_rule_as_well(desk: Desk) -> None:
    with pytest.raises(OtherTextRead):
        give_consent(campaign=desk.campaign, annotator=desk.annotator, read_hash="0" * 64)


@pytest.mark.parametrize(
    ("policy", "words"),
    [(WithdrawalPolicy.KEEP, "without any link to you"), (WithdrawalPolicy.DELETE, "are then deleted")],
)
def test_consent_page_says_what_withdrawal_does(policy: WithdrawalPolicy, words: str) -> None:
    desk = make_desk(withdrawal_policy=policy)

    html = signed_in(desk.account).get(url("consent", desk)).content.decode()

    assert words in html


@pytest.mark.parametrize(
    ("policy", "words"),
    [(WithdrawalPolicy.KEEP, "answers that you gave are kept"), (WithdrawalPolicy.DELETE, "are deleted")],
)
def test_withdraw_page_says_how_many_answers_first(policy: WithdrawalPolicy, words: str) -> None:
    desk = make_desk(withdrawal_policy=policy)
    for _ in range(2):
        answer(take(desk))

    html = signed_in(desk.account).get(url("withdraw", desk)).content.decode()

    assert words in html
    assert "The 2 answers that you gave" in html
    assert Label.objects.filter(is_current=True).count() == 2


def test_withdraw_page_works_when_the_task_is_over(client: Client, desk: Desk, researcher: Account) -> None:
    close_campaign(campaign=desk.campaign, actor=researcher)

    assert client.get(url("withdraw", desk)).status_code == 200
    assert "Your consent is withdrawn" in client.post(url("withdraw", desk)).content.decode()


def test_person_whose_account_closes_is_signed_out(desk: Desk) -> None:
    Account.objects.filter(pk=desk.account.pk).update(username=desk.annotator.code)
    client = signed_in(desk.account)

    page = client.post(url("withdraw", desk))

    assert "You are signed out." in page.content.decode()
    assert client.get(reverse("annotation:home")).status_code == 302


def test_list_of_consents_leads_to_the_way_out(client: Client, desk: Desk, researcher: Account) -> None:
    close_campaign(campaign=desk.campaign, actor=researcher)

    html = client.get(reverse("annotation:consents")).content.decode()

    assert url("withdraw", desk) in html
    assert "not open at the moment" in html
    assert desk.campaign.name not in html


def test_list_of_consents_without_any_says_so(annotator_client: Client) -> None:
    html = annotator_client.get(reverse("annotation:consents")).content.decode()

    assert "nothing that you have agreed to" in html


@pytest.fixture
def two_themes() -> Desk:
    """Three items of one theme, one of another."""
    campaign = make_campaign(scale="BINARY")
    desk = make_desk(n_items=3, benchmark=campaign.benchmark)
    prompt = make_prompt(benchmark=campaign.benchmark, risk_category="Technical Misuse")
    desk.items.append(make_item(campaign=desk.campaign, response=make_response(prompt=prompt)))
    return desk


def test_theme_that_was_left_out_is_remembered(two_themes: Desk) -> None:
    client = signed_in(two_themes.account)

    page = client.post(url("themes", two_themes), {"not_read": ["Emotional Dependency"]})

    assert page.headers["Location"] == url("next", two_themes)
    assert CategoryOptOut.objects.get().risk_category == "Emotional Dependency"


def test_item_in_hand_of_a_left_out_theme_is_given_back(two_themes: Desk) -> None:
    held = take(two_themes)

    choose_opt_outs(
        campaign=two_themes.campaign,
        annotator=two_themes.annotator,
        risk_categories=[held.item.response.prompt.risk_category],
    )

    assert not Assignment.objects.exists()


def test_themes_are_put_back_by_sending_none(two_themes: Desk) -> None:
    client = signed_in(two_themes.account)
    client.post(url("themes", two_themes), {"not_read": ["Technical Misuse"]})

    client.post(url("themes", two_themes), {})

    assert not CategoryOptOut.objects.exists()


def test_themes_page_ticks_what_was_left_out(two_themes: Desk) -> None:
    client = signed_in(two_themes.account)
    client.post(url("themes", two_themes), {"not_read": ["Technical Misuse"]})

    html = client.get(url("themes", two_themes)).content.decode()

    assert html.count(" checked") == 1
    assert "Emotional Dependency" in html


def test_theme_that_is_not_in_the_task_is_422(two_themes: Desk) -> None:
    page = signed_in(two_themes.account).post(url("themes", two_themes), {"not_read": ["Astronomy"]})

    assert page.status_code == 422
    with pytest.raises(UnknownTheme):
        choose_opt_outs(
            campaign=two_themes.campaign, annotator=two_themes.annotator, risk_categories=["Astronomy"]
        )
    assert not CategoryOptOut.objects.exists()


def test_event_of_left_out_themes_says_how_many_and_not_which(two_themes: Desk) -> None:
    choose_opt_outs(
        campaign=two_themes.campaign,
        annotator=two_themes.annotator,
        risk_categories=["Technical Misuse"],
    )

    event = AuditEvent.objects.get(action="campaign.themes_chosen")
    assert event.detail == {"annotator": two_themes.annotator.public_id, "n_opted_out": 1}


@pytest.mark.parametrize("name", ["themes", "consents"])
def test_page_is_for_annotators(client: Client, researcher_client: Client, desk: Desk, name: str) -> None:
    where = reverse("annotation:consents") if name == "consents" else url(name, desk)

    assert Client().get(where).status_code == 302
    assert researcher_client.get(where).status_code == 403
    assert client.put(where).status_code == 405


def test_themes_of_someone_else_are_404(annotator_client: Client, desk: Desk) -> None:
    assert annotator_client.get(url("themes", desk)).status_code == 404
    assert annotator_client.post(url("themes", desk)).status_code == 404


@pytest.mark.parametrize(("name", "n_queries"), [("themes", 5), ("withdraw", 10), ("consent", 4)])
@pytest.mark.parametrize("n_items", [1, 8])
def test_page_asks_the_database_equally_often(
    name: str, n_queries: int, n_items: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    desk = make_desk(n_items=n_items)
    for _ in range(n_items):
        answer(take(desk), note="Kind.")
    client = signed_in(desk.account)

    with django_assert_num_queries(n_queries):
        client.get(url(name, desk))
