"""Withdrawal: what is kept, what is erased, which links are cut, and what the plan promised."""

import uuid
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotation.campaigns import (
    Withdrawal,
    accept_invitation,
    add_annotator,
    close_campaign,
    give_consent,
    invite,
    join_by_invitation,
    plan_withdrawal,
    withdraw_consent,
)
from annotation.choices import AnnotatorType, AssignmentState, Rating, SkipReason, WithdrawalPolicy
from annotation.errors import Conflict, NotAllowed
from annotation.labelling import retract_label, skip_item
from annotation.models import (
    Account,
    Annotator,
    Assignment,
    AuditEvent,
    Campaign,
    CategoryOptOut,
    Consent,
    Draft,
    Flag,
    Label,
)
from annotation.selectors import annotator_progress, current_labels, item_progress, roster_of
from tests.annotation.desk import Desk, answer, join, make_desk, take
from tests.annotation.test_labelling_races import at_once
from tests.factories import make_campaign, make_draft, make_flag, make_opt_out

pytestmark = pytest.mark.django_db
PASSWORD = "four mild green words"


def busy_desk(policy: WithdrawalPolicy) -> Desk:
    """Two answers with a note each, one of them for an item of a colleague too; a skip, a draft, a flag."""
    desk = make_desk(n_items=4, n_annotators=2, labels_per_response=2, withdrawal_policy=policy)
    for _ in range(2):
        answer(take(desk), Rating.UNACCEPTABLE, note="Too sure of itself.")
    skip_item(assignment=take(desk), annotator=desk.annotator, reason=SkipReason.UNCLEAR)
    held = take(desk)
    make_draft(assignment=held)
    make_flag(item=held.item, annotator=desk.annotator)
    make_opt_out(membership=desk.annotator.memberships.get(), risk_category="Technical Misuse")
    for _ in range(4):
        answer(take(desk, desk.annotators[1]), Rating.ACCEPTABLE, note="Kind.")
    return desk


def withdraw(desk: Desk, actor: Account | None = None) -> Withdrawal:
    return withdraw_consent(campaign=desk.campaign, annotator=desk.annotator, actor=actor)


@pytest.mark.parametrize("policy", WithdrawalPolicy.values)
def test_plan_says_exactly_what_is_then_done_and_changes_nothing(policy: WithdrawalPolicy) -> None:
    desk = busy_desk(policy)
    before = list(Label.objects.order_by("pk").values())

    planned = plan_withdrawal(campaign=desk.campaign, annotator=desk.annotator)
    unchanged = list(Label.objects.order_by("pk").values())
    done = withdraw(desk)

    assert unchanged == before
    assert planned == done
    assert (done.n_answers, done.n_notes, done.n_skips, done.n_drafts, done.n_flags) == (2, 2, 1, 1, 1)
    assert (done.policy, done.cuts_link, done.closes_account) == (policy, True, False)


def test_keep_leaves_answers_and_skips_under_the_code_and_cuts_the_link() -> None:
    desk = busy_desk(WithdrawalPolicy.KEEP)

    withdraw(desk)

    own = Label.objects.filter(annotator=desk.annotator)
    states = Assignment.objects.filter(annotator=desk.annotator).values_list("state", flat=True)
    assert set(own.values_list("rating", "note", "is_current")) == {
        ("UNACCEPTABLE", "Too sure of itself.", True)
    }
    assert sorted(states) == ["LABELLED", "LABELLED", "SKIPPED"]
    assert Annotator.objects.get(pk=desk.annotator.pk).account is None
    assert not Draft.objects.exists()
    assert Flag.objects.get().note == "Please have a look."


def test_delete_blanks_every_revision_and_leaves_nothing_that_the_person_said() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)
    label = Label.objects.filter(annotator=desk.annotator).first()
    assert label is not None
    retract_label(label=label, annotator=desk.annotator, submission_id=uuid.uuid4())

    done = withdraw(desk)

    own = Label.objects.filter(annotator=desk.annotator)
    assert (done.n_answers, done.n_revisions, own.count()) == (1, 2, 3)
    assert set(own.values_list("rating", "severity", "note", "rating_raw", "is_current")) == {
        (None, None, None, None, False)
    }
    assert not own.filter(erased_at=None).exists()
    assert not Assignment.objects.filter(annotator=desk.annotator).exists()
    assert not Draft.objects.exists()
    assert not CategoryOptOut.objects.exists()
    assert Flag.objects.get().note == ""
    assert Annotator.objects.get(pk=desk.annotator.pk).account is None


