"""Roles beside annotator, researcher and admin: auditors read and change nothing, adjudicators decide."""

from collections.abc import Callable
from http import HTTPStatus

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse
from rest_framework.authtoken.models import Token

from annotation.accounts import create_token
from annotation.choices import CampaignState, Role
from annotation.models import Account, Benchmark
from annotation.permissions import View, adjudicator_required, reader_required, researcher_required
from tests.factories import make_account, make_benchmark, make_campaign

pytestmark = pytest.mark.django_db
TABS = ("data", "labels", "judges", "calibration", "results", "exports", "rows")


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return make_benchmark(slug="study")


@pytest.mark.parametrize("tab", TABS)
def test_auditor_reads_each_tab_and_is_told_so(
    auditor_client: Client, benchmark: Benchmark, tab: str
) -> None:
    page = auditor_client.get(reverse(f"judging:{tab}", args=[benchmark.slug]))

    assert page.status_code == HTTPStatus.OK
    assert "You read as an auditor" in page.content.decode()


def test_researcher_is_not_told_to_be_an_auditor(researcher_client: Client, benchmark: Benchmark) -> None:
    page = researcher_client.get(reverse("judging:data", args=[benchmark.slug]))

    assert "auditor" not in page.content.decode()


@pytest.mark.parametrize(
    ("name", "slug"),
    [("upload", "study"), ("start_pass", "study"), ("adopt_rule", "study"), ("new_rubric", "study")],
)
def test_auditor_changes_nothing_by_a_form(
    auditor_client: Client, benchmark: Benchmark, name: str, slug: str
) -> None:
    assert auditor_client.post(reverse(f"judging:{name}", args=[slug])).status_code == HTTPStatus.FORBIDDEN


def test_auditor_does_not_pause_a_campaign(auditor_client: Client, benchmark: Benchmark) -> None:
    campaign = make_campaign(benchmark=benchmark)

    page = auditor_client.post(
        reverse("annotation:campaign_state", args=[campaign.public_id]), {"state": "PAUSED"}
    )

    campaign.refresh_from_db()
    assert (page.status_code, campaign.state) == (HTTPStatus.FORBIDDEN, CampaignState.OPEN)


def test_auditor_starts_at_the_benchmarks(auditor_client: Client) -> None:
    assert auditor_client.get("/").headers["Location"] == reverse("judging:home")


def test_auditors_script_reads_the_api_and_writes_nothing(auditor: Account, benchmark: Benchmark) -> None:
    headers = {"Authorization": f"Token {create_token(auditor)}"}

    read = Client().get("/api/v1/benchmarks/", headers=headers)
    written = Client().post("/api/v1/rubrics/", {}, headers=headers)

    assert [row["slug"] for row in read.json()["results"]] == ["study"]
    assert written.status_code == HTTPStatus.FORBIDDEN
    assert Token.objects.get().user == auditor


@pytest.mark.parametrize(
    ("role", "page", "reads", "acts"),
    [
        (Role.ADMIN, researcher_required, 200, 200),
        (Role.RESEARCHER, researcher_required, 200, 200),
        (Role.AUDITOR, researcher_required, 404, 404),
        (Role.ADJUDICATOR, researcher_required, 404, 404),
        (Role.ANNOTATOR, researcher_required, 404, 404),
        (Role.RESEARCHER, reader_required, 200, 200),
        (Role.AUDITOR, reader_required, 200, 403),
        (Role.ADJUDICATOR, reader_required, 404, 404),
        (Role.ANNOTATOR, reader_required, 404, 404),
        (Role.RESEARCHER, adjudicator_required, 200, 200),
        (Role.AUDITOR, adjudicator_required, 200, 403),
        (Role.ADJUDICATOR, adjudicator_required, 200, 200),
        (Role.ANNOTATOR, adjudicator_required, 404, 404),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_role_opens_what_it_may(
    rf: RequestFactory, role: Role, page: Callable[[View], View], reads: int, acts: int
) -> None:
    account = make_account(role=role)

    assert (status_of(page, rf.get("/"), account), status_of(page, rf.post("/"), account)) == (reads, acts)


def status_of(page: Callable[[View], View], request: HttpRequest, account: Account) -> int:
    """Status of a page under the decorator, as the handler would answer."""
    request.user = account
    try:
        return page(lambda request: HttpResponse())(request).status_code
    except Http404:
        return HTTPStatus.NOT_FOUND
    except PermissionDenied:
        return HTTPStatus.FORBIDDEN
