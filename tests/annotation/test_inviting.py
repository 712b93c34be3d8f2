"""One-time links: made, shown once, used once, taken back."""

import datetime as dt
from collections.abc import Callable

import pytest
from django.utils import timezone

from annotation.accounts import InvalidAccount
from annotation.campaigns import (
    InvalidInvitation,
    InvitationGone,
    accept_invitation,
    close_campaign,
    invite,
    join_by_invitation,
    open_invitation,
    revoke_invitation,
)
from annotation.choices import AnnotatorType, Role
from annotation.errors import Conflict, NotAllowed
from annotation.models import Account, AuditEvent, Campaign, Invitation, Membership
from tests.annotation.desk import join, make_desk
from tests.annotation.test_labelling_races import at_once
from tests.factories import make_account, make_campaign

pytestmark = pytest.mark.django_db
PASSWORD = "four mild green words"


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign()


def new_secret(campaign: Campaign, annotator_type: AnnotatorType = AnnotatorType.PARENT) -> str:
    return invite(campaign=campaign, annotator_type=annotator_type, actor=None)[0].secret


def test_links_are_different_and_only_their_hashes_are_stored(
    campaign: Campaign, researcher: Account
) -> None:
    made = invite(campaign=campaign, annotator_type=AnnotatorType.PARENT, n_people=3, actor=researcher)

    secrets = {new.secret for new in made}
    stored = set(Invitation.objects.values_list("secret_hash", flat=True))
    event = AuditEvent.objects.get(action="campaign.invitations_made")
    assert (len(secrets), len(stored)) == (3, 3)
    assert not secrets & stored
    assert not any(secret in str(event.detail) for secret in secrets)
    assert event.actor == researcher


@pytest.mark.parametrize(("n_people", "n_days"), [(0, 14), (101, 14), (1, 0), (1, 91)])
def test_links_in_numbers_that_nobody_needs_are_refused(
    campaign: Campaign, n_people: int, n_days: int
) -> None:
    with pytest.raises(InvalidInvitation):
        invite(
            campaign=campaign,
            annotator_type=AnnotatorType.PARENT,
            n_people=n_people,
            n_days=n_days,
            actor=None,
        )

    assert not Invitation.objects.exists()


def test_nobody_is_invited_into_a_closed_campaign(campaign: Campaign, researcher: Account) -> None:
    close_campaign(campaign=campaign, actor=researcher)

    with pytest.raises(Conflict):
        new_secret(campaign)


def test_accepting_makes_an_account_whose_name_is_the_code(campaign: Campaign) -> None:
    secret = new_secret(campaign, AnnotatorType.SPECIALIST)

    annotator = accept_invitation(secret=secret, password=PASSWORD)

    account = Account.objects.get()
    invitation = Invitation.objects.get()
    assert (account.username, account.role) == (annotator.code, Role.ANNOTATOR)
    assert account.check_password(PASSWORD)
    assert (annotator.account, annotator.annotator_type) == (account, AnnotatorType.SPECIALIST)
    assert Membership.objects.get().annotator == annotator
    assert (invitation.annotator, invitation.used_at is not None) == (annotator, True)
    assert AuditEvent.objects.filter(action="campaign.invitation_used").count() == 1


def test_link_lets_one_person_in_once_and_reminds_that_one_of_the_name(campaign: Campaign) -> None:
    secret = new_secret(campaign)
    annotator = accept_invitation(secret=secret, password=PASSWORD)

    with pytest.raises(InvitationGone) as refusal:
        accept_invitation(secret=secret, password=PASSWORD)

    assert refusal.value.sign_in_name == annotator.code
    assert Account.objects.count() == 1


def test_used_link_does_not_tell_a_name_that_somebody_chose(campaign: Campaign) -> None:
    secret = new_secret(campaign)
    join_by_invitation(secret=secret, account=make_account(username="ada"))

    with pytest.raises(InvitationGone) as refusal:
        open_invitation(secret)

    assert refusal.value.sign_in_name is None


