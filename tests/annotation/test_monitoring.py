"""The counts of a campaign: the same total however they are grouped, and the same as counted apart."""

import datetime as dt
from dataclasses import astuple

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.campaigns import withdraw_consent
from annotation.choices import (
    AnnotatorType,
    AssignmentState,
    ItemKind,
    Rating,
    SkipReason,
    WithdrawalPolicy,
)
from annotation.models import Assignment, Campaign, Flag, Label
from annotation.selectors.monitoring import CampaignTally, Tally, flags_of, tally_campaign
from tests.annotation.desk import answer, join, make_desk, take
from tests.factories import (
    make_annotator,
    make_assignment,
    make_campaign,
    make_flag,
    make_item,
    make_label,
    make_membership,
    make_prompt,
    make_response,
)

pytestmark = pytest.mark.django_db


def make_busy_campaign() -> Campaign:
    """Twelve items of every kind, five people of three kinds, and one of everything that is counted."""
    campaign = make_campaign(labels_per_response=2)
    prompts = [make_prompt(benchmark=campaign.benchmark, risk_category=f"Theme {n % 3}") for n in range(12)]
    kinds = [ItemKind.REGULAR] * 8 + [ItemKind.TRAINING] * 2 + [ItemKind.GOLD] * 2
    items = [
        make_item(
            campaign=campaign,
            response=make_response(prompt=prompt),
            kind=kind,
            expected_rating=None if kind == ItemKind.REGULAR else Rating.ACCEPTABLE,
        )
        for prompt, kind in zip(prompts, kinds, strict=True)
    ]
    types = [AnnotatorType.PARENT] * 2 + [AnnotatorType.SPECIALIST] * 2 + [AnnotatorType.OTHER]
    people = [make_annotator(benchmark=campaign.benchmark, annotator_type=kind) for kind in types]
    for n, person in enumerate(people):
        make_membership(campaign=campaign, annotator=person)
        for m, item in enumerate(items[n:]):
            place = {"item": item, "annotator": person}
            if m % 4 == 3:
                reason = list(SkipReason)[(n + m) % len(SkipReason)]
                make_assignment(state=AssignmentState.SKIPPED, skip_reason=reason, **place)
                make_flag(**place, resolved_at=timezone.now() if m % 8 == 3 else None)
            elif m % 5 == 4:
                make_assignment(**place, lease_until=timezone.now() + dt.timedelta(hours=1 - 2 * (n % 2)))
            else:
                rating = Rating.ACCEPTABLE if (n + m) % 3 else Rating.UNACCEPTABLE
                state = AssignmentState.AGAIN if m == 2 else AssignmentState.LABELLED
                make_assignment(state=state, **place)
                make_label(rating=rating, is_extra=m == 1, **place)
    make_label(item=items[0], annotator=None)
    return campaign


def added_up(tally: CampaignTally) -> dict[str, Tally]:
    return {
        "items": sum((row.tally for row in tally.items), Tally()),
        "annotators": sum((row.tally for row in tally.annotators), Tally()),
        "annotator_types": sum(tally.annotator_types.values(), Tally()),
        "item_kinds": sum(tally.item_kinds.values(), Tally()),
        "risk_categories": sum(tally.risk_categories.values(), Tally()),
    }


def test_every_grouping_adds_up_to_the_total() -> None:
    tally = tally_campaign(make_busy_campaign())

    assert all(astuple(tally.total))
    assert added_up(tally) == dict.fromkeys(added_up(tally), tally.total)
    assert sum(tally.skips.values()) == tally.total.n_skipped
    assert tally.total.n_acceptable + tally.total.n_unacceptable == tally.total.n_labels
    regular = [row for row in tally.items if row.kind == ItemKind.REGULAR]
    assert sum(tally.n_items_by_labels.values()) == len(regular)
    assert (
        sum(each * n for each, n in tally.n_items_by_labels.items())
        == tally.item_kinds[ItemKind.REGULAR].n_labels
    )
    assert tally.n_full == sum(row.tally.n_labels >= 2 for row in regular)


def test_total_is_what_the_tables_hold() -> None:
    campaign = make_busy_campaign()
    labels = Label.objects.filter(is_current=True)
    places = Assignment.objects.all()

    total = tally_campaign(campaign).total

    assert total == Tally(
        n_labels=labels.count(),
        n_acceptable=labels.filter(rating=Rating.ACCEPTABLE).count(),
        n_unacceptable=labels.filter(rating=Rating.UNACCEPTABLE).count(),
        n_extra=labels.filter(is_extra=True).count(),
        n_again=places.filter(state=AssignmentState.AGAIN).count(),
        n_in_hand=places.filter(state=AssignmentState.OPEN, lease_until__gt=timezone.now()).count(),
        n_skipped=places.filter(state=AssignmentState.SKIPPED).count(),
        n_flags=Flag.objects.count(),
        n_flags_open=Flag.objects.filter(resolved_at=None).count(),
    )


def test_campaign_without_anything_has_zeros() -> None:
    tally = tally_campaign(make_campaign())

    assert (tally.total, tally.items, tally.annotators, tally.n_full) == (Tally(), (), (), 0)


def test_other_campaigns_are_not_counted() -> None:
    campaign = make_busy_campaign()
    make_label(item=make_item(campaign=make_campaign(benchmark=campaign.benchmark)))

    before = tally_campaign(campaign).total.n_labels

    assert before == Label.objects.filter(item__campaign=campaign, is_current=True).count()


def test_label_keeps_the_kind_that_the_person_had() -> None:
    desk = make_desk()
    answer(take(desk))
    desk.annotator.annotator_type = AnnotatorType.SPECIALIST
    desk.annotator.save()

    assert set(tally_campaign(desk.campaign).annotator_types) == {AnnotatorType.PARENT}


def test_erased_labels_are_in_no_count() -> None:
    desk = make_desk(labels_per_response=2, withdrawal_policy=WithdrawalPolicy.DELETE)
    other = join(desk.campaign)
    answer(take(desk))
    answer(take(desk, other))
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    tally = tally_campaign(desk.campaign)

    assert tally.total.n_labels == 1
    assert added_up(tally) == dict.fromkeys(added_up(tally), tally.total)


def test_number_of_queries_does_not_grow_with_the_campaign() -> None:
    def n_queries(campaign: Campaign) -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            tally_campaign(campaign)
        return len(queries)

    assert n_queries(make_campaign()) == n_queries(make_busy_campaign()) == 5


def test_flags_that_wait_come_first() -> None:
    campaign = make_campaign()
    item = make_item(campaign=campaign)
    resolved = make_flag(item=item, resolved_at=timezone.now())
    waiting = make_flag(item=item)
    make_flag()

    assert list(flags_of(campaign)) == [waiting, resolved]
