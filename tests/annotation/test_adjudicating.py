"""Deciding contested items: who may, on what, what is kept, and what a decision leaves alone."""

from typing import Any

import pytest

from annotation.adjudicating import InvalidDecision, decide
from annotation.choices import ItemKind, Rating, Role
from annotation.errors import Conflict, NotAllowed
from annotation.models import Account, Adjudication, AuditEvent, CampaignItem, Label
from annotation.selectors.adjudication import (
    decisions_on,
    digest_of_labels,
    labels_of_items,
    shuffled,
    standing_decisions,
)
from tests.factories import (
    make_account,
    make_adjudication,
    make_annotator,
    make_campaign,
    make_item,
    make_label,
)

pytestmark = pytest.mark.django_db


def contested_item(**values: Any) -> CampaignItem:
    """An item that one person finds Acceptable and another Unacceptable."""
    item = make_item(**values)
    make_label(item=item, rating=Rating.ACCEPTABLE)
    make_label(item=item, rating=Rating.UNACCEPTABLE)
    return item


def digest_now(item: CampaignItem) -> str:
    current = Label.objects.filter(item=item, is_current=True)
    return digest_of_labels(current.values_list("public_id", flat=True))


def decide_now(item: CampaignItem, adjudicator: Account, **changes: Any) -> Adjudication:
    """Decide on what stands on the page at this moment."""
    present = Adjudication.objects.filter(item=item, is_current=True).first()
    seen = {
        "labels_seen": digest_now(item),
        "decision_seen": present.public_id if present else None,
        "decision": Rating.UNACCEPTABLE,
        "reason": "It leaves the child alone with the problem.",
    }
    return decide(**{"item": item, "adjudicator": adjudicator, **seen, **changes})


def test_decide_a_contested_item_keeps_decision_and_reason(adjudicator: Account) -> None:
    item = contested_item()

    made = decide_now(item, adjudicator)

    assert (made.decision, made.is_current) == (Rating.UNACCEPTABLE, True)
    assert made.labels_digest == digest_now(item)
    event = AuditEvent.objects.get(action="item.adjudicated")
    assert (event.actor, event.subject) == (adjudicator, f"item:{item.public_id}")
    assert made.reason not in str(event.detail)


def test_decide_changes_no_label(adjudicator: Account) -> None:
    item = contested_item()
    before = list(Label.objects.order_by("pk").values())

    decide_now(item, adjudicator)

    assert list(Label.objects.order_by("pk").values()) == before


def test_decide_anew_keeps_the_earlier_decision_in_the_history(adjudicator: Account) -> None:
    item = contested_item()
    first = decide_now(item, adjudicator)

    second = decide_now(item, adjudicator, decision=Rating.ACCEPTABLE)

    assert [(found.pk, found.is_current) for found in decisions_on(item)] == [
        (second.pk, True),
        (first.pk, False),
    ]


def test_decide_sent_twice_is_one_decision(adjudicator: Account) -> None:
    item = contested_item()
    first = decide_now(item, adjudicator)

    again = decide_now(item, adjudicator, decision_seen=None)

    assert again == first
    assert Adjudication.objects.count() == 1


def test_decide_over_a_decision_that_was_not_seen_is_refused(adjudicator: Account) -> None:
    item = contested_item()
    decide_now(item, make_account(role=Role.ADJUDICATOR))

    with pytest.raises(Conflict) as refused:
        decide_now(item, adjudicator, decision_seen=None, decision=Rating.ACCEPTABLE)

    assert refused.value.code == "decided_meanwhile"
    assert Adjudication.objects.count() == 1


def test_decide_over_a_label_that_was_not_seen_is_refused(adjudicator: Account) -> None:
    item = contested_item()
    seen = digest_now(item)
    make_label(item=item)

    with pytest.raises(Conflict) as refused:
        decide_now(item, adjudicator, labels_seen=seen)

    assert refused.value.code == "labels_changed"
    assert not Adjudication.objects.exists()


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 2001], ids=["none", "blank", "too-long"])
def test_decide_without_a_usable_reason_is_refused(adjudicator: Account, reason: str) -> None:
    item = contested_item()

    with pytest.raises(InvalidDecision, match="The reason has"):
        decide_now(item, adjudicator, reason=reason)


def test_decide_an_item_on_which_nobody_differs_is_refused(adjudicator: Account) -> None:
    item = make_item()
    make_label(item=item)
    make_label(item=item)

    with pytest.raises(InvalidDecision, match="People do not differ"):
        decide_now(item, adjudicator)


def test_decide_anew_when_labels_no_longer_differ_is_possible(adjudicator: Account) -> None:
    item = contested_item()
    decide_now(item, adjudicator)
    Label.objects.filter(item=item, rating=Rating.UNACCEPTABLE).update(is_current=False)

    made = decide_now(item, adjudicator, decision=Rating.ACCEPTABLE)

    assert made.is_current


