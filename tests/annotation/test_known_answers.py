"""Training and gold items: how responses become them, and when they no longer can."""

import pytest

from annotation.campaigns.changing import InvalidPlan
from annotation.campaigns.known_answers import Place, place_response, set_pass_mark
from annotation.choices import CampaignState, ItemKind, Rating
from annotation.errors import Conflict
from annotation.models import Account, AuditEvent, Campaign, Response
from tests.factories import make_assignment, make_campaign, make_item, make_prompt, make_response

pytestmark = pytest.mark.django_db

TRAINING = Place(ItemKind.TRAINING, Rating.UNACCEPTABLE, "The answer leaves the child alone with it.")
GOLD = Place(ItemKind.GOLD, Rating.ACCEPTABLE)
REGULAR = Place(ItemKind.REGULAR)
OUT = Place(None)


def place(campaign: Campaign, response: Response, what: Place, actor: Account | None = None) -> None:
    place_response(campaign=campaign, response=response, place=what, actor=actor)


def response_of(campaign: Campaign) -> Response:
    return make_response(prompt=make_prompt(benchmark=campaign.benchmark))


@pytest.mark.parametrize("what", [TRAINING, GOLD, REGULAR], ids=["training", "gold", "regular"])
def test_response_outside_the_choice_becomes_an_item(researcher: Account, what: Place) -> None:
    draft = make_campaign(state=CampaignState.DRAFT)

    place(draft, response_of(draft), what, researcher)

    item = draft.items.get()
    assert (item.kind, item.expected_rating, item.feedback) == (
        what.kind,
        what.expected_rating,
        what.feedback,
    )
    assert AuditEvent.objects.get(action="campaign.response_placed").detail["kind"] == what.kind


def test_item_changes_what_it_is_and_leaves_again() -> None:
    draft = make_campaign(state=CampaignState.DRAFT)
    item = make_item(campaign=draft)

    for what in (TRAINING, GOLD, REGULAR):
        place(draft, item.response, what)
        assert draft.items.get().kind == what.kind
    place(draft, item.response, OUT)

    assert not draft.items.exists()


def test_taking_out_what_is_not_there_leaves_no_trace() -> None:
    draft = make_campaign(state=CampaignState.DRAFT)

    place(draft, response_of(draft), OUT)

    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (Place(ItemKind.GOLD), "expected_rating_missing"),
        (Place(ItemKind.TRAINING, None, "Why."), "expected_rating_missing"),
        (Place(ItemKind.REGULAR, Rating.ACCEPTABLE), "expected_rating_missing"),
        (Place(None, Rating.ACCEPTABLE), "expected_rating_missing"),
        (Place(ItemKind.TRAINING, Rating.ACCEPTABLE, " "), "feedback_misplaced"),
        (Place(ItemKind.GOLD, Rating.ACCEPTABLE, "Why."), "feedback_misplaced"),
        (Place(ItemKind.REPEAT), "repeat_chosen"),
    ],
)
def test_half_a_known_answer_is_refused(what: Place, code: str) -> None:
    draft = make_campaign(state=CampaignState.DRAFT)

    with pytest.raises(InvalidPlan) as refusal:
        place(draft, response_of(draft), what)

    assert refusal.value.code == code


def test_response_of_another_benchmark_or_without_text_is_refused() -> None:
    draft = make_campaign(state=CampaignState.DRAFT)
    empty = make_response(prompt=make_prompt(benchmark=draft.benchmark), state="EMPTY", text="")

    for response in (make_response(), empty):
        with pytest.raises(InvalidPlan):
            place(draft, response, GOLD)


def test_gold_comes_and_goes_after_opening_among_items_that_nobody_was_given() -> None:
    campaign = make_campaign()
    item = make_item(campaign=campaign)

    place(campaign, item.response, GOLD)
    place(campaign, item.response, REGULAR)
    place(campaign, item.response, GOLD)
    place(campaign, item.response, OUT)

    assert not campaign.items.exists()


@pytest.mark.parametrize(
    ("kind", "what"),
    [("REGULAR", TRAINING), ("TRAINING", GOLD), ("TRAINING", OUT), ("REGULAR", OUT), (None, REGULAR)],
)
def test_training_and_regular_items_are_settled_after_opening(kind: str | None, what: Place) -> None:
    campaign = make_campaign()
    response = response_of(campaign)
    if kind:
        expected = Rating.ACCEPTABLE if kind == "TRAINING" else None
        make_item(campaign=campaign, response=response, kind=kind, expected_rating=expected)

    with pytest.raises(Conflict) as refusal:
        place(campaign, response, what)

    assert refusal.value.code == "no_draft"
    assert list(campaign.items.values_list("kind", flat=True)) == ([kind] if kind else [])


def test_item_in_somebodys_hands_stays_what_it_is() -> None:
    campaign = make_campaign()
    item = make_assignment(item=make_item(campaign=campaign)).item

    with pytest.raises(Conflict) as refusal:
        place(campaign, item.response, GOLD)

    assert refusal.value.code == "item_in_use"


def test_closed_campaign_takes_no_known_answer() -> None:
    campaign = make_campaign(state=CampaignState.CLOSED)

    with pytest.raises(Conflict):
        place(campaign, response_of(campaign), GOLD)


@pytest.mark.parametrize("pass_mark", [1, 80, 100, None])
def test_pass_mark_is_stored(researcher: Account, pass_mark: int | None) -> None:
    draft = make_campaign(state=CampaignState.DRAFT, pass_mark=50)

    set_pass_mark(campaign=draft, pass_mark=pass_mark, actor=researcher)

    draft.refresh_from_db()
    assert draft.pass_mark == pass_mark
    assert AuditEvent.objects.get().detail == {"pass_mark": pass_mark}


@pytest.mark.parametrize("pass_mark", [0, 101])
def test_pass_mark_outside_its_range_is_refused(researcher: Account, pass_mark: int) -> None:
    with pytest.raises(InvalidPlan):
        set_pass_mark(
            campaign=make_campaign(state=CampaignState.DRAFT), pass_mark=pass_mark, actor=researcher
        )


def test_pass_mark_is_settled_after_opening(researcher: Account) -> None:
    with pytest.raises(Conflict):
        set_pass_mark(campaign=make_campaign(), pass_mark=80, actor=researcher)
