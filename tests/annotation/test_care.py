"""Caps and breaks: when a person is stopped, when a break is offered, and what begins anew."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation import care
from annotation.care import SITTING_GAP, BreakCode, StopCode
from annotation.errors import NotAllowed
from annotation.models import Annotator, Assignment, Membership
from tests.annotation.desk import join
from tests.factories import make_assignment, make_benchmark, make_campaign, make_item, make_mildness

pytestmark = pytest.mark.django_db

NO_CARE: dict[str, Any] = {
    "break_after_minutes": None,
    "break_after_grave": None,
    "daily_cap": None,
    "session_cap": None,
}
COUNTED = ["sitting_began_at", "last_seen_at", "n_shown_in_sitting", "break_ended_at", "n_grave_since_break"]


def make_member(**campaign_values: Any) -> Membership:
    """A consenting person in a campaign without caps and breaks, but for `campaign_values`."""
    campaign = make_campaign(**NO_CARE | campaign_values)
    return Membership.objects.select_related("campaign").get(annotator=join(campaign))


def show(membership: Membership, *, n: int = 1, risk_category: str = "wellbeing") -> Membership:
    """The membership as it is after so many new items."""
    for _ in range(n):
        care.record_shown(membership, risk_category=risk_category)
        membership.refresh_from_db(fields=COUNTED)
    return membership


def rest(membership: Membership, span: timedelta) -> Membership:
    """The membership as it is after so much time without a new item."""
    for field in ("sitting_began_at", "last_seen_at", "break_ended_at"):
        setattr(membership, field, getattr(membership, field) - span)
    membership.save()
    return membership


def read_today(annotator: Annotator, **campaign_values: Any) -> Assignment:
    """An item first shown to the person a moment ago, in a campaign of its own."""
    campaign = make_campaign(benchmark=annotator.benchmark, **campaign_values)
    return make_assignment(
        annotator=annotator, item=make_item(campaign=campaign), first_shown_at=timezone.now()
    )


def test_first_item_begins_a_sitting() -> None:
    membership = show(make_member())

    assert membership.n_shown_in_sitting == 1
    assert membership.sitting_began_at == membership.last_seen_at == membership.break_ended_at


def test_items_in_one_sitting_add_up() -> None:
    membership = show(make_member(), n=3)

    assert membership.n_shown_in_sitting == 3
    assert membership.sitting_began_at < membership.last_seen_at


def test_item_after_a_rest_begins_another_sitting() -> None:
    campaign_member = make_member()
    make_mildness(campaign=campaign_member.campaign, risk_category="grave one", mildness=1)
    membership = rest(show(campaign_member, n=3, risk_category="grave one"), SITTING_GAP)

    show(membership)

    assert (membership.n_shown_in_sitting, membership.n_grave_since_break) == (1, 0)


@pytest.mark.parametrize(("mildness", "n_grave"), [(1, 1), (2, 1), (3, 0), (5, 0)])
def test_item_counts_as_grave_up_to_mildness_two(mildness: int, n_grave: int) -> None:
    membership = make_member()
    make_mildness(campaign=membership.campaign, risk_category="wellbeing", mildness=mildness)

    assert show(membership).n_grave_since_break == n_grave


def test_mildness_of_another_campaign_does_not_count() -> None:
    membership = make_member()
    make_mildness(campaign=make_campaign(), risk_category="wellbeing", mildness=1)

    assert show(membership).n_grave_since_break == 0


def test_record_shown_takes_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    membership = make_member()

    with django_assert_num_queries(1):
        care.record_shown(membership, risk_category="wellbeing")


def test_nothing_stops_a_person_where_the_campaign_has_no_cap(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    membership = show(make_member(), n=5)

    with django_assert_num_queries(0):
        assert care.stop_reason(membership) is None


@pytest.mark.parametrize(("n_shown", "is_stopped"), [(2, False), (3, True), (4, True)])
def test_sitting_stops_at_its_cap(n_shown: int, is_stopped: bool) -> None:
    membership = show(make_member(session_cap=3), n=n_shown)

    stop = care.stop_reason(membership)

    assert (stop is not None) == is_stopped


def test_stop_of_a_sitting_ends_half_an_hour_after_the_last_item() -> None:
    membership = show(make_member(session_cap=1))

    stop = care.stop_reason(membership)

    assert stop is not None
    assert (stop.code, stop.until) == (StopCode.SITTING, membership.last_seen_at + SITTING_GAP)
    assert "1 text in one go" in stop.to_annotator
    assert "at most 1" in stop.to_researcher
    assert care.stop_reason(rest(membership, SITTING_GAP)) is None


@pytest.mark.parametrize(("n_read", "is_stopped"), [(1, False), (2, True)])
def test_day_stops_at_its_cap(
    n_read: int, is_stopped: bool, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    membership = make_member(daily_cap=2)
    for _ in range(n_read):
        read_today(membership.annotator)

    with django_assert_num_queries(1):
        stop = care.stop_reason(membership)

    assert (stop is not None) == is_stopped


def test_stop_of_a_day_ends_at_midnight() -> None:
    membership = make_member(daily_cap=1)
    read_today(membership.annotator)

    stop = care.stop_reason(membership)

    assert stop is not None
    assert stop.code == StopCode.DAY
    assert timezone.now() < stop.until <= timezone.now() + timedelta(days=1)
    assert (stop.until.hour, stop.until.minute, stop.until.second) == (0, 0, 0)
    assert "1 text today" in stop.to_annotator


def test_items_of_another_day_do_not_count() -> None:
    membership = make_member(daily_cap=1)
    Assignment.objects.filter(pk=read_today(membership.annotator).pk).update(
        first_shown_at=timezone.now() - timedelta(days=1)
    )

    assert care.stop_reason(membership) is None


def test_items_of_the_persons_other_tasks_count_towards_the_day() -> None:
    membership = make_member(daily_cap=1)
    other = Annotator.objects.create(
        benchmark=make_benchmark(),
        account=membership.annotator.account,
        code="the same person elsewhere",
        annotator_type="PARENT",
    )
    read_today(other)

    assert care.stop_reason(membership) is not None


def test_items_of_other_people_do_not_count_towards_the_day() -> None:
    membership = make_member(daily_cap=1)
    read_today(join(membership.campaign))

    assert care.stop_reason(membership) is None


def test_break_is_due_after_the_minutes_of_the_campaign() -> None:
    membership = show(make_member(break_after_minutes=20))
    assert care.break_due(rest(membership, timedelta(minutes=19))) is None

    reason = care.break_due(rest(membership, timedelta(minutes=1)))

    assert reason is not None
    assert reason.code == BreakCode.TIME


def test_break_is_due_after_grave_items() -> None:
    membership = make_member(break_after_grave=2)
    make_mildness(campaign=membership.campaign, risk_category="grave one", mildness=1)
    show(membership, n=5, risk_category="mild one")
    show(membership, risk_category="grave one")
    assert care.break_due(membership) is None

    reason = care.break_due(show(membership, risk_category="grave one"))

    assert reason is not None
    assert reason.code == BreakCode.GRAVE
    assert "2 texts on hard themes" in reason.to_annotator


def test_break_is_never_due_where_the_campaign_offers_none() -> None:
    membership = make_member()
    make_mildness(campaign=membership.campaign, risk_category="grave one", mildness=1)

    membership = rest(show(membership, n=20, risk_category="grave one"), timedelta(minutes=29))

    assert care.break_due(membership) is None


def test_break_is_not_due_before_the_first_item() -> None:
    assert care.break_due(make_member(break_after_minutes=1, break_after_grave=1)) is None


def test_rest_of_a_sittings_gap_is_a_break() -> None:
    membership = show(make_member(break_after_minutes=1))

    assert care.break_due(rest(membership, SITTING_GAP)) is None


def test_break_that_ended_begins_the_count_anew_and_moves_no_cap() -> None:
    membership = make_member(break_after_grave=1, break_after_minutes=10, session_cap=1)
    make_mildness(campaign=membership.campaign, risk_category="grave one", mildness=1)
    rest(show(membership, risk_category="grave one"), timedelta(minutes=10))

    care.end_break(membership)
    membership.refresh_from_db()

    assert care.break_due(membership) is None
    assert care.stop_reason(membership) is not None


def test_break_of_a_person_who_was_removed_is_refused() -> None:
    membership = make_member()
    Membership.objects.filter(pk=membership.pk).delete()

    with pytest.raises(NotAllowed):
        care.end_break(membership)
