"""What researchers see of how reliably people answer."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.choices import ItemKind, LabelAction, Rating
from annotation.models import Annotator, Campaign, CampaignItem, Label
from annotation.selectors.quality import (
    CampaignQuality,
    ExpectedAnswers,
    ReadingTime,
    RepeatedAnswers,
    expected_items,
    quality_of,
)
from tests.annotation.desk import join
from tests.factories import make_assignment, make_campaign, make_item, make_label

pytestmark = pytest.mark.django_db

YES, NO = Rating.ACCEPTABLE, Rating.UNACCEPTABLE
NOW = datetime.fromisoformat("2026-11-30T12:00:00+00:00")


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(scale="BINARY")


@pytest.fixture
def person(campaign: Campaign) -> Annotator:
    return join(campaign)


def gold(campaign: Campaign, **values: Any) -> CampaignItem:
    values.setdefault("kind", ItemKind.GOLD)
    return make_item(campaign=campaign, expected_rating=NO, **values)


def label(
    item: CampaignItem, annotator: Annotator | None, rating: Rating | None = YES, **values: Any
) -> Label:
    return make_label(item=item, annotator=annotator, rating=rating, **values)


def repeat_of(item: CampaignItem) -> CampaignItem:
    return make_item(campaign=item.campaign, response=item.response, kind=ItemKind.REPEAT, repeats=item)


def test_campaign_without_people_has_nothing(campaign: Campaign) -> None:
    nothing = ReadingTime(n_timed=0, n_untimed=0, median_active_ms=None, median_idle_ms=None)

    assert quality_of(campaign) == CampaignQuality(
        (), ExpectedAnswers(), ExpectedAnswers(), RepeatedAnswers(), nothing
    )


def test_gold_and_training_count_answers_as_expected(campaign: Campaign, person: Annotator) -> None:
    label(gold(campaign), person, NO)
    label(gold(campaign), person, YES)
    label(gold(campaign, kind=ItemKind.TRAINING), person, NO)
    label(make_item(campaign=campaign), person, NO)

    (row,) = quality_of(campaign).annotators

    assert (row.gold, row.training) == (ExpectedAnswers(2, 1), ExpectedAnswers(1, 1))


def test_gold_counts_the_answer_that_stands(campaign: Campaign, person: Annotator) -> None:
    item = gold(campaign)
    label(item, person, NO, is_current=False)
    label(item, person, YES, revision=2, action=LabelAction.REVISED)

    assert quality_of(campaign).gold == ExpectedAnswers(1, 0)


def test_gold_of_another_campaign_does_not_count(campaign: Campaign, person: Annotator) -> None:
    label(gold(make_campaign(benchmark=campaign.benchmark)), person, NO)

    assert quality_of(campaign).gold == ExpectedAnswers()


def test_erased_answers_do_not_count(campaign: Campaign, person: Annotator) -> None:
    regular = make_item(campaign=campaign)
    erased: dict[str, Any] = {"rating": None, "is_current": False, "erased_at": NOW}
    make_label(item=gold(campaign), annotator=person, **erased)
    make_label(item=regular, annotator=person, **erased)
    label(repeat_of(regular), person)

    quality = quality_of(campaign)

    assert (quality.gold, quality.repeats) == (ExpectedAnswers(), RepeatedAnswers())


@pytest.mark.parametrize(("again", "n_equal"), [(YES, 1), (NO, 0)], ids=["equal", "changed"])
def test_repeat_is_compared_with_the_first_answer(
    campaign: Campaign, person: Annotator, again: Rating, n_equal: int
) -> None:
    item = make_item(campaign=campaign)
    label(item, person, YES, created_at=NOW - timedelta(days=8))
    label(repeat_of(item), person, again, created_at=NOW)

    repeats = quality_of(campaign).repeats

    assert repeats == RepeatedAnswers(1, n_equal, (8.0,))
    assert repeats.median_days == 8


def test_first_answer_that_was_changed_after_the_repeat_counts_as_it_stood(
    campaign: Campaign, person: Annotator
) -> None:
    item = make_item(campaign=campaign)
    label(item, person, YES, is_current=False)
    label(repeat_of(item), person, NO)
    label(item, person, NO, revision=2, action=LabelAction.REVISED)

    assert quality_of(campaign).repeats.n_equal == 0


def test_repeat_that_was_corrected_at_once_counts_as_corrected(campaign: Campaign, person: Annotator) -> None:
    item = make_item(campaign=campaign)
    repeat = repeat_of(item)
    label(item, person, YES)
    label(repeat, person, NO, is_current=False)
    label(repeat, person, YES, revision=2, action=LabelAction.REVISED)

    assert quality_of(campaign).repeats.n_equal == 1


def test_repeat_of_an_answer_that_was_taken_back_is_left_out(campaign: Campaign, person: Annotator) -> None:
    item = make_item(campaign=campaign)
    label(item, person, YES, is_current=False)
    label(item, person, None, revision=2, action=LabelAction.RETRACTED, is_current=False)
    label(repeat_of(item), person, YES)

    assert quality_of(campaign).repeats == RepeatedAnswers()


def test_repeat_is_not_compared_with_another_persons_answer(campaign: Campaign, person: Annotator) -> None:
    item = make_item(campaign=campaign)
    label(item, join(campaign), YES)
    label(repeat_of(item), person, YES)

    assert quality_of(campaign).repeats == RepeatedAnswers()


def timed(campaign: Campaign, person: Annotator, *, active_s: int | None, page_s: int, **values: Any) -> None:
    """An answer given `page_s` seconds after its item was first shown, `active_s` of them reading."""
    item = values.pop("item", None) or make_item(campaign=campaign)
    make_assignment(item=item, annotator=person, first_shown_at=NOW - timedelta(seconds=page_s))
    active_ms = None if active_s is None else 1000 * active_s
    label(item, person, active_ms=active_ms, created_at=NOW, **values)


def test_reading_time_keeps_idle_time_apart(campaign: Campaign, person: Annotator) -> None:
    timed(campaign, person, active_s=10, page_s=10)
    timed(campaign, person, active_s=20, page_s=50)
    timed(campaign, person, active_s=60, page_s=9000)

    assert quality_of(campaign).annotators[0].time == ReadingTime(
        n_timed=3, n_untimed=0, median_active_ms=20_000, median_idle_ms=30_000
    )


def test_answer_without_a_time_is_counted_as_such(campaign: Campaign, person: Annotator) -> None:
    timed(campaign, person, active_s=None, page_s=10)

    assert quality_of(campaign).time == ReadingTime(
        n_timed=0, n_untimed=1, median_active_ms=None, median_idle_ms=None
    )


def test_changed_answer_has_no_idle_time(campaign: Campaign, person: Annotator) -> None:
    timed(campaign, person, active_s=5, page_s=10, revision=2, action=LabelAction.REVISED)

    assert quality_of(campaign).time.median_idle_ms is None


def test_clock_that_runs_ahead_gives_no_negative_idle_time(campaign: Campaign, person: Annotator) -> None:
    timed(campaign, person, active_s=12, page_s=10)

    assert quality_of(campaign).time.median_idle_ms == 0


def test_training_is_in_no_reading_time(campaign: Campaign, person: Annotator) -> None:
    timed(campaign, person, active_s=5, page_s=10, item=gold(campaign, kind=ItemKind.TRAINING))

    assert quality_of(campaign).time.n_timed == 0


def test_anonymous_labels_are_nobodys(campaign: Campaign, person: Annotator) -> None:
    label(gold(campaign), None, NO, is_imported=True)

    quality = quality_of(campaign)

    assert (quality.gold, quality.time.n_untimed) == (ExpectedAnswers(), 0)


def test_totals_are_the_sums_of_the_rows(campaign: Campaign) -> None:
    items = [gold(campaign) for _ in range(3)]
    for n, person in enumerate(join(campaign) for _ in range(3)):
        for item in items[: n + 1]:
            label(item, person, NO if n else YES, active_ms=1000 * (n + 1))

    quality = quality_of(campaign)

    assert quality.gold == ExpectedAnswers(6, 5)
    assert quality.gold.n == sum(row.gold.n for row in quality.annotators)
    assert quality.time.n_timed == sum(row.time.n_timed for row in quality.annotators)
    assert [row.annotator.code for row in quality.annotators] == sorted(
        row.annotator.code for row in quality.annotators
    )


@pytest.mark.parametrize("n_people", [1, 5])
def test_quality_takes_four_queries_however_many_people(
    campaign: Campaign, n_people: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    item = make_item(campaign=campaign)
    repeat, known = repeat_of(item), gold(campaign)
    for person in [join(campaign) for _ in range(n_people)]:
        for each in (item, repeat, known):
            label(each, person)

    with django_assert_num_queries(4):
        quality = quality_of(campaign)

    assert quality.repeats.n == n_people


def test_expected_items_show_how_many_answered_as_expected(
    campaign: Campaign, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    known, practice = gold(campaign), gold(campaign, kind=ItemKind.TRAINING)
    make_item(campaign=campaign)
    label(known, join(campaign), NO)
    label(known, join(campaign), YES)
    label(known, None, NO, is_imported=True)

    with django_assert_num_queries(1):
        items = expected_items(campaign)

    assert [(item.item_id, item.expected, item.answers) for item in items] == [
        (practice.public_id, NO, ExpectedAnswers(0, 0)),
        (known.public_id, NO, ExpectedAnswers(2, 1)),
    ]


def test_people_are_listed_with_their_training(campaign: Campaign, person: Annotator) -> None:
    passed_at = timezone.now()
    person.memberships.update(trained_at=passed_at, training_round=2)

    (row,) = quality_of(campaign).annotators

    assert (row.trained_at, row.training_round) == (passed_at, 2)