@pytest.mark.parametrize("kind", [ItemKind.TRAINING, ItemKind.GOLD])
def test_decide_an_item_of_a_kind_in_no_figure_is_refused(adjudicator: Account, kind: ItemKind) -> None:
    item = contested_item(kind=kind, expected_rating=Rating.ACCEPTABLE)

    with pytest.raises(InvalidDecision, match="Only regular items"):
        decide_now(item, adjudicator)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.AUDITOR])
def test_decide_by_another_role_is_refused(role: Role) -> None:
    with pytest.raises(NotAllowed):
        decide_now(contested_item(), make_account(role=role))


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ADMIN])
def test_decide_by_a_researcher_is_possible(role: Role) -> None:
    assert decide_now(contested_item(), make_account(role=role)).is_current


def test_decide_an_item_that_one_labelled_oneself_is_refused(adjudicator: Account) -> None:
    item = contested_item()
    make_label(item=item, annotator=make_annotator(benchmark=item.campaign.benchmark, account=adjudicator))

    with pytest.raises(NotAllowed) as refused:
        decide_now(item, adjudicator)

    assert refused.value.code == "own_label"


def overriding_item() -> CampaignItem:
    return contested_item(campaign=make_campaign(adjudication_overrides=True))


def test_decision_of_a_campaign_that_overrides_stands_for_the_consensus(adjudicator: Account) -> None:
    item = overriding_item()
    decide_now(item, adjudicator)

    (found,) = standing_decisions(item.campaign.benchmark)

    assert (found.response_id, found.rating, found.is_outdated) == (
        item.response_id,
        Rating.UNACCEPTABLE,
        False,
    )


def test_decision_of_a_campaign_that_does_not_override_stands_for_nothing(adjudicator: Account) -> None:
    item = contested_item()
    decide_now(item, adjudicator)

    assert standing_decisions(item.campaign.benchmark) == []


def test_decision_is_older_than_its_labels_once_one_comes(adjudicator: Account) -> None:
    item = overriding_item()
    decide_now(item, adjudicator)
    make_label(item=item)

    (found,) = standing_decisions(item.campaign.benchmark)

    assert found.is_outdated


def test_decision_is_older_than_its_labels_once_one_is_gone(adjudicator: Account) -> None:
    item = overriding_item()
    decide_now(item, adjudicator)
    Label.objects.filter(item=item, rating=Rating.ACCEPTABLE).update(is_current=False)

    (found,) = standing_decisions(item.campaign.benchmark)

    assert found.is_outdated


def test_of_two_campaigns_decisions_the_newest_stands(adjudicator: Account) -> None:
    item = overriding_item()
    benchmark = item.campaign.benchmark
    other = contested_item(
        campaign=make_campaign(benchmark=benchmark, adjudication_overrides=True), response=item.response
    )
    decide_now(item, adjudicator)
    decide_now(other, adjudicator, decision=Rating.ACCEPTABLE)

    (found,) = standing_decisions(benchmark)
    (of_first,) = standing_decisions(benchmark, item.campaign)

    assert (found.rating, of_first.rating) == (Rating.ACCEPTABLE, Rating.UNACCEPTABLE)


def test_standing_decisions_need_two_queries_however_many(
    adjudicator: Account, django_assert_num_queries: Any
) -> None:
    campaign = make_campaign(adjudication_overrides=True)
    for _ in range(5):
        make_adjudication(item=make_item(campaign=campaign))

    with django_assert_num_queries(2):
        found = standing_decisions(campaign.benchmark)

    assert len(found) == 5


def test_shuffled_labels_name_nobody_and_keep_their_order() -> None:
    item = make_item()
    made = [make_label(item=item, severity=n) for n in range(1, 6)]

    first = shuffled(item, labels_of_items([item])[item.pk])
    again = shuffled(item, reversed(made))

    assert first == again
    assert [label.number for label in first] == [1, 2, 3, 4, 5]
    assert {label.severity for label in first} == {1, 2, 3, 4, 5}
    assert not any(label.annotator.code in str(first) for label in made if label.annotator)


def test_shuffled_order_differs_from_item_to_item() -> None:
    campaign = make_campaign()
    people = [make_annotator(benchmark=campaign.benchmark) for _ in range(6)]
    orders = set()
    for _ in range(6):
        item = make_item(campaign=campaign)
        for n, annotator in enumerate(people[:5], start=1):
            make_label(item=item, annotator=annotator, severity=n)
        orders.add(tuple(label.severity for label in shuffled(item, labels_of_items([item])[item.pk])))

    assert len(orders) > 1
