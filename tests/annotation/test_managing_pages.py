"""The researcher's pages of campaigns."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.choices import AnnotatorType, CampaignState, Rating, Role, Scale, SkipReason
from annotation.labelling import skip_item
from annotation.models import Annotator, Benchmark, Campaign
from annotation.selectors import annotator_progress, item_progress, items_by_label_count
from tests.annotation.desk import answer, make_desk, take
from tests.factories import make_account, make_campaign, make_prompt, make_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark() -> Benchmark:
    prompt = make_prompt(risk_category="Technical Misuse")
    for rollout in range(3):
        make_response(prompt=prompt, rollout=rollout)
    return prompt.benchmark


def new_url(benchmark: Benchmark) -> str:
    return reverse("annotation:campaign_new", kwargs={"slug": benchmark.slug})


def url(campaign: Campaign, name: str = "campaign") -> str:
    return reverse(f"annotation:{name}", kwargs={"campaign_id": campaign.public_id})


def filled(**values: Any) -> dict[str, Any]:
    return {
        "name": "First round",
        "labels_per_response": "2",
        "scale": "BINARY",
        "lease_minutes": "60",
        "instructions": "Judge the answer.",
        "content_warning": "Some texts are sad.",
        "consent_text": "You may stop.",
        "support_text": "Call a friend.",
        **values,
    }


def test_form_proposes_the_protocol(researcher_client: Client, benchmark: Benchmark) -> None:
    html = researcher_client.get(new_url(benchmark)).content.decode()

    assert "Judge the answer, not the question" in html
    assert "Technical Misuse" in html


def test_form_makes_a_campaign_of_the_choice(researcher_client: Client, benchmark: Benchmark) -> None:
    page = researcher_client.post(new_url(benchmark), filled(rollouts=["0", "2"], reveals_on_tap="on"))

    campaign = Campaign.objects.get()
    assert page.headers["Location"] == url(campaign)
    assert set(campaign.items.values_list("response__rollout", flat=True)) == {0, 2}
    assert (campaign.scale, campaign.labels_per_response, campaign.reveals_on_tap) == (Scale.BINARY, 2, True)


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"labels_per_response": "0"},
        {"scale": "STARS"},
        {"rollouts": ["7"]},
        {"n_at_most": "-1"},
        {"lease_minutes": "1"},
    ],
    ids=str,
)
def test_unusable_form_is_422(
    researcher_client: Client, benchmark: Benchmark, change: dict[str, Any]
) -> None:
    assert researcher_client.post(new_url(benchmark), filled(**change)).status_code == 422
    assert not Campaign.objects.exists()


def test_form_without_a_readable_response_says_so(researcher_client: Client) -> None:
    prompt = make_prompt()
    make_response(prompt=prompt, state="ERROR", text="", error="timeout")

    page = researcher_client.post(new_url(prompt.benchmark), filled())

    assert page.status_code == 422
    assert "No response with a text fits this choice" in page.content.decode()


def test_campaign_page_counts_agree_by_item_and_by_person(researcher_client: Client) -> None:
    desk = make_desk(n_items=4, n_annotators=2, labels_per_response=2)
    first, second = desk.annotators
    # The order of items is random for each person, so the first one reads all: whichever item the
    # second answers then has both its labels.
    for _ in range(4):
        answer(take(desk, first))
    answer(take(desk, second), Rating.UNACCEPTABLE)
    skip_item(assignment=take(desk, second), annotator=second, reason=SkipReason.UNCLEAR)
    take(desk, second)

    by_item = items_by_label_count(desk.campaign)
    items = item_progress(desk.campaign)
    people = annotator_progress(desk.campaign)
    html = researcher_client.get(url(desk.campaign)).content.decode()

    assert by_item == {1: 3, 2: 1}
    assert (items.n_items, items.n_labels, items.n_full) == (4, 5, 1)
    assert sum(n * n_items for n, n_items in by_item.items()) == sum(p.n_labelled for p in people) == 5
    assert {p.annotator: (p.n_labelled, p.n_skipped, p.n_open) for p in people} == {
        first: (4, 0, 0),
        second: (1, 1, 1),
    }
    assert "Labels: 5 · Annotators: 2" in html


@pytest.mark.parametrize("state", [CampaignState.PAUSED, CampaignState.CLOSED])
def test_campaign_is_paused_and_closed_by_button(researcher_client: Client, state: CampaignState) -> None:
    campaign = make_campaign()

    page = researcher_client.post(url(campaign, "campaign_state"), {"state": state})

    campaign.refresh_from_db()
    assert page.headers["Location"] == url(campaign)
    assert campaign.state == state


def test_closed_campaign_cannot_be_opened(researcher_client: Client) -> None:
    campaign = make_campaign(state=CampaignState.CLOSED)

    page = researcher_client.post(url(campaign, "campaign_state"), {"state": "OPEN"})

    assert page.status_code == 409
    assert "cannot become open" in page.content.decode()


def test_unknown_state_is_422(researcher_client: Client) -> None:
    page = researcher_client.post(url(make_campaign(), "campaign_state"), {"state": "LOST"})

    assert page.status_code == 422


def test_annotator_is_added_with_a_code(researcher_client: Client) -> None:
    campaign = make_campaign()
    account = make_account()

    researcher_client.post(
        url(campaign, "campaign_people"), {"account": account.pk, "annotator_type": "SPECIALIST"}
    )

    annotator = Annotator.objects.get()
    assert (annotator.account, annotator.annotator_type) == (account, AnnotatorType.SPECIALIST)
    assert annotator.code in researcher_client.get(url(campaign)).content.decode()


def test_researcher_is_not_offered_as_annotator(researcher_client: Client) -> None:
    campaign = make_campaign()
    colleague = make_account(role=Role.RESEARCHER)

    page = researcher_client.post(
        url(campaign, "campaign_people"), {"account": colleague.pk, "annotator_type": "PARENT"}
    )

    assert page.status_code == 422
    assert not Annotator.objects.exists()


def test_annotator_of_another_type_in_the_benchmark_is_409(researcher_client: Client) -> None:
    desk = make_desk()
    second = make_campaign(benchmark=desk.campaign.benchmark)

    page = researcher_client.post(
        url(second, "campaign_people"), {"account": desk.account.pk, "annotator_type": "SPECIALIST"}
    )

    assert page.status_code == 409
    assert "is already a parent" in page.content.decode()


PAGES = [("get", "campaign"), ("post", "campaign_state"), ("post", "campaign_people")]


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_page_for_nobody_leads_to_sign_in(method: str, name: str) -> None:
    page = getattr(Client(), method)(url(make_campaign(), name))

    assert page.status_code == 302
    assert page.headers["Location"].startswith(reverse("login"))


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_page_does_not_exist_for_annotators(annotator_client: Client, method: str, name: str) -> None:
    assert getattr(annotator_client, method)(url(make_campaign(), name)).status_code == 404


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_unknown_campaign_is_404(researcher_client: Client, method: str, name: str) -> None:
    path = reverse(f"annotation:{name}", kwargs={"campaign_id": "0123456789abcdef"})

    assert getattr(researcher_client, method)(path).status_code == 404


@pytest.mark.parametrize(("method", "name"), [("post", "campaign"), ("get", "campaign_state")])
def test_wrong_method_is_405(researcher_client: Client, method: str, name: str) -> None:
    assert getattr(researcher_client, method)(url(make_campaign(), name)).status_code == 405


def test_new_campaign_page_is_for_researchers(annotator_client: Client, benchmark: Benchmark) -> None:
    assert Client().get(new_url(benchmark)).status_code == 302
    assert annotator_client.get(new_url(benchmark)).status_code == 404


def test_new_campaign_page_of_an_unknown_benchmark_is_404(researcher_client: Client) -> None:
    path = reverse("annotation:campaign_new", kwargs={"slug": "nowhere"})

    assert researcher_client.get(path).status_code == 404


@pytest.mark.parametrize("n_annotators", [1, 6])
def test_campaign_page_asks_the_database_equally_often(
    researcher_client: Client, n_annotators: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    desk = make_desk(n_items=n_annotators, n_annotators=n_annotators, labels_per_response=2)
    for person in desk.annotators:
        answer(take(desk, person))

    with django_assert_num_queries(10):
        researcher_client.get(url(desk.campaign))


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "{{ 7*7 }}"])
def test_markup_in_a_name_is_shown_as_text(researcher_client: Client, text: str) -> None:
    html = researcher_client.get(url(make_campaign(name=text))).content.decode()

    assert "alert(1)</script>" not in html
    assert "49" not in html.split("<main", 1)[1].split("</bdi>", 1)[0]