def test_delete_leaves_other_peoples_answers_alone() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)

    withdraw(desk)

    others = Label.objects.filter(annotator=desk.annotators[1])
    assert set(others.values_list("rating", "note", "is_current")) == {("ACCEPTABLE", "Kind.", True)}
    assert not others.filter(erased_at__isnull=False).exists()


def test_erased_row_refuses_to_come_back() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)
    withdraw(desk)
    own = Label.objects.filter(annotator=desk.annotator)

    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        own.update(rating=Rating.ACCEPTABLE, erased_at=None)


def test_erased_answers_leave_every_count() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)

    withdraw(desk)

    by_item = item_progress(desk.campaign)
    people = {person.annotator: person.n_labelled for person in annotator_progress(desk.campaign)}
    roster = {person.annotator: person.n_labelled for person in roster_of(desk.campaign)}
    assert current_labels(desk.campaign.benchmark).count() == by_item.n_labels == 4
    assert people == roster == {desk.annotator: 0, desk.annotators[1]: 4}


def test_places_of_erased_answers_are_free_for_others() -> None:
    desk = make_desk(n_items=1, withdrawal_policy="DELETE")
    answer(take(desk))
    colleague = join(desk.campaign)

    withdraw(desk)

    assert take(desk, colleague).item == desk.items[0]


@pytest.mark.parametrize("policy", WithdrawalPolicy.values)
def test_item_in_hand_goes_back_to_others_at_once(policy: WithdrawalPolicy) -> None:
    desk = make_desk(n_items=1, withdrawal_policy=policy)
    take(desk)
    colleague = join(desk.campaign)

    withdraw(desk)

    assert take(desk, colleague).item == desk.items[0]


def test_label_that_was_asked_again_stands_as_it_is() -> None:
    desk = make_desk(n_items=1)
    answer(take(desk))
    Assignment.objects.update(state=AssignmentState.AGAIN)

    withdraw(desk)

    assert Assignment.objects.get().state == AssignmentState.LABELLED


def test_withdrawal_is_recorded_without_naming_the_account() -> None:
    desk = busy_desk(WithdrawalPolicy.KEEP)

    withdraw(desk)

    event = AuditEvent.objects.get(action="consent.withdrawn")
    assert event.actor is None
    assert event.detail == {
        "annotator": desk.annotator.public_id,
        "policy": "KEEP",
        "n_consents": 1,
        "n_answers": 2,
        "n_revisions": 2,
        "n_skips": 1,
        "cuts_link": True,
    }


def test_no_event_names_account_and_annotator_together() -> None:
    desk = busy_desk(WithdrawalPolicy.KEEP)
    account = desk.account

    withdraw(desk)

    assert not AuditEvent.objects.filter(actor=account).exists()


def test_withdrawal_on_someones_behalf_names_who_did_it(researcher: Account) -> None:
    withdraw(make_desk(), actor=researcher)

    assert AuditEvent.objects.get(action="consent.withdrawn").actor == researcher


def test_withdrawal_twice_does_the_rest_and_no_more() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)
    withdraw(desk)
    erased_at = set(Label.objects.filter(annotator=desk.annotator).values_list("erased_at", flat=True))
    annotator = Annotator.objects.get(pk=desk.annotator.pk)

    again = withdraw_consent(campaign=desk.campaign, annotator=annotator)

    assert (again.n_answers, again.n_revisions, again.cuts_link) == (0, 0, False)
    assert set(Label.objects.filter(annotator=annotator).values_list("erased_at", flat=True)) == erased_at


def test_withdrawal_ends_consents_to_every_version() -> None:
    desk = make_desk()
    Campaign.objects.update(consent_version=2)
    desk.campaign.refresh_from_db()
    give_consent(campaign=desk.campaign, annotator=desk.annotator)

    withdraw(desk)

    assert Consent.objects.count() == 2
    assert not Consent.objects.filter(withdrawn_at=None).exists()


def test_consent_can_be_withdrawn_from_a_closed_campaign(researcher: Account) -> None:
    desk = make_desk(withdrawal_policy="DELETE")
    answer(take(desk))
    close_campaign(campaign=desk.campaign, actor=researcher)

    withdraw(desk)

    assert not Label.objects.filter(is_current=True).exists()


