"""Versions of what annotators are told, and asking again under a newer one."""

import hashlib
from typing import Any

import pytest

from annotation.campaigns.changing import InvalidPlan
from annotation.campaigns.consenting import consent_hash
from annotation.campaigns.texts import Texts, change_texts, serve_again
from annotation.choices import AssignmentState, CampaignState, ItemKind, Rating, TextKind
from annotation.errors import Conflict
from annotation.models import Account, Assignment, AuditEvent, Campaign, Consent, Label, Membership
from annotation.permissions import has_consented
from tests.annotation.desk import Desk, answer, make_desk, take
from tests.factories import make_campaign, make_item

pytestmark = pytest.mark.django_db

TEXTS: dict[str, Any] = {
    "instructions": "Judge the answer.",
    "content_warning": "Some texts are sad.",
    "consent_text": "You may stop.",
    "support_text": "Call a friend.",
}


def change(campaign: Campaign, actor: Account | None = None, **texts: str) -> Any:
    return change_texts(campaign=campaign, texts=Texts(**(TEXTS | texts)), actor=actor)


def versions(campaign: Campaign) -> tuple[int, int]:
    campaign.refresh_from_db()
    return campaign.instructions_version, campaign.consent_version


def older_labels(n_items: int = 2, **values: Any) -> Desk:
    """A desk whose person answered everything before the instructions changed."""
    desk = make_desk(n_items=n_items, **(TEXTS | values))
    for _ in range(n_items):
        answer(take(desk))
    change(desk.campaign, instructions="Judge the answer, not the question.")
    desk.campaign.refresh_from_db()
    return desk


def states(desk: Desk) -> set[str]:
    return set(Assignment.objects.filter(item__campaign=desk.campaign).values_list("state", flat=True))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({}, (1, 1)),
        ({"instructions": "Other."}, (2, 1)),
        ({"content_warning": "Other."}, (1, 2)),
        ({"consent_text": "Other."}, (1, 2)),
        ({"support_text": "Other."}, (1, 1)),
        ({"instructions": "Judge the answer.\r\n", "consent_text": " You may stop."}, (1, 1)),
    ],
    ids=["nothing", "instructions", "warning", "consent", "support", "white space"],
)
def test_only_what_is_read_before_labelling_has_versions(
    texts: dict[str, Any], expected: tuple[int, int]
) -> None:
    campaign = make_campaign(**TEXTS)

    change(campaign, None, **texts)

    assert versions(campaign) == expected


def test_every_version_is_kept_with_its_hash(researcher: Account) -> None:
    campaign = make_campaign(**TEXTS)
    change(campaign, researcher)
    change(campaign, researcher, instructions="Second.", consent_text="Second.")
    change(campaign, researcher, instructions="Third.\r\nLine.", consent_text="Second.")

    kept = campaign.texts.order_by("kind", "version")
    campaign.refresh_from_db()

    assert [(text.kind, text.version, text.text) for text in kept] == [
        (TextKind.CONSENT, 1, "Some texts are sad.\n\nYou may stop."),
        (TextKind.CONSENT, 2, "Some texts are sad.\n\nSecond."),
        (TextKind.INSTRUCTIONS, 1, "Judge the answer."),
        (TextKind.INSTRUCTIONS, 2, "Second."),
        (TextKind.INSTRUCTIONS, 3, "Third.\nLine."),
    ]
    assert all(text.text_hash == hashlib.sha256(text.text.encode()).hexdigest() for text in kept)
    assert kept[1].text_hash == consent_hash(campaign)


def test_another_consent_text_asks_everybody_again() -> None:
    desk = make_desk(**TEXTS)

    change(desk.campaign, consent_text="You may stop at any time.")

    membership = Membership.objects.select_related("campaign").get()
    assert not has_consented(membership)
    assert Consent.objects.get().withdrawn_at is None


def test_change_is_audited_once_and_sameness_is_not(researcher: Account) -> None:
    campaign = make_campaign(**TEXTS)

    change(campaign, researcher, instructions="Other.")
    change(campaign, researcher, instructions="Other.")

    event = AuditEvent.objects.get(action="campaign.texts_changed")
    assert event.detail == {"instructions_version": 2, "consent_version": 1, "support_changed": False}


