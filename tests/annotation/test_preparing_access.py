"""Who reaches the steps in which a campaign is prepared, by which method, at what cost."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.choices import CampaignState, Role
from annotation.models import Benchmark, Campaign
from tests.annotation.preparing_desk import LABELS, PACE, TEXTS, make_material, make_ready_draft, new_url, url
from tests.conftest import signed_in
from tests.factories import make_account, make_item, make_prompt, make_response

pytestmark = pytest.mark.django_db

STEPS = [
    "campaign_responses",
    "campaign_labels",
    "campaign_texts",
    "campaign_pace",
    "campaign_known",
    "campaign_check",
]
FORMS = ["campaign_responses", "campaign_labels", "campaign_texts", "campaign_pace"]
ACTS = ["ask_again", "pass_mark", "campaign_discard"]
PAGES = [("get", name) for name in STEPS] + [("post", name) for name in [*FORMS, *ACTS]]


@pytest.fixture
def benchmark() -> Benchmark:
    return make_material()


@pytest.fixture
def draft(benchmark: Benchmark) -> Campaign:
    return make_ready_draft(benchmark)


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_step_for_nobody_leads_to_sign_in(draft: Campaign, method: str, name: str) -> None:
    page = getattr(Client(), method)(url(draft, name))

    assert page.status_code == 302
    assert page.headers["Location"].startswith(reverse("login"))


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_step_does_not_exist_for_annotators(
    annotator_client: Client, draft: Campaign, method: str, name: str
) -> None:
    assert getattr(annotator_client, method)(url(draft, name)).status_code == 404


@pytest.mark.parametrize(("method", "name"), PAGES)
def test_step_of_an_unknown_campaign_is_404(researcher_client: Client, method: str, name: str) -> None:
    path = reverse(f"annotation:{name}", kwargs={"campaign_id": "0123456789abcdef"})

    assert getattr(researcher_client, method)(path).status_code == 404


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("state", CampaignState)
def test_auditor_reads_every_step_in_every_state(draft: Campaign, name: str, state: CampaignState) -> None:
    Campaign.objects.update(state=state)

    assert signed_in(make_account(role=Role.AUDITOR)).get(url(draft, name)).status_code == 200


@pytest.mark.parametrize("name", [*FORMS, *ACTS])
def test_auditor_changes_nothing(draft: Campaign, name: str) -> None:
    page = signed_in(make_account(role=Role.AUDITOR)).post(url(draft, name), LABELS | TEXTS | PACE)

    assert page.status_code == 403
    assert Campaign.objects.filter(state=CampaignState.DRAFT).exists()


@pytest.mark.parametrize(
    ("method", "name"),
    [("put", name) for name in FORMS]
    + [("post", "campaign_known"), ("post", "campaign_check")]
    + [("get", name) for name in ACTS],
)
def test_step_by_another_method_is_405(
    researcher_client: Client, draft: Campaign, method: str, name: str
) -> None:
    assert getattr(researcher_client, method)(url(draft, name)).status_code == 405


def test_response_of_another_benchmark_cannot_be_placed(researcher_client: Client, draft: Campaign) -> None:
    path = url(draft, "place", response_id=make_response().public_id)

    assert researcher_client.post(path).status_code == 404
    assert researcher_client.get(path).status_code == 405
    assert Client().post(path).status_code == 302


def test_new_campaign_page_is_for_researchers(annotator_client: Client, benchmark: Benchmark) -> None:
    assert Client().get(new_url(benchmark)).status_code == 302
    assert annotator_client.get(new_url(benchmark)).status_code == 404


def test_new_campaign_page_of_an_unknown_benchmark_is_404(researcher_client: Client) -> None:
    path = reverse("annotation:campaign_new", kwargs={"slug": "nowhere"})

    assert researcher_client.get(path).status_code == 404


@pytest.mark.parametrize("n_more", [1, 6])
@pytest.mark.parametrize(
    ("name", "n_queries"),
    [
        ("campaign_responses", 7),
        ("campaign_labels", 5),
        ("campaign_texts", 6),
        ("campaign_pace", 8),
        ("campaign_known", 10),
        ("campaign_check", 10),
    ],
)
def test_step_asks_the_database_equally_often(
    researcher_client: Client,
    draft: Campaign,
    name: str,
    n_queries: int,
    n_more: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(n_more):
        prompt = make_prompt(benchmark=draft.benchmark, risk_category=f"Category {number}")
        make_item(campaign=draft, response=make_response(prompt=prompt))

    with django_assert_num_queries(n_queries):
        researcher_client.get(url(draft, name))
