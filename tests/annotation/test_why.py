"""Why a person gets no item: the reason that they or the researcher can act on."""

import datetime as dt
from collections.abc import Callable

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.choices import AnnotatorType, CampaignState, Rating, SkipReason
from annotation.labelling import NoItemCode, skip_item, why_no_item
from annotation.models import Campaign, CategoryOptOut, Membership
from tests.annotation.desk import Desk, answer, join, make_desk, take
from tests.factories import make_quota

pytestmark = pytest.mark.django_db


def membership_at(desk: Desk) -> Membership:
    return Membership.objects.select_related("campaign", "annotator").get(
        campaign=desk.campaign, annotator=desk.annotator
    )


def is_deactivated(desk: Desk) -> None:
    Membership.objects.filter(annotator=desk.annotator).update(deactivated_at=timezone.now())


def is_paused(desk: Desk) -> None:
    Campaign.objects.update(state=CampaignState.PAUSED)


def is_over(desk: Desk) -> None:
    Campaign.objects.update(closes_on=timezone.now().date() - dt.timedelta(days=2))


def has_no_consent(desk: Desk) -> None:
    Campaign.objects.update(consent_version=9)


def has_an_item(desk: Desk) -> None:
    take(desk)


def could_have_an_item(desk: Desk) -> None:
    pass


def reached_the_cap(desk: Desk) -> None:
    Campaign.objects.update(daily_cap=1)
    answer(take(desk))


def is_of_another_kind(desk: Desk) -> None:
    make_quota(campaign=desk.campaign, annotator_type=AnnotatorType.SPECIALIST)


def others_are_reading(desk: Desk) -> None:
    colleague = join(desk.campaign)
    answer(take(desk, colleague))
    take(desk, colleague)


def opted_out_of_the_rest(desk: Desk) -> None:
    for category in desk.campaign.items.values_list("response__prompt__risk_category", flat=True).distinct():
        CategoryOptOut.objects.create(membership=membership_at(desk), risk_category=category)


def others_filled_all(desk: Desk) -> None:
    colleague = join(desk.campaign)
    answer(take(desk, colleague))
    answer(take(desk, colleague))


def has_done_all(desk: Desk) -> None:
    answer(take(desk))
    skip_item(assignment=take(desk), annotator=desk.annotator, reason=SkipReason.UNCLEAR)


@pytest.mark.parametrize(
    ("circumstance", "code"),
    [
        (is_deactivated, NoItemCode.DEACTIVATED),
        (is_paused, NoItemCode.NOT_TAKING_LABELS),
        (is_over, NoItemCode.NOT_TAKING_LABELS),
        (has_no_consent, NoItemCode.NO_CONSENT),
        (has_an_item, NoItemCode.ITEM_WAITING),
        (could_have_an_item, NoItemCode.ITEM_WAITING),
        (reached_the_cap, NoItemCode.CAP_REACHED),
        (is_of_another_kind, NoItemCode.KIND_NOT_ASKED),
        (others_are_reading, NoItemCode.HELD_BY_OTHERS),
        (opted_out_of_the_rest, NoItemCode.OPTED_OUT),
        (others_filled_all, NoItemCode.FILLED_BY_OTHERS),
        (has_done_all, NoItemCode.ALL_DONE),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_reason_is_told_to_both_sides_in_one_sentence(
    circumstance: Callable[[Desk], None],
    code: NoItemCode,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    desk = make_desk(n_items=2)
    circumstance(desk)
    membership = membership_at(desk)

    with django_assert_max_num_queries(9):
        reason = why_no_item(membership)

    assert reason.code == code
    assert reason.to_annotator.endswith(".")
    assert reason.to_researcher.endswith(".")


@pytest.mark.parametrize("rating", Rating.values)
def test_reason_does_not_depend_on_what_others_answered(rating: Rating) -> None:
    desk = make_desk(n_items=1)
    answer(take(desk, join(desk.campaign)), rating)

    reason = why_no_item(membership_at(desk))

    assert (
        reason.to_annotator == "Every text has enough answers now, so there is nothing left for you to read."
    )
