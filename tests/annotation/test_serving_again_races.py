"""Asking again while people answer: the newest label is never taken for an old one."""

import uuid
from functools import partial

import pytest

from annotation.campaigns.texts import Texts, change_texts, serve_again
from annotation.choices import AssignmentState, Rating
from annotation.labelling import revise_label
from annotation.models import Assignment, Label
from tests.annotation.desk import answer, make_desk, take
from tests.annotation.test_labelling_races import at_once

pytestmark = pytest.mark.django_db(transaction=True)

N_PEOPLE = 12


def test_answers_given_while_people_are_asked_again_are_not_asked_for() -> None:
    desk = make_desk(n_items=2, n_annotators=N_PEOPLE, labels_per_response=N_PEOPLE)
    for person in desk.annotators:
        for _ in desk.items:
            answer(take(desk, person))
    texts = Texts(
        instructions="Other.", content_warning="", consent_text=desk.campaign.consent_text, support_text=""
    )
    change_texts(campaign=desk.campaign, texts=texts, actor=None)
    revisions = [
        partial(
            revise_label,
            label=label,
            annotator=person,
            submission_id=uuid.uuid4(),
            rating=Rating.UNACCEPTABLE,
        )
        for person in desk.annotators
        for label in Label.objects.select_related("item").filter(item=desk.items[0], annotator=person)
    ]

    at_once([*revisions, partial(serve_again, campaign=desk.campaign, actor=None)])

    states = Assignment.objects.values_list("item", "state")
    assert sorted(states) == sorted(
        [(desk.items[0].pk, AssignmentState.LABELLED)] * N_PEOPLE
        + [(desk.items[1].pk, AssignmentState.AGAIN)] * N_PEOPLE
    )
