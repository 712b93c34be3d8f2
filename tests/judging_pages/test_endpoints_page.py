"""The page of the endpoints, and what a live pass says while it waits or stalls."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judging.models import EndpointGate, JudgePass
from tests.factories import make_attempt
from tests.judging_pages.study import Study
from tests.judging_pages.test_running import words_of
from tests.monitoring.running_passes import (
    ENDPOINT,
    in_seconds,
    make_loop,
    make_row,
    make_running_pass,
)
from tests.passes import stage

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _endpoints_file(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = stage.write_endpoints(
        tmp_path / "endpoints.toml", "http://127.0.0.1:9/v1", limits={"requests_per_minute": 600}
    ).read_text()
    settings.ENDPOINTS_FILE = tmp_path / "endpoints.toml"
    settings.ENDPOINTS_FILE.write_text(text.replace("local-0", ENDPOINT))
    monkeypatch.setenv(stage.KEY_VARIABLE, stage.MARKER_KEY)


def open_page(client: Client, study: Study) -> str:
    response = client.get(reverse("judging:endpoints", args=[study.benchmark.slug]))
    assert response.status_code == 200
    return response.content.decode()


def open_pass(client: Client, judge_pass: JudgePass) -> str:
    address = reverse("judging:pass", args=[judge_pass.benchmark.slug, judge_pass.public_id])
    return client.get(address).content.decode()


def test_the_page_opens_with_how_many_calls_were_answered(researcher_client: Client, study: Study) -> None:
    for outcome in ("ok", "ok", "ok", "rate_limited"):
        make_attempt(
            verdict=make_row(make_running_pass()), outcome=outcome, at=in_seconds(-9), latency_ms=210
        )
    make_loop(slots=5)

    words = words_of(open_page(researcher_client, study))

    assert re.search(
        r"1 of \d+ endpoints were called in the last hour; 75.0\s% of 4 calls were answered\.", words
    )
    assert "Rate limited" in words
    assert "worker-1" in words
    assert "alive" in words


def test_the_page_says_so_when_nothing_was_called(researcher_client: Client, study: Study) -> None:
    words = words_of(open_page(researcher_client, study))

    assert "No endpoint was called in the last hour." in words
    assert "Every endpoint" in words


def test_the_page_counts_the_endpoints_that_it_lists(researcher_client: Client, study: Study) -> None:
    """Also when the file offers every model of a preset elsewhere, so that the preset has none left."""
    make_attempt(verdict=make_row(make_running_pass()), outcome="ok", at=in_seconds(-9))

    page = open_page(researcher_client, study)

    _, *listed = page[page.index('id="reached"') :].partition("</table>")[0].split("<tbody>")[1].split("<tr")
    counted = re.search(r"1 of (\d+) endpoints were called", words_of(page))
    assert counted is not None
    assert int(counted[1]) == len(listed)


def test_the_page_says_until_when_an_endpoint_waits(researcher_client: Client, study: Study) -> None:
    until = in_seconds(1800)
    EndpointGate.objects.create(name=ENDPOINT, not_before=until)

    page = open_page(researcher_client, study)

    assert f'{ENDPOINT} waits until <time datetime="{until.isoformat(timespec="seconds")}"' in page


def test_the_page_names_the_keys_variable_and_never_the_key(researcher_client: Client, study: Study) -> None:
    page = open_page(researcher_client, study)

    assert f"{stage.KEY_VARIABLE} is set" in page
    assert stage.MARKER_KEY not in page


def test_the_page_shows_the_proxy_without_its_credentials(
    researcher_client: Client, study: Study, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.USES_ENVIRONMENT_PROXIES = True
    monkeypatch.setenv("http_proxy", "http://name:hidden@proxy:3128")
    monkeypatch.setenv("no_proxy", "")

    page = open_page(researcher_client, study)

    assert "127.0.0.1:9 through http://proxy:3128" in page
    assert "hidden@" not in page


def test_the_page_warns_of_an_endpoint_that_the_file_no_longer_names(
    researcher_client: Client, study: Study
) -> None:
    make_running_pass(endpoint="gone")

    assert "A running pass calls gone" in open_page(researcher_client, study)


def test_a_file_that_cannot_be_read_is_a_page_that_says_so(
    researcher_client: Client, study: Study, settings: Any, tmp_path: Path
) -> None:
    settings.ENDPOINTS_FILE = tmp_path / "missing.toml"

    response = researcher_client.get(reverse("judging:endpoints", args=[study.benchmark.slug]))

    assert response.status_code == 422
    assert "cannot be read" in response.content.decode()


def test_the_judges_page_leads_to_it(researcher_client: Client, study: Study) -> None:
    page = researcher_client.get(reverse("judging:judges", args=[study.benchmark.slug])).content.decode()

    assert reverse("judging:endpoints", args=[study.benchmark.slug]) in page


def test_a_live_pass_says_until_when_it_waits_for_the_provider(researcher_client: Client) -> None:
    until = in_seconds(1800)
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=until)

    page = open_pass(researcher_client, judge_pass)

    stamp = until.isoformat(timespec="seconds")
    assert f'Waiting for the provider until <time datetime="{stamp}" data-local="clock">' in page


def test_a_wait_of_days_is_told_with_its_date(researcher_client: Client) -> None:
    judge_pass = make_running_pass()
    make_row(judge_pass, not_before=in_seconds(200_000))

    page = open_pass(researcher_client, judge_pass)

    assert re.search('Waiting for the provider until <time datetime="[^"]*" data-local="moment">', page)


def test_a_live_pass_says_that_it_waits_for_a_dead_workers_slots(researcher_client: Client) -> None:
    judge_pass = make_running_pass(n_pending=1)
    make_loop(silent_s=50)

    assert "Waiting for a dead worker&#x27;s slots until" in open_pass(researcher_client, judge_pass)


def test_a_live_pass_that_nobody_works_on_asks_for_a_worker(researcher_client: Client) -> None:
    judge_pass = make_running_pass(n_pending=1)

    page = open_pass(researcher_client, judge_pass)

    assert f"Nothing has moved for a minute although calls are due at {ENDPOINT}." in page
    assert reverse("judging:endpoints", args=[judge_pass.benchmark.slug]) in page


def test_an_ended_pass_says_what_it_came_to_and_what_came_too_late(researcher_client: Client) -> None:
    judge_pass = make_running_pass(
        state="CANCELLED",
        configuration={"judges": {}, "worst_call_micros": 900},
        cost_settled_micros=1_250_000,
    )
    make_attempt(verdict=make_row(judge_pass, state="SCORED"))
    make_attempt(verdict=make_row(judge_pass, state="CANCELLED"), detail="late: no more its own")

    words = words_of(open_pass(researcher_client, judge_pass))

    assert "Calls 2 (1 too late to count)" in words
    assert "Spent 1.25" in words
