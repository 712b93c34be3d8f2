"""Whose turn an item is: quotas, themes, training, gold, repeats, second looks, and items fetched ahead."""

import datetime as dt
import uuid

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.choices import AnnotatorType, AssignmentState, ItemKind, Rating, SkipReason
from annotation.errors import Gone, NotAllowed
from annotation.labelling import next_assignment, revise_label, skip_item
from annotation.labelling.repeats import due_repeats
from annotation.labelling.upcoming import N_UPCOMING
from annotation.models import Annotator, Assignment, Campaign, CampaignItem, CategoryOptOut, Label, Membership
from annotation.selectors import current_labels, progress_of
from tests.annotation.desk import Desk, answer, join, make_desk, take
from tests.factories import make_item, make_label, make_mildness, make_prompt, make_quota, make_response

pytestmark = pytest.mark.django_db


def membership_of(annotator: Annotator) -> Membership:
    return Membership.objects.select_related("campaign", "annotator").get(annotator=annotator)


def item_about(desk: Desk, category: str, **values: object) -> CampaignItem:
    prompt = make_prompt(benchmark=desk.campaign.benchmark, risk_category=category)
    return make_item(campaign=desk.campaign, response=make_response(prompt=prompt), **values)


def work_through(desk: Desk, annotator: Annotator | None = None) -> list[CampaignItem]:
    """Answer everything there is for the person; the items in their sequence."""
    items = []
    while assignment := next_assignment(campaign=desk.campaign, annotator=annotator or desk.annotator):
        items.append(assignment.item)
        answer(assignment)
    return items


def age_leases() -> None:
    Assignment.objects.update(lease_until=timezone.now() - dt.timedelta(seconds=1))


def test_quota_keeps_places_for_each_kind_of_rater() -> None:
    desk = make_desk(n_items=2, labels_per_response=2)
    make_quota(campaign=desk.campaign, annotator_type=AnnotatorType.PARENT)
    make_quota(campaign=desk.campaign, annotator_type=AnnotatorType.SPECIALIST)
    specialist = join(desk.campaign, AnnotatorType.SPECIALIST)

    assert len(work_through(desk)) == 2
    assert work_through(desk, join(desk.campaign)) == []
    assert len(work_through(desk, specialist)) == 2


def test_answer_beyond_the_quota_of_its_kind_is_extra() -> None:
    desk = make_desk(n_items=1, labels_per_response=2)
    make_quota(campaign=desk.campaign, annotator_type=AnnotatorType.PARENT)
    make_quota(campaign=desk.campaign, annotator_type=AnnotatorType.SPECIALIST)
    late = take(desk)
    age_leases()
    answer(take(desk, join(desk.campaign)))

    assert answer(late).is_extra
    assert not answer(take(desk, join(desk.campaign, AnnotatorType.SPECIALIST))).is_extra


def test_items_of_a_theme_that_was_opted_out_of_are_not_given() -> None:
    desk = make_desk(n_items=0)
    item_about(desk, "Hard theme")
    other = item_about(desk, "Other theme")
    CategoryOptOut.objects.create(membership=membership_of(desk.annotator), risk_category="Hard theme")

    assert work_through(desk) == [other]


def test_item_in_hand_of_a_theme_opted_out_of_meanwhile_is_put_by() -> None:
    desk = make_desk(n_items=0)
    item_about(desk, "Hard theme")
    take(desk)
    CategoryOptOut.objects.create(membership=membership_of(desk.annotator), risk_category="Hard theme")

    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator) is None


def test_grave_items_alternate_with_milder_ones() -> None:
    desk = make_desk(n_items=0)
    make_mildness(campaign=desk.campaign, risk_category="Hard theme", mildness=1)
    for _ in range(4):
        item_about(desk, "Hard theme")
        item_about(desk, "Other theme")

    themes = [item.response.prompt.risk_category for item in work_through(desk)]

    assert themes == ["Other theme", "Hard theme"] * 4


def test_training_items_come_first_in_the_researchers_sequence() -> None:
    desk = make_desk(n_items=3)
    training = [
        make_item(campaign=desk.campaign, kind=ItemKind.TRAINING, expected_rating=Rating.ACCEPTABLE)
        for _ in range(2)
    ]

    items = work_through(desk)

    assert items[:2] == training
    assert len(items) == 5


def test_item_after_the_last_training_item_is_not_fetched_ahead() -> None:
    desk = make_desk(n_items=1)
    make_item(campaign=desk.campaign, kind=ItemKind.TRAINING, expected_rating=Rating.ACCEPTABLE)
    practice = take(desk)

    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator, after=practice) is None


def test_gold_item_is_answered_by_everyone_and_counts_in_no_figure() -> None:
    desk = make_desk(n_items=0, n_annotators=3)
    gold = make_item(campaign=desk.campaign, kind=ItemKind.GOLD, expected_rating=Rating.ACCEPTABLE)

    for person in desk.annotators:
        assert work_through(desk, person) == [gold]

    assert not Label.objects.filter(is_extra=True).exists()
    assert not current_labels(desk.campaign.benchmark).exists()


def ask_again(desk: Desk) -> None:
    """Ask for a second look at every answer, as new instructions do."""
    Campaign.objects.filter(pk=desk.campaign.pk).update(instructions_version=2)
    Assignment.objects.update(state=AssignmentState.AGAIN)


def answered_days_ago(desk: Desk, days: int, annotator: Annotator | None = None) -> None:
    person = annotator or desk.annotator
    for item in desk.items:
        moment = timezone.now() - dt.timedelta(days=days)
        make_label(item=item, annotator=person, created_at=moment)
        Assignment.objects.create(
            item=item, annotator=person, state=AssignmentState.LABELLED, lease_until=moment
        )