def test_weak_password_leaves_the_link_unused(campaign: Campaign) -> None:
    secret = new_secret(campaign)

    with pytest.raises(InvalidAccount):
        accept_invitation(secret=secret, password="short")

    assert open_invitation(secret).used_at is None
    assert not Account.objects.exists()


def test_looking_at_a_link_uses_nothing_up(campaign: Campaign) -> None:
    secret = new_secret(campaign)

    for _ in range(3):
        open_invitation(secret)

    assert accept_invitation(secret=secret, password=PASSWORD).code.startswith("p-")


def revoke(secret: str) -> None:
    revoke_invitation(invitation=open_invitation(secret), actor=None)


def expire(secret: str) -> None:
    Invitation.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))


def close(secret: str) -> None:
    close_campaign(campaign=Campaign.objects.get(), actor=make_account(role=Role.RESEARCHER))


@pytest.mark.parametrize(
    ("event", "words"), [(revoke, "taken back"), (expire, "too old"), (close, "study is over")]
)
def test_link_that_has_ended_lets_nobody_in(
    campaign: Campaign, event: Callable[[str], None], words: str
) -> None:
    secret = new_secret(campaign)
    event(secret)

    with pytest.raises(InvitationGone, match=words):
        accept_invitation(secret=secret, password=PASSWORD)

    assert not Account.objects.filter(role=Role.ANNOTATOR).exists()


def test_unknown_link_lets_nobody_in(campaign: Campaign) -> None:
    with pytest.raises(InvitationGone, match="not known here"):
        open_invitation("made-up")


def test_taking_back_twice_is_one_event(campaign: Campaign, researcher: Account) -> None:
    invitation = open_invitation(new_secret(campaign))

    for _ in range(2):
        revoke_invitation(invitation=invitation, actor=researcher)

    event = AuditEvent.objects.get(action="campaign.invitation_revoked")
    assert (event.actor, event.detail) == (researcher, {"invitation": invitation.public_id})


def test_used_link_cannot_be_taken_back(campaign: Campaign) -> None:
    accept_invitation(secret=new_secret(campaign), password=PASSWORD)

    with pytest.raises(Conflict, match="Deactivate"):
        revoke_invitation(invitation=Invitation.objects.get(), actor=None)


def test_person_with_an_account_stays_the_same_annotator_in_the_benchmark() -> None:
    desk = make_desk()
    second = make_campaign(benchmark=desk.campaign.benchmark)

    annotator = join_by_invitation(secret=new_secret(second), account=desk.account)

    assert annotator == desk.annotator
    assert Membership.objects.filter(annotator=annotator).count() == 2


def test_member_does_not_use_a_link_up(campaign: Campaign) -> None:
    person = join(campaign)
    assert person.account is not None
    secret = new_secret(campaign)

    with pytest.raises(Conflict, match="part of this task already"):
        join_by_invitation(secret=secret, account=person.account)

    assert open_invitation(secret).used_at is None


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ADJUDICATOR, Role.AUDITOR, Role.ADMIN])
def test_who_sees_other_labels_cannot_join(campaign: Campaign, role: Role) -> None:
    secret = new_secret(campaign)

    with pytest.raises(NotAllowed):
        join_by_invitation(secret=secret, account=make_account(role=role))

    assert open_invitation(secret).used_at is None


@pytest.mark.django_db(transaction=True)
def test_many_who_open_one_link_at_once_make_one_account() -> None:
    secret = new_secret(make_campaign())

    def accept() -> bool:
        try:
            return bool(accept_invitation(secret=secret, password=PASSWORD))
        except InvitationGone:
            return False

    let_in = at_once([accept] * 6)

    assert sorted(let_in) == [False] * 5 + [True]
    assert Account.objects.count() == Membership.objects.count() == 1
