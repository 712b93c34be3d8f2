"""Collecting responses in the browser's terms: choose, check, start."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Benchmark
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import Generation, JudgePass
from tests.collecting import stage
from tests.collecting.conftest import _key  # noqa: F401
from tests.factories import make_prompt, make_response
from tests.judging_pages.collections import address
from tests.judging_pages.test_running import words_of

ASKED = {"models": ["model-a"], "rollouts": "2", "max_tokens": "100"}
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>{{ 7*7 }}"


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings()) as url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", url)
        yield url


@pytest.fixture
def dead_provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings(dead_key=True)) as url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", url)
        yield url


@pytest.fixture
def benchmark() -> Benchmark:
    return stage.make_prompts(3)


def test_form_offers_the_target_models_and_no_judge(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    page = researcher_client.get(address("collect", benchmark)).content.decode()

    assert "model-a (model-a at local)" in page
    assert "only-a-judge" not in page
    assert "each of the" in page


def test_a_link_brings_its_choices(researcher_client: Client, benchmark: Benchmark, provider: str) -> None:
    page = researcher_client.get(address("collect", benchmark), {"model": "model-b", "rollouts": "3"})

    form = page.context["form"]
    assert form.get_initial_for_field(form.fields["models"], "models") == ["model-b"]
    assert "9 calls" in words_of(page.content.decode())


@pytest.mark.parametrize("query", [{"model": "nobody"}, {"rollouts": "many"}, {"rollouts": "0"}])
def test_a_link_that_asks_for_what_there_is_not_says_so(
    researcher_client: Client, benchmark: Benchmark, provider: str, query: dict[str, str]
) -> None:
    answer = researcher_client.get(address("collect", benchmark), query)

    assert answer.status_code == 422
    assert "The address asks for what cannot be collected" in answer.content.decode()


def test_estimating_calls_nobody(researcher_client: Client, benchmark: Benchmark, dead_provider: str) -> None:
    answer = researcher_client.post(address("collect", benchmark), ASKED | {"step": "estimate"})

    page = words_of(answer.content.decode())
    assert answer.status_code == 200
    assert "6 calls when each is answered the first time" in page
    assert "at most 600 come back" in page
    assert "The cost is not known" in page
    assert not JudgePass.objects.exists()


def test_the_check_shows_who_answers_and_what_is_sent_and_starts_nothing(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    prompt = make_prompt(benchmark=benchmark, case_uid="markup", text=MARKUP)
    benchmark.prompts.exclude(pk=prompt.pk).delete()

    answer = researcher_client.post(
        address("collect", benchmark), ASKED | {"step": "check", "system_prompt": "You are\r\na kind helper."}
    )

    page = answer.content.decode()
    assert answer.status_code == 200
    assert "Every model answers" in page
    assert "answers, simulated" in page
    assert "&lt;script&gt;alert(2)&lt;/script&gt;{{ 7*7 }}" in page
    assert "You are\na kind helper." in page
    assert "The loopback provider answers here" in page
    assert 'value="start"' in page
    assert not JudgePass.objects.exists()


def test_the_check_of_a_dead_key_offers_no_start(
    researcher_client: Client, benchmark: Benchmark, dead_provider: str
) -> None:
    answer = researcher_client.post(address("collect", benchmark), ASKED | {"step": "check"})

    page = answer.content.decode()
    assert "HTTP 401" in page
    assert 'value="start"' not in page
    assert 'value="check"' in page


def test_the_choices_can_be_changed_after_the_check(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    answer = researcher_client.post(address("collect", benchmark), ASKED | {"step": "change"})

    assert answer.status_code == 200
    assert 'value="100"' in answer.content.decode()
    assert "Nothing was saved yet" not in answer.content.decode()


@pytest.mark.django_db(transaction=True)
def test_starting_makes_the_rows_and_leads_to_the_collection(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    answer = researcher_client.post(
        address("collect", benchmark), ASKED | {"step": "start", "temperature": "0.7"}
    )

    judge_pass = JudgePass.objects.get()
    assert answer.status_code == 302
    assert answer.headers["Location"] == address("collection", benchmark, judge_pass)
    assert Generation.objects.filter(judge_pass=judge_pass).count() == 6
    assert judge_pass.configuration["targets"]["model-a"]["parameters"]["temperature"] == 0.7
    assert judge_pass.created_by is not None


def test_starting_with_nothing_missing_says_so(
    researcher_client: Client, benchmark: Benchmark, provider: str
) -> None:
    model = make_response().target_model
    model.slug = "model-a"
    model.save()
    for prompt in benchmark.prompts.all():
        make_response(prompt=prompt, target_model=model, rollout=0)

    asked = ASKED | {"step": "start", "rollouts": "1"}
    answer = researcher_client.post(address("collect", benchmark), asked, follow=True)

    assert "Nothing was called" in answer.content.decode()
    assert not JudgePass.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"models": []},
        {"models": ["nobody"]},
        {"models": ["only-a-judge"]},
        {"rollouts": "0"},
        {"rollouts": ""},
        {"limit": "0"},
        {"max_tokens": "0"},
        {"temperature": "3"},
        {"temperature": "warm"},
        {"max_calls": "-1"},
        {"max_cost": "1"},
        {"system_prompt": "a\0b"},
    ],
    ids=str,
)
@pytest.mark.parametrize("step", ["check", "start"])
def test_choices_that_cannot_be_used_are_named_and_nothing_starts(
    researcher_client: Client, benchmark: Benchmark, provider: str, step: str, change: dict[str, Any]
) -> None:
    answer = researcher_client.post(address("collect", benchmark), ASKED | change | {"step": step})

    assert answer.status_code == 422
    assert "Nothing was saved yet" in answer.content.decode()
    assert not JudgePass.objects.exists()