def test_share_of_old_answers_comes_again_once() -> None:
    desk = make_desk(n_items=10, repeat_percent=20, repeat_after_days=7)
    answered_days_ago(desk, 8)

    repeats = work_through(desk)

    assert [item.kind for item in repeats] == [ItemKind.REPEAT] * 2
    assert {item.repeats_id for item in repeats} <= {item.pk for item in desk.items}
    assert current_labels(desk.campaign.benchmark).count() == 10


def test_answers_that_are_not_old_enough_do_not_come_again() -> None:
    desk = make_desk(n_items=10, repeat_percent=100, repeat_after_days=7)
    answered_days_ago(desk, 6)

    assert work_through(desk) == []


def test_two_people_share_the_item_that_repeats_a_response() -> None:
    desk = make_desk(n_items=1, n_annotators=2, labels_per_response=2, repeat_percent=100)
    for person in desk.annotators:
        answered_days_ago(desk, 30, person)

    first, second = (work_through(desk, person) for person in desk.annotators)

    assert first == second
    assert CampaignItem.objects.filter(kind=ItemKind.REPEAT).count() == 1


def test_repeats_differ_between_people() -> None:
    desk = make_desk(n_items=12, n_annotators=6, labels_per_response=6, repeat_percent=25)
    for person in desk.annotators:
        answered_days_ago(desk, 30, person)

    chosen = {tuple(sorted(due_repeats(membership_of(person)))) for person in desk.annotators}

    assert len(chosen) > 1


def test_answer_asked_again_comes_before_new_items_and_is_settled_by_the_same_answer() -> None:
    desk = make_desk(n_items=2)
    answer(take(desk))
    ask_again(desk)
    stored = Label.objects.get()

    assert take(desk).item_id == stored.item_id
    revise_label(label=stored, annotator=desk.annotator, submission_id=uuid.uuid4(), rating=Rating.ACCEPTABLE)

    assert take(desk).item_id != stored.item_id
    assert Label.objects.filter(is_current=True).get().revision == 2


def test_item_asked_again_keeps_its_place() -> None:
    desk = make_desk(n_items=1)
    answer(take(desk))
    ask_again(desk)

    assert next_assignment(campaign=desk.campaign, annotator=join(desk.campaign)) is None


def test_second_look_put_aside_leaves_the_answer_standing() -> None:
    desk = make_desk(n_items=1)
    assignment = take(desk)
    answer(assignment)
    ask_again(desk)

    skip_item(assignment=assignment, annotator=desk.annotator, reason=SkipReason.TOO_DISTRESSING)

    assignment.refresh_from_db()
    assert assignment.state == AssignmentState.LABELLED
    assert Label.objects.filter(is_current=True).count() == 1


def test_item_fetched_ahead_is_another_one_and_not_yet_shown() -> None:
    desk = make_desk(n_items=3)
    shown = take(desk)

    ahead = next_assignment(campaign=desk.campaign, annotator=desk.annotator, after=shown)

    assert ahead is not None
    assert ahead != shown
    assert ahead.first_shown_at is None
    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator, after=shown) == ahead


def test_person_who_comes_back_resumes_at_what_was_shown_not_at_what_was_fetched_ahead() -> None:
    desk = make_desk(n_items=3)
    shown = take(desk)
    ahead = next_assignment(campaign=desk.campaign, annotator=desk.annotator, after=shown)

    assert take(desk) == shown
    answer(shown)
    assert take(desk) == ahead


def test_each_item_counts_as_shown_once() -> None:
    desk = make_desk(n_items=3)
    shown = take(desk)
    take(desk)
    ahead = next_assignment(campaign=desk.campaign, annotator=desk.annotator, after=shown)
    assert ahead is not None
    assert membership_of(desk.annotator).n_shown_in_sitting == 1
    answer(shown)

    answer(ahead)

    assert membership_of(desk.annotator).n_shown_in_sitting == 2


def test_cap_leaves_the_item_in_hand_and_gives_no_other() -> None:
    desk = make_desk(n_items=3, session_cap=1)
    shown = take(desk)

    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator, after=shown) is None
    assert take(desk) == shown
    answer(shown)
    assert next_assignment(campaign=desk.campaign, annotator=desk.annotator) is None


def test_deactivated_person_gets_nothing() -> None:
    desk = make_desk()
    Membership.objects.update(deactivated_at=timezone.now())

    with pytest.raises(NotAllowed):
        take(desk)


@pytest.mark.parametrize(
    ("first_day", "last_day"),
    [
        pytest.param(2, None, id="not begun"),
        pytest.param(None, -2, id="over"),
    ],
)
def test_campaign_outside_its_dates_gives_no_items(first_day: int | None, last_day: int | None) -> None:
    today = timezone.now().date()
    desk = make_desk()
    Campaign.objects.update(
        opens_on=today + dt.timedelta(days=first_day) if first_day else None,
        closes_on=today + dt.timedelta(days=last_day) if last_day else None,
    )

    with pytest.raises(Gone):
        take(desk)


def test_items_beyond_those_worked_out_come_too() -> None:
    desk = make_desk(n_items=N_UPCOMING + 3)

    assert len(set(work_through(desk))) == N_UPCOMING + 3


def test_items_left_shrink_with_each_answer() -> None:
    desk = make_desk(n_items=3)
    answer(take(desk))

    progress = progress_of(membership_of(desk.annotator))

    assert (progress.n_done, progress.n_left) == (1, 2)


@pytest.mark.parametrize("n_items", [30, 90])
def test_next_assignment_costs_the_same_however_many_items_there_are(
    n_items: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    desk = make_desk(n_items=n_items)
    answer(take(desk))

    # Savepoint and its release included.
    with django_assert_num_queries(13):
        take(desk)