def second_campaign(desk: Desk, *, consents: bool) -> Campaign:
    """Another campaign of the benchmark with the same person in it."""
    campaign = make_campaign(benchmark=desk.campaign.benchmark)
    add_annotator(campaign=campaign, account=desk.account, annotator_type=AnnotatorType.PARENT, actor=None)
    if consents:
        give_consent(campaign=campaign, annotator=desk.annotator)
    return campaign


@pytest.mark.parametrize("consents", [True, False], ids=["agreed", "not begun"])
def test_link_stays_while_another_campaign_needs_it(consents: bool) -> None:
    desk = make_desk()
    second_campaign(desk, consents=consents)

    done = withdraw(desk)

    assert not done.cuts_link
    assert Annotator.objects.get().account == desk.account


def test_link_is_cut_with_the_last_withdrawal() -> None:
    desk = make_desk()
    other = second_campaign(desk, consents=True)
    withdraw(desk)

    done = withdraw_consent(campaign=other, annotator=desk.annotator)

    assert done.cuts_link
    assert Annotator.objects.get().account is None


def test_closed_campaign_that_was_never_begun_needs_no_link(researcher: Account) -> None:
    desk = make_desk()
    close_campaign(campaign=second_campaign(desk, consents=False), actor=researcher)

    assert withdraw(desk).cuts_link


def invited() -> Desk:
    """A campaign with one person who came by an invitation and agreed."""
    campaign = make_campaign()
    new = invite(campaign=campaign, annotator_type=AnnotatorType.PARENT, actor=None)[0]
    annotator = accept_invitation(secret=new.secret, password=PASSWORD)
    give_consent(campaign=campaign, annotator=annotator)
    return Desk(campaign, [], [annotator])


def test_account_that_bears_the_code_is_closed_and_renamed() -> None:
    desk = invited()
    code, account = desk.annotator.code, desk.account

    done = withdraw(desk)

    account.refresh_from_db()
    assert (done.cuts_link, done.closes_account) == (True, True)
    assert not account.is_active
    assert not account.has_usable_password()
    assert code not in account.username
    assert Annotator.objects.get().account is None


def test_code_stays_linked_while_the_person_signs_in_with_it_for_another_benchmark() -> None:
    desk = invited()
    elsewhere = make_campaign()
    new = invite(campaign=elsewhere, annotator_type=AnnotatorType.PARENT, actor=None)[0]
    there = join_by_invitation(secret=new.secret, account=desk.account)
    give_consent(campaign=elsewhere, annotator=there)

    first = withdraw(desk)
    still_active = Account.objects.get().is_active
    last = withdraw_consent(campaign=elsewhere, annotator=there)

    assert (first.cuts_link, first.closes_account, still_active) == (False, False, True)
    assert (last.cuts_link, last.closes_account) == (True, True)
    assert not Annotator.objects.exclude(account=None).exists()


def run(desk: Desk, *options: str) -> str:
    out = StringIO()
    call_command(
        "withdraw_consent",
        *("--benchmark", desk.campaign.benchmark.slug),
        *("--campaign", desk.campaign.slug),
        *("--annotator", desk.annotator.code),
        *options,
        stdout=out,
    )
    return out.getvalue()


def test_command_shows_the_plan_and_changes_nothing_without_yes() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)

    said = run(desk)

    assert "Answers: 2, to be deleted" in said
    assert "Nothing was changed" in said
    assert Consent.objects.filter(withdrawn_at=None).count() == 2


def test_command_with_yes_withdraws() -> None:
    desk = busy_desk(WithdrawalPolicy.DELETE)

    said = run(desk, "--yes")

    assert "Answers: 2, deleted" in said
    assert Label.objects.filter(erased_at__isnull=False).count() == 2


def test_command_prints_one_json_document() -> None:
    assert '"n_answers": 2' in run(busy_desk(WithdrawalPolicy.KEEP), "--json")


def test_command_for_a_code_that_is_not_in_the_campaign_fails() -> None:
    desk = make_desk()
    desk.annotator.code = "p-nobody"

    with pytest.raises(CommandError, match="no annotator p-nobody"):
        run(desk, "--yes")


@pytest.mark.django_db(transaction=True)
def test_answers_racing_with_a_withdrawal_are_refused_or_erased() -> None:
    desk = make_desk(withdrawal_policy="DELETE")
    assignment = take(desk)

    def send() -> bool:
        try:
            return bool(answer(assignment))
        except (NotAllowed, Conflict):
            return False

    at_once([send, send, lambda: withdraw(desk), send, send])

    assert not Label.objects.filter(erased_at=None).exists()
    assert not Assignment.objects.exists()
