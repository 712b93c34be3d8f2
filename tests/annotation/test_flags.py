"""Flags: one waits per person and item, nothing written is lost, and each is settled once."""

import pytest

from annotation.campaigns import withdraw_consent
from annotation.choices import AssignmentState, CampaignState, Role
from annotation.errors import Conflict, NotAllowed
from annotation.flags import MAX_FLAG_NOTE, InvalidFlag, raise_flag, resolve_flag
from annotation.models import AuditEvent, Campaign, Flag
from annotation.permissions import ConsentMissing
from tests.annotation.desk import answer, make_desk, take
from tests.factories import make_account, make_flag

pytestmark = pytest.mark.django_db


def test_raised_flag_waits_with_its_note() -> None:
    desk = make_desk()
    assignment = take(desk)

    flag = raise_flag(assignment=assignment, annotator=desk.annotator, note="  The text names a school. ")

    assert (flag.item, flag.note, flag.resolved_at) == (assignment.item, "The text names a school.", None)
    assert AuditEvent.objects.get(action="flag.raised").actor is None


def test_flag_without_a_note_is_taken() -> None:
    desk = make_desk()

    assert raise_flag(assignment=take(desk), annotator=desk.annotator, note="").note == ""


def test_same_flag_twice_is_one() -> None:
    desk = make_desk()
    assignment = take(desk)

    flags = [raise_flag(assignment=assignment, annotator=desk.annotator, note="Look") for _ in range(2)]

    assert flags[0].pk == flags[1].pk
    assert Flag.objects.get().note == "Look"


def test_second_note_is_added_to_the_first() -> None:
    desk = make_desk()
    assignment = take(desk)
    raise_flag(assignment=assignment, annotator=desk.annotator, note="First")

    raise_flag(assignment=assignment, annotator=desk.annotator, note="Second")

    assert Flag.objects.get().note == "First\n\nSecond"


def test_flag_after_a_resolved_one_is_a_new_one() -> None:
    desk = make_desk()
    assignment = take(desk)
    first = raise_flag(assignment=assignment, annotator=desk.annotator, note="First")
    resolve_flag(flag=first, actor=make_account(role=Role.RESEARCHER), resolution="Seen.")

    second = raise_flag(assignment=assignment, annotator=desk.annotator, note="Second")

    assert (second.pk != first.pk, second.note) == (True, "Second")


def test_flag_leaves_the_answer_as_it_is() -> None:
    desk = make_desk()
    assignment = take(desk)
    answer(assignment)

    raise_flag(assignment=assignment, annotator=desk.annotator, note="Afterwards")

    assignment.refresh_from_db()
    assert assignment.state == AssignmentState.LABELLED


def test_flag_from_a_paused_campaign_is_taken() -> None:
    desk = make_desk()
    assignment = take(desk)
    Campaign.objects.update(state=CampaignState.PAUSED)

    assert raise_flag(assignment=assignment, annotator=desk.annotator, note="Urgent").pk


def test_flag_on_somebody_elses_item_is_refused() -> None:
    desk = make_desk(n_annotators=2)
    assignment = take(desk)

    with pytest.raises(NotAllowed):
        raise_flag(assignment=assignment, annotator=desk.annotators[1], note="Not mine")


def test_flag_after_withdrawing_is_refused_and_stores_nothing() -> None:
    desk = make_desk()
    assignment = take(desk)
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    with pytest.raises((ConsentMissing, NotAllowed)):
        raise_flag(assignment=assignment, annotator=desk.annotator, note="Late")

    assert not Flag.objects.exists()


def test_note_that_is_too_long_is_refused() -> None:
    desk = make_desk()

    with pytest.raises(InvalidFlag, match=str(MAX_FLAG_NOTE + 1)):
        raise_flag(assignment=take(desk), annotator=desk.annotator, note="a" * (MAX_FLAG_NOTE + 1))


def test_resolved_flag_keeps_who_when_and_what_was_done() -> None:
    researcher = make_account(role=Role.RESEARCHER)

    flag = resolve_flag(flag=make_flag(), actor=researcher, resolution=" Taken out. ")

    assert (flag.resolved_by, flag.resolution) == (researcher, "Taken out.")
    assert flag.resolved_at is not None
    assert AuditEvent.objects.get(action="flag.resolved").actor == researcher


def test_resolving_twice_keeps_the_first_resolution() -> None:
    researcher = make_account(role=Role.RESEARCHER)
    flag = make_flag()
    resolve_flag(flag=flag, actor=researcher, resolution="First")

    with pytest.raises(Conflict):
        resolve_flag(flag=flag, actor=researcher, resolution="Second")

    assert Flag.objects.get().resolution == "First"


@pytest.mark.parametrize("resolution", ["", "  ", "a" * (MAX_FLAG_NOTE + 1)], ids=["none", "blank", "long"])
def test_resolution_of_a_wrong_length_is_refused(resolution: str) -> None:
    with pytest.raises(InvalidFlag):
        resolve_flag(flag=make_flag(), actor=make_account(role=Role.RESEARCHER), resolution=resolution)