def test_draft_changes_without_a_new_version() -> None:
    draft = make_campaign(state=CampaignState.DRAFT, **TEXTS)

    outcome = change(draft, instructions="Other.", consent_text="Other.")

    assert versions(draft) == (1, 1)
    assert (outcome.instructions_changed, outcome.consent_changed) == (True, True)
    assert (draft.instructions, draft.texts.count()) == ("Other.", 0)


@pytest.mark.parametrize("name", ["instructions", "consent_text"])
def test_text_that_everybody_must_read_cannot_be_empty(name: str) -> None:
    campaign = make_campaign(**TEXTS)

    with pytest.raises(InvalidPlan):
        change(campaign, None, **{name: " \n"})

    assert versions(campaign) == (1, 1)


def test_texts_of_a_closed_campaign_stay() -> None:
    campaign = make_campaign(state=CampaignState.CLOSED, **TEXTS)

    with pytest.raises(Conflict):
        change(campaign, instructions="Other.")


def test_answers_under_older_instructions_are_asked_for_again(researcher: Account) -> None:
    desk = older_labels()

    n_asked = serve_again(campaign=desk.campaign, actor=researcher)

    assert n_asked == 2
    assert states(desk) == {AssignmentState.AGAIN}
    assert Label.objects.filter(is_current=True).count() == 2
    assert AuditEvent.objects.get(action="campaign.served_again").detail["n_assignments"] == 2


def test_asking_twice_asks_nothing_more(researcher: Account) -> None:
    desk = older_labels()
    serve_again(campaign=desk.campaign, actor=researcher)

    assert serve_again(campaign=desk.campaign, actor=researcher) == 0
    assert AuditEvent.objects.filter(action="campaign.served_again").count() == 1


def test_answers_under_the_present_instructions_are_left_alone(researcher: Account) -> None:
    desk = make_desk(n_items=2, **TEXTS)
    answer(take(desk))
    change(desk.campaign, instructions="Other.")
    newer = take(desk)
    answer(newer)

    n_asked = serve_again(campaign=desk.campaign, actor=researcher)

    newer.refresh_from_db()
    assert (n_asked, newer.state) == (1, AssignmentState.LABELLED)


@pytest.mark.parametrize(
    "leave",
    [
        lambda: Membership.objects.update(deactivated_at="2026-12-01T00:00:00Z"),
        lambda: Consent.objects.update(withdrawn_at="2026-12-01T00:00:00Z"),
    ],
    ids=["deactivated", "withdrawn"],
)
def test_people_who_left_are_not_asked_again(researcher: Account, leave: Any) -> None:
    desk = older_labels()
    leave()

    assert serve_again(campaign=desk.campaign, actor=researcher) == 0
    assert states(desk) == {AssignmentState.LABELLED}


@pytest.mark.parametrize(("kind", "n_asked"), [(ItemKind.GOLD, 1), (ItemKind.TRAINING, 0)])
def test_gold_is_asked_again_and_training_is_not(researcher: Account, kind: ItemKind, n_asked: int) -> None:
    desk = make_desk(n_items=0, **TEXTS)
    make_item(campaign=desk.campaign, kind=kind, expected_rating=Rating.ACCEPTABLE, feedback="It is kind.")
    answer(take(desk))
    change(desk.campaign, instructions="Other.")

    assert serve_again(campaign=desk.campaign, actor=researcher) == n_asked


def test_label_beside_one_that_is_asked_for_again_is_extra(researcher: Account) -> None:
    desk = make_desk(n_items=1, n_annotators=2, **TEXTS)
    slow, quick = desk.annotators
    late = take(desk, slow)
    Assignment.objects.filter(pk=late.pk).update(lease_until="2026-01-01T00:00:00Z")
    answer(take(desk, quick))
    change(desk.campaign, instructions="Other.")
    serve_again(campaign=desk.campaign, actor=researcher)

    assert answer(late).is_extra


def test_closed_campaign_asks_for_nothing(researcher: Account) -> None:
    desk = older_labels()
    Campaign.objects.update(state=CampaignState.CLOSED)

    with pytest.raises(Conflict):
        serve_again(campaign=desk.campaign, actor=researcher)
