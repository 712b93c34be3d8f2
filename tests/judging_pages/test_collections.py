"""A collection in the browser's terms: watched, steered, listed, and open to nobody else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Benchmark
from judging.choices import PassState, PauseReason
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import Generation
from tests.collecting import stage
from tests.collecting.conftest import _key  # noqa: F401
from tests.factories import make_response, make_target_model
from tests.judging_pages.collections import address, make_collection, make_rows
from tests.judging_pages.study import Study
from tests.judging_pages.test_running import words_of


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings()) as url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", url)
        yield url


@pytest.fixture
def benchmark() -> Benchmark:
    return stage.make_prompts(3)


def test_page_of_a_collection_shows_states_failures_and_what_was_asked(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    judge_pass = make_collection(benchmark)
    make_rows(judge_pass, "COLLECTED", "COLLECTED", "TRUNCATED", "CALL_FAILED", "PENDING")

    answer = researcher_client.get(address("collection", benchmark, judge_pass))

    page = words_of(answer.content.decode())
    assert "collection-1 is running: 2 of 5 responses have come in complete, and 2 otherwise." in page
    assert "Answer cut off" in page
    assert "timed out" in page
    assert "33.3" in page
    assert "No system prompt" in page
    assert "the provider" in page


def test_page_of_a_collection_is_watched_under_its_own_address(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    judge_pass = make_collection(benchmark)
    make_rows(judge_pass, "PENDING")
    where = address("collection", benchmark, judge_pass)

    answer = researcher_client.get(where, {"seen": "RUNNING"})
    moved = researcher_client.get(where, {"seen": "PAUSED"})

    assert f'hx-get="{where}?seen=RUNNING"' in answer.content.decode()
    assert "HX-Refresh" not in answer.headers
    assert moved.headers["HX-Refresh"] == "true"


def test_a_collection_is_paused_and_cancelled_like_any_pass(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    judge_pass = make_collection(benchmark)
    make_rows(judge_pass, "PENDING")

    paused = researcher_client.post(address("pause_pass", benchmark, judge_pass))
    judge_pass.refresh_from_db()
    reason = judge_pass.pause_reason
    researcher_client.post(address("cancel_pass", benchmark, judge_pass))

    judge_pass.refresh_from_db()
    assert paused.headers["Location"] == address("collection", benchmark, judge_pass)
    assert (reason, judge_pass.state) == (PauseReason.USER, PassState.CANCELLED)
    assert Generation.objects.get().state == "CANCELLED"


def test_a_collection_at_its_budget_is_resumed_with_a_higher_cap(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    judge_pass = make_collection(
        benchmark,
        state=PassState.PAUSED,
        pause_reason=PauseReason.BUDGET,
        max_calls=1,
        n_calls_reserved=1,
    )
    judge_pass.configuration["targets"]["model-a"]["base_url"] = provider
    judge_pass.save()

    page = researcher_client.get(address("collection", benchmark, judge_pass)).content.decode()
    researcher_client.post(address("resume_pass", benchmark, judge_pass), {"max_calls": "9"})

    judge_pass.refresh_from_db()
    assert 'name="max_calls"' in page
    assert (judge_pass.state, judge_pass.max_calls) == (PassState.RUNNING, 9)


def test_the_address_of_a_pass_leads_to_the_collection(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    judge_pass = make_collection(benchmark)

    answer = researcher_client.get(address("pass", benchmark, judge_pass))

    assert answer.headers["Location"] == address("collection", benchmark, judge_pass)


def test_a_judging_pass_has_no_page_as_a_collection(researcher_client: Client, study: Study) -> None:
    where = address("collection", study.benchmark, study.judge_pass)

    assert researcher_client.get(where).status_code == 404


def test_collections_are_listed_under_data_and_not_among_the_judging_passes(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    judge_pass = make_collection(benchmark)

    data = researcher_client.get(address("data", benchmark)).content.decode()
    judges = researcher_client.get(address("judges", benchmark)).content.decode()

    assert address("collection", benchmark, judge_pass) in data
    assert "collection-1" not in judges


def test_data_page_says_what_is_missing_and_links_to_collecting_it(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    first, second, _ = benchmark.prompts.order_by("pk")
    offered, other = make_target_model(slug="model-a"), make_target_model(slug="model-z")
    make_response(prompt=first, target_model=offered, rollout=1)
    make_response(prompt=second, target_model=offered, rollout=0, state="ERROR", text="", error="timeout")
    make_response(prompt=first, target_model=other)

    page = researcher_client.get(address("data", benchmark)).content.decode()

    # Three prompts in two rollouts, one of them answered and one failed; three in one rollout.
    link = f"{address('collect', benchmark)}?model=model-a&amp;rollouts=2"
    assert re.search(rf'<a href="{re.escape(link)}">\s*<data value="5">', page)
    assert "collect/?model=model-z" not in page


def test_page_of_a_collected_response_says_how_it_was_made(
    researcher_client: Client, benchmark: Benchmark
) -> None:
    response = make_response(
        prompt=benchmark.prompts.first(),
        finish_reason="stop",
        n_tokens=1_234,
        tokens_source="PROVIDER",
        settings={
            "pass": "0" * 16,
            "endpoint": "local",
            "model_id": "model-a-2026",
            "parameters": {"max_tokens": 100, "temperature": 0.7},
            "system_prompt_sha256": None,
            "is_refusal": True,
            "is_simulated": True,
        },
    )
    where = reverse("judging:response", args=[benchmark.slug, response.public_id])

    page = words_of(researcher_client.get(where).content.decode())

    assert "model-a-2026 at local" in page
    assert "max_tokens 100, temperature 0.7" in page
    assert "1,234 tokens, counted by the provider" in page
    assert "made up by the loopback provider" in page
    assert "as a refusal" in page


@pytest.mark.parametrize("name", ["collect", "collection"])
def test_pages_are_for_researchers(
    annotator_client: Client, client: Client, benchmark: Benchmark, provider: str, name: str
) -> None:
    where = address(name, benchmark, make_collection(benchmark) if name == "collection" else None)

    assert annotator_client.get(where).status_code == 404
    assert client.get(where).status_code == 302


def test_pages_of_another_benchmark_and_wrong_methods(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    elsewhere = make_collection(stage.make_prompts(0))
    here = make_collection(benchmark)

    assert researcher_client.get(address("collection", benchmark, elsewhere)).status_code == 404
    assert researcher_client.post(address("collection", benchmark, here)).status_code == 405
    assert researcher_client.put(address("collect", benchmark)).status_code == 405


def test_page_of_a_collection_needs_the_same_queries_however_much_there_is(
    researcher_client: Client, benchmark: Benchmark, django_assert_num_queries: Any
) -> None:
    small, large = make_collection(benchmark), make_collection(stage.make_prompts(0))
    make_rows(small, "COLLECTED", "PENDING")
    make_rows(large, *["COLLECTED"] * 10, *["CALL_FAILED"] * 5, *["PENDING"] * 5)
    with CaptureQueriesContext(connection) as queries:
        researcher_client.get(address("collection", benchmark, small))

    with django_assert_num_queries(len(queries)):
        researcher_client.get(address("collection", large.benchmark, large))
