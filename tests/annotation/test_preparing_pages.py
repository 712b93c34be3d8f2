"""The steps in which a campaign is prepared, and its texts once it is under way."""

import re
from typing import Any

import pytest
from django.test import Client

from annotation.campaigns.texts import Texts, change_texts
from annotation.choices import (
    AnnotatorType,
    AssignmentState,
    CampaignState,
    ItemKind,
    Rating,
    Scale,
    WithdrawalPolicy,
)
from annotation.models import Assignment, Benchmark, Campaign, CampaignItem, Response
from tests.annotation.desk import answer, make_desk, take
from tests.annotation.preparing_desk import LABELS, PACE, TEXTS, make_material, make_ready_draft, new_url, url
from tests.factories import (
    make_assignment,
    make_campaign,
    make_item,
    make_label,
    make_membership,
    make_prompt,
    make_response,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    return make_material()


@pytest.fixture
def draft(benchmark: Benchmark) -> Campaign:
    return make_ready_draft(benchmark)


def text_of(page: Any) -> str:
    """The page without the elements around numbers and times."""
    return re.sub(r"</?(?:data|time)\b[^>]*>", "", page.content.decode())


def test_whole_wizard_makes_a_campaign_that_can_be_labelled(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    page = researcher_client.post(new_url(benchmark), {"name": "First round", "rollouts": ["0", "2"]})
    made = Campaign.objects.get()
    assert page.headers["Location"] == url(made, "campaign_labels")

    for name, sent, following in (
        ("campaign_labels", LABELS, "campaign_texts"),
        ("campaign_texts", TEXTS, "campaign_pace"),
        ("campaign_pace", PACE, "campaign_known"),
        ("pass_mark", {"pass_mark": ""}, "campaign_check"),
        ("campaign_state", {"state": "OPEN"}, "campaign"),
    ):
        page = researcher_client.post(url(made, name), sent)
        assert page.status_code == 302, name
        assert page.headers["Location"] == url(made, following)

    made.refresh_from_db()
    assert made.state == CampaignState.OPEN
    assert set(made.items.values_list("response__rollout", flat=True)) == {0, 2}
    assert (made.scale, made.labels_per_response) == (Scale.BINARY, 3)
    assert dict(made.quotas.values_list("annotator_type", "n_labels")) == {
        AnnotatorType.PARENT: 2,
        AnnotatorType.SPECIALIST: 1,
    }
    assert (made.withdrawal_policy, made.adjudication_overrides) == (WithdrawalPolicy.DELETE, True)
    assert (made.lease_minutes, made.daily_cap, made.break_after_grave) == (45, 60, None)
    assert (made.reveals_on_tap, made.mildness.get().mildness) == (False, 1)


def test_choice_is_counted_before_anything_is_made(researcher_client: Client, benchmark: Benchmark) -> None:
    page = researcher_client.get(new_url(benchmark), {"name": "Soon", "rollouts": ["0", "2"], "count": "1"})

    assert "This choice comes to 2 responses" in text_of(page)
    assert not Campaign.objects.exists()


def test_choice_is_remembered_with_its_seed_and_shown_again(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    sent = {"name": "Soon", "n_at_most": "2", "strata": "CATEGORY", "allocation": "PROPORTIONAL", "seed": "7"}
    researcher_client.post(new_url(benchmark), sent)

    made = Campaign.objects.get()
    html = text_of(researcher_client.get(url(made, "campaign_responses")))

    assert made.items.count() == 2
    assert made.selection == {
        "chosen_by": "filters",
        "risk_categories": [],
        "models": [],
        "rollouts": [],
        "n_at_most": 2,
        "strata": "CATEGORY",
        "allocation": "PROPORTIONAL",
        "seed": 7,
    }
    assert '<option value="PROPORTIONAL" selected>' in html
    assert 'name="seed" value="7"' in html


@pytest.mark.parametrize(
    "change",
    [{"name": ""}, {"rollouts": ["7"]}, {"n_at_most": "-1"}, {"strata": "MOON"}, {"seed": "x"}],
    ids=str,
)
def test_unusable_choice_is_422(
    researcher_client: Client, benchmark: Benchmark, change: dict[str, Any]
) -> None:
    page = researcher_client.post(new_url(benchmark), {"name": "Soon"} | change)

    assert page.status_code == 422
    assert not Campaign.objects.exists()


def test_choice_without_a_readable_response_says_so(researcher_client: Client) -> None:
    prompt = make_prompt()
    make_response(prompt=prompt, state="ERROR", text="", error="timeout")

    page = researcher_client.post(new_url(prompt.benchmark), {"name": "Soon"})

    assert page.status_code == 422
    assert "No response with a text fits this choice" in text_of(page)


def test_draft_is_chosen_again(researcher_client: Client, draft: Campaign) -> None:
    researcher_client.post(url(draft, "campaign_responses"), {"name": "Renamed", "rollouts": ["2"]})

    draft.refresh_from_db()
    assert draft.name == "Renamed"
    assert list(draft.items.values_list("response__rollout", flat=True)) == [2]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("campaign_labels", LABELS | {"labels_per_response": "0"}),
        ("campaign_labels", LABELS | {"from_parent": "5"}),
        ("campaign_labels", LABELS | {"scale": "STARS"}),
        ("campaign_labels", LABELS | {"withdrawal_policy": "SELL"}),
        ("campaign_texts", TEXTS | {"instructions": " "}),
        ("campaign_pace", PACE | {"closes_on": "2026-11-01"}),
        ("campaign_pace", PACE | {"lease_minutes": "1"}),
        ("campaign_pace", PACE | {"mildness_0": "6"}),
        ("pass_mark", {"pass_mark": "101"}),
    ],
)
def test_unusable_step_is_422_and_changes_nothing(
    researcher_client: Client, draft: Campaign, name: str, sent: dict[str, str]
) -> None:
    before = Campaign.objects.values().get()

    page = researcher_client.post(url(draft, name), sent)

    assert page.status_code == 422
    assert "Nothing was saved yet" in text_of(page)
    assert Campaign.objects.values().get() == before


@pytest.mark.parametrize(
    ("name", "sent"), [("campaign_responses", {"name": "Renamed"}), ("campaign_labels", LABELS)]
)
def test_what_labels_mean_cannot_change_once_the_campaign_is_open(
    researcher_client: Client, draft: Campaign, name: str, sent: dict[str, str]
) -> None:
    Campaign.objects.update(state=CampaignState.OPEN)

    page = researcher_client.post(url(draft, name), sent)

    assert page.status_code == 409
    assert "settled" in text_of(page)


def test_pace_of_an_open_campaign_leads_back_to_it(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(state=CampaignState.OPEN)

    page = researcher_client.post(url(draft, "campaign_pace"), PACE)

    assert page.headers["Location"] == url(draft, "campaign")


def test_draft_that_lacks_something_says_what(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(pass_mark=80)

    html = text_of(researcher_client.get(url(draft, "campaign_check")))

    assert "It has a pass mark but no training item" in html
    assert "Open the campaign" not in html


def test_draft_that_lacks_something_is_not_opened(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(pass_mark=80)

    page = researcher_client.post(url(draft, "campaign_state"), {"state": "OPEN"})

    assert page.status_code == 422
    assert "The campaign cannot open yet. It has a pass mark" in text_of(page)
    assert "It cannot open yet" in text_of(page)


def test_draft_with_people_is_closed_and_not_discarded(researcher_client: Client, draft: Campaign) -> None:
    assert "Discard this draft" in text_of(researcher_client.get(url(draft, "campaign_check")))
    make_membership(campaign=draft)

    refused = researcher_client.post(url(draft, "campaign_discard"))
    researcher_client.post(url(draft, "campaign_state"), {"state": "CLOSED"})

    draft.refresh_from_db()
    assert refused.status_code == 409
    assert "Close this draft for good" in text_of(refused)
    assert draft.state == CampaignState.CLOSED


def test_check_shows_what_the_draft_comes_to(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(labels_per_response=3)

    html = text_of(researcher_client.get(url(draft, "campaign_check")))

    assert "6 labels of 2 responses" in html
    assert "Open the campaign" in html


def test_page_of_a_draft_is_its_check(researcher_client: Client, draft: Campaign) -> None:
    page = researcher_client.get(url(draft, "campaign"))

    assert page.headers["Location"] == url(draft, "campaign_check")


def test_draft_is_discarded(researcher_client: Client, draft: Campaign) -> None:
    page = researcher_client.post(url(draft, "campaign_discard"))

    assert page.status_code == 302
    assert not Campaign.objects.exists()


def test_open_campaign_is_not_discarded(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(state=CampaignState.OPEN)

    assert researcher_client.post(url(draft, "campaign_discard")).status_code == 409
    assert draft.items.count() == 2


def test_response_becomes_a_training_item(researcher_client: Client, draft: Campaign) -> None:
    response = Response.objects.get(rollout=2)
    sent = {"kind": "TRAINING", "expected_rating": "ACCEPTABLE", "feedback": "It helps and stays kind."}

    page = researcher_client.post(
        url(draft, "place", response_id=response.public_id) + "?page=1",
        {f"{response.public_id}-{name}": value for name, value in sent.items()},
    )

    item = CampaignItem.objects.get(response=response)
    assert page.headers["Location"] == url(draft, "campaign_known") + "?page=1"
    assert (item.kind, item.expected_rating, item.feedback) == tuple(sent.values())


def test_half_a_known_answer_is_shown_again_with_the_reason(
    researcher_client: Client, draft: Campaign
) -> None:
    response = Response.objects.get(rollout=0)

    page = researcher_client.post(
        url(draft, "place", response_id=response.public_id), {f"{response.public_id}-kind": "GOLD"}
    )

    assert page.status_code == 422
    assert "need the answer that is expected" in text_of(page)
    assert draft.items.filter(kind=ItemKind.GOLD).count() == 0


def test_item_in_somebodys_hands_is_409(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(state=CampaignState.OPEN)
    response = make_assignment(item=draft.items.first()).item.response

    page = researcher_client.post(
        url(draft, "place", response_id=response.public_id),
        {f"{response.public_id}-kind": "GOLD", f"{response.public_id}-expected_rating": "ACCEPTABLE"},
    )

    assert page.status_code == 409


def test_candidates_show_known_answers_first_and_labels_given_elsewhere(
    researcher_client: Client, draft: Campaign
) -> None:
    last = Response.objects.get(rollout=2)
    make_item(campaign=draft, response=last, kind=ItemKind.GOLD, expected_rating=Rating.ACCEPTABLE)
    elsewhere = make_item(campaign=make_campaign(benchmark=draft.benchmark), response=last)
    for rating in ("ACCEPTABLE", "ACCEPTABLE", "UNACCEPTABLE"):
        make_label(item=elsewhere, rating=rating)

    page = researcher_client.get(url(draft, "campaign_known"))

    first, form = page.context["candidates"][0]
    assert (first, first.n_acceptable, first.n_unacceptable) == (last, 2, 1)
    assert form.initial["kind"] == "GOLD"
    assert "Gold items: 1." in text_of(page)


def test_candidates_of_one_category(researcher_client: Client, draft: Campaign) -> None:
    prompt = make_prompt(benchmark=draft.benchmark, risk_category="Screen time")
    other = make_response(prompt=prompt)

    page = researcher_client.get(url(draft, "campaign_known"), {"category": "Screen time"})

    assert [response for response, _ in page.context["candidates"]] == [other]


def test_new_instructions_are_a_version_and_ask_again_is_one_button(researcher_client: Client) -> None:
    desk = make_desk(n_items=2, **TEXTS)
    answer(take(desk))
    change_texts(campaign=desk.campaign, texts=Texts(**TEXTS), actor=None)

    page = researcher_client.post(
        url(desk.campaign, "campaign_texts"), TEXTS | {"instructions": "Second."}, follow=True
    )
    asked = researcher_client.post(url(desk.campaign, "ask_again"), follow=True)

    assert "The instructions have a new version" in text_of(page)
    assert "Ask again for 1 answer" in text_of(page)
    assert "Instructions, version 1" in text_of(page)
    assert "Answers asked for again: 1." in text_of(asked)
    assert list(Assignment.objects.values_list("state", flat=True)) == [AssignmentState.AGAIN]


def test_texts_of_a_closed_campaign_stay(researcher_client: Client, draft: Campaign) -> None:
    Campaign.objects.update(state=CampaignState.CLOSED)

    assert researcher_client.post(url(draft, "campaign_texts"), TEXTS).status_code == 409
    assert researcher_client.post(url(draft, "ask_again")).status_code == 409


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "[press](javascript:alert(1))"])
def test_markup_in_instructions_is_shown_as_text(
    researcher_client: Client, draft: Campaign, text: str
) -> None:
    Campaign.objects.update(instructions=text, name=text)

    html = text_of(researcher_client.get(url(draft, "campaign_texts")))

    assert "<script>alert" not in html
    assert 'href="javascript' not in html
