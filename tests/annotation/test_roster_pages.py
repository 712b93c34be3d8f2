"""The researcher's page of a campaign's people, and what can be done there."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.campaigns import invite, open_invitation, withdraw_consent
from annotation.choices import AnnotatorType, SkipReason
from annotation.errors import NotAllowed
from annotation.labelling import next_assignment, skip_item
from annotation.models import AuditEvent, Campaign, Consent, Invitation, Label
from annotation.selectors import LinkState, invitations_of, roster_of
from tests.annotation.desk import Desk, answer, item_url, join, make_desk, sent, take
from tests.conftest import signed_in
from tests.factories import make_account, make_campaign, make_invitation

pytestmark = pytest.mark.django_db
ACTIONS = ("deactivate", "reactivate", "withdraw_person")


@pytest.fixture
def desk() -> Desk:
    return make_desk(n_items=3, n_annotators=2, labels_per_response=2)


def people(campaign: Campaign) -> str:
    return reverse("annotation:campaign_people", args=[campaign.public_id])


def of_person(name: str, desk: Desk) -> str:
    return reverse(f"annotation:{name}", args=[desk.campaign.public_id, desk.annotator.public_id])


def inviting(campaign: Campaign) -> str:
    return reverse("annotation:invite", args=[campaign.public_id])


def wanted(**values: Any) -> dict[str, Any]:
    return {"invite-annotator_type": "PARENT", "invite-n_people": "2", "invite-n_days": "7", **values}


def test_roster_shows_code_kind_consent_and_counts(researcher_client: Client, desk: Desk) -> None:
    answer(take(desk))
    skip_item(assignment=take(desk), annotator=desk.annotator, reason=SkipReason.UNCLEAR)
    take(desk)

    html = researcher_client.get(people(desk.campaign)).content.decode()
    row = next(person for person in roster_of(desk.campaign) if person.annotator == desk.annotator)

    assert (row.n_labelled, row.n_skipped, row.n_open, row.has_consented) == (1, 1, 1, True)
    assert desk.annotator.code in html
    assert "2 people are in this campaign; 2 agreed to its present text." in html
    assert re.search(r"version 1, .*, en", html)


def test_roster_of_nobody_says_what_to_do(researcher_client: Client) -> None:
    html = researcher_client.get(people(make_campaign())).content.decode()

    assert "Nobody is in this campaign yet." in html


def test_links_are_shown_once(researcher_client: Client, desk: Desk) -> None:
    made = researcher_client.post(inviting(desk.campaign), wanted())
    later = researcher_client.get(people(desk.campaign))

    secrets = re.findall(r"http://testserver/label/join/([\w-]+)/", made.content.decode())
    assert len(set(secrets)) == 2
    assert all(open_invitation(secret).campaign == desk.campaign for secret in secrets)
    assert "/label/join/" not in later.content.decode()
    assert "no-store" in made.headers["Cache-Control"]


@pytest.mark.parametrize(
    "change",
    [{"invite-n_people": "0"}, {"invite-n_days": "400"}, {"invite-annotator_type": "ROBOT"}],
    ids=str,
)
def test_unusable_wish_for_links_is_422(
    researcher_client: Client, desk: Desk, change: dict[str, str]
) -> None:
    assert researcher_client.post(inviting(desk.campaign), wanted(**change)).status_code == 422
    assert not Invitation.objects.exists()


def test_links_into_a_closed_campaign_are_409(researcher_client: Client) -> None:
    campaign = make_campaign(state="CLOSED")

    page = researcher_client.post(inviting(campaign), wanted())

    assert page.status_code == 409
    assert not Invitation.objects.exists()


def test_links_are_listed_by_what_became_of_them(desk: Desk) -> None:
    make_invitation(campaign=desk.campaign)
    make_invitation(campaign=desk.campaign, expires_at="2026-01-01T00:00:00Z")
    make_invitation(campaign=desk.campaign, revoked_at="2026-01-01T00:00:00Z")
    make_invitation(campaign=desk.campaign, used_at="2026-01-01T00:00:00Z", annotator=desk.annotator)

    states = [link.state for link in invitations_of(desk.campaign)]

    assert states == [LinkState.USED, LinkState.REVOKED, LinkState.EXPIRED, LinkState.OPEN]


def test_link_is_taken_back_by_button(researcher_client: Client, desk: Desk) -> None:
    [new] = invite(campaign=desk.campaign, annotator_type=AnnotatorType.PARENT, actor=None)
    where = reverse("annotation:revoke", args=[desk.campaign.public_id, new.invitation.public_id])

    page = researcher_client.post(where)

    assert page.headers["Location"] == people(desk.campaign)
    assert Invitation.objects.get().revoked_at is not None


def test_used_link_is_not_taken_back(researcher_client: Client, desk: Desk) -> None:
    used = make_invitation(campaign=desk.campaign, used_at="2026-01-01T00:00:00Z", annotator=desk.annotator)
    where = reverse("annotation:revoke", args=[desk.campaign.public_id, used.public_id])

    assert researcher_client.post(where).status_code == 409


def test_link_of_another_campaign_is_404(researcher_client: Client, desk: Desk) -> None:
    other = make_invitation()
    where = reverse("annotation:revoke", args=[desk.campaign.public_id, other.public_id])

    assert researcher_client.post(where).status_code == 404


def test_deactivated_person_is_shown_nothing_and_the_labels_stay(
    researcher_client: Client, desk: Desk
) -> None:
    answer(take(desk))
    held = take(desk)

    researcher_client.post(of_person("deactivate", desk))
    page = signed_in(desk.account).post(item_url(desk, held), sent())

    assert page.status_code == 403
    assert "taken off this task" in page.content.decode()
    assert Label.objects.get().is_current
    with pytest.raises(NotAllowed):
        next_assignment(campaign=desk.campaign, annotator=desk.annotator)


def test_item_of_a_deactivated_person_goes_to_others_at_once(researcher_client: Client) -> None:
    desk = make_desk(n_items=1)
    take(desk)
    colleague = join(desk.campaign)

    researcher_client.post(of_person("deactivate", desk))

    assert take(desk, colleague).item == desk.items[0]


def test_reactivated_person_goes_on_with_the_same_item(researcher_client: Client, desk: Desk) -> None:
    held = take(desk)
    researcher_client.post(of_person("deactivate", desk))

    researcher_client.post(of_person("reactivate", desk))

    assert take(desk) == held


@pytest.mark.parametrize("name", ["deactivate", "reactivate"])
def test_pressing_twice_is_one_event(researcher_client: Client, desk: Desk, name: str) -> None:
    researcher_client.post(of_person("deactivate", desk))
    for _ in range(2):
        researcher_client.post(of_person(name, desk))

    events = AuditEvent.objects.filter(action=f"campaign.annotator_{name}d")
    assert events.count() == 1


def test_withdrawal_for_a_person_shows_the_counts_first(researcher_client: Client, desk: Desk) -> None:
    answer(take(desk), note="Kind.")

    shown = researcher_client.get(of_person("withdraw_person", desk))
    still = Consent.objects.filter(withdrawn_at=None).count()
    done = researcher_client.post(of_person("withdraw_person", desk))

    assert "to be kept under the code" in shown.content.decode()
    assert still == 2
    assert done.headers["Location"] == people(desk.campaign)
    assert Consent.objects.filter(withdrawn_at=None).count() == 1


def test_roster_says_who_has_left(researcher_client: Client, desk: Desk) -> None:
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    html = researcher_client.get(people(desk.campaign)).content.decode()

    assert "withdrawn " in html
    assert "1 person is in this campaign; 1 agreed to its present text." in html


def test_new_text_shows_who_was_not_asked_again_yet(researcher_client: Client, desk: Desk) -> None:
    Campaign.objects.update(consent_version=2)

    html = researcher_client.get(people(desk.campaign)).content.decode()

    assert "2 people are in this campaign; 0 agreed to its present text." in html
    assert html.count("not asked again yet") == 2


@pytest.mark.parametrize("name", ACTIONS)
def test_person_of_another_campaign_is_404(researcher_client: Client, desk: Desk, name: str) -> None:
    other = make_desk()
    where = reverse(f"annotation:{name}", args=[desk.campaign.public_id, other.annotator.public_id])

    assert researcher_client.post(where).status_code == 404


@pytest.mark.parametrize("name", ACTIONS)
def test_action_is_for_researchers_only(
    annotator_client: Client, auditor_client: Client, desk: Desk, name: str
) -> None:
    where = of_person(name, desk)

    assert Client().post(where).status_code == 302
    assert annotator_client.post(where).status_code == 404
    assert auditor_client.post(where).status_code == 403
    assert not AuditEvent.objects.filter(action="consent.withdrawn").exists()


@pytest.mark.parametrize("name", ["deactivate", "reactivate"])
def test_action_is_no_page(researcher_client: Client, desk: Desk, name: str) -> None:
    assert researcher_client.get(of_person(name, desk)).status_code == 405


def test_page_of_people_is_for_readers(annotator_client: Client, auditor_client: Client, desk: Desk) -> None:
    assert Client().get(people(desk.campaign)).status_code == 302
    assert annotator_client.get(people(desk.campaign)).status_code == 404
    assert auditor_client.get(people(desk.campaign)).status_code == 200


@pytest.mark.parametrize("n_people", [1, 6])
def test_page_of_people_asks_the_database_equally_often(
    researcher_client: Client, n_people: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    desk = make_desk(n_items=n_people, n_annotators=n_people, labels_per_response=n_people)
    for person in desk.annotators:
        answer(take(desk, person))
        make_invitation(campaign=desk.campaign)
        make_account()

    with django_assert_num_queries(11):
        researcher_client.get(people(desk.campaign))


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "{{ 7*7 }}"])
def test_markup_in_a_code_or_name_is_shown_as_text(researcher_client: Client, text: str) -> None:
    desk = make_desk(name=text)
    type(desk.annotator).objects.update(code=text)

    html = researcher_client.get(people(desk.campaign)).content.decode()

    assert "alert(1)</script>" not in html
    assert "49" not in html.split("<main", 1)[1].split("</bdi>", 1)[0]


def test_reason_for_no_items_is_told_as_each_side_reads_it(researcher_client: Client) -> None:
    desk = make_desk(n_items=1)
    answer(take(desk, join(desk.campaign)))

    html = researcher_client.get(of_person("person_items", desk)).content.decode()

    assert f"Why {desk.annotator.code} gets no items" in html
    assert "Items that they have not settled: 1; all have the labels they need from others." in html
    assert "Every text has enough answers now" in html


def test_person_who_can_have_an_item_is_said_to_get_items(researcher_client: Client, desk: Desk) -> None:
    html = researcher_client.get(of_person("person_items", desk)).content.decode()

    assert f"{desk.annotator.code} gets items" in html
    assert "open to them: 3." in html


def test_reason_for_no_items_is_not_for_annotators(client: Client, desk: Desk) -> None:
    client.force_login(desk.account)

    assert client.get(of_person("person_items", desk)).status_code == 404


def test_reason_for_no_items_of_a_person_of_another_campaign_is_404(
    researcher_client: Client, desk: Desk
) -> None:
    address = reverse("annotation:person_items", args=[make_campaign().public_id, desk.annotator.public_id])

    assert researcher_client.get(address).status_code == 404


def test_reason_for_no_items_is_read_only_and_asks_visitors_to_sign_in(
    client: Client, researcher_client: Client, desk: Desk
) -> None:
    assert researcher_client.post(of_person("person_items", desk)).status_code == 405
    assert client.get(of_person("person_items", desk)).status_code == 302
