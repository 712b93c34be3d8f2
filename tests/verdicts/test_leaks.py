"""Leaks planted in stored rows: no kind of them reaches a provider, and each row says why."""

from collections.abc import Callable
from typing import Any

import pytest

from annotation.models import Benchmark, Response
from judging.models import JudgePass, Verdict
from tests.factories import make_prompt, make_response
from tests.passes import stage
from tests.verdicts.conftest import Provide

pytestmark = pytest.mark.django_db(transaction=True)


def itself(judged: Response) -> dict[str, Any]:
    return {"response": judged.pk, "similarity": 0.5}


def same_case(judged: Response) -> dict[str, Any]:
    sibling = make_response(prompt=judged.prompt, text="Another answer to the same prompt.")
    return {"response": sibling.pk, "similarity": 0.5}


def same_text(judged: Response) -> dict[str, Any]:
    prompt = make_prompt(benchmark=judged.prompt.benchmark, text=judged.prompt.text)
    copy = make_response(prompt=prompt, text=judged.text)
    return {"response": copy.pk, "similarity": 0.5}


def same_text_disguised(judged: Response) -> dict[str, Any]:
    prompt = make_prompt(benchmark=judged.prompt.benchmark, text=judged.prompt.text.upper())
    copy = make_response(prompt=prompt, text=judged.text.replace(" ", " \u200b "))
    return {"response": copy.pk, "similarity": 0.5}


def near_copy(judged: Response) -> dict[str, Any]:
    prompt = make_prompt(benchmark=judged.prompt.benchmark)
    return {"response": make_response(prompt=prompt).pk, "similarity": 0.98}


def of_another_benchmark(judged: Response) -> dict[str, Any]:
    return {"response": make_response().pk, "similarity": 0.5}


def not_stored(judged: Response) -> dict[str, Any]:
    return {"response": 10**9, "similarity": 0.5}


LEAKS = [
    pytest.param(itself, "is the judged response itself", id="itself"),
    pytest.param(same_case, "answers the same case as the judged response", id="same case"),
    pytest.param(same_text, "has the text of the judged case under another id", id="same text"),
    pytest.param(same_text_disguised, "has the text of the judged case under another id", id="disguised"),
    pytest.param(near_copy, "has the similarity 0.98 to the judged response", id="near copy"),
    pytest.param(of_another_benchmark, "is no response of the pool", id="another benchmark"),
    pytest.param(not_stored, "is no response of the pool", id="not stored"),
]


def plant(benchmark: Benchmark, judge_pass: JudgePass, leak: Callable[[Response], dict[str, Any]]) -> Verdict:
    """Put a leak among the good exemplars of the pass's first row."""
    verdict = Verdict.objects.filter(judge_pass=judge_pass).order_by("pk")[0]
    planted = {**leak(verdict.response), "unacceptable": False}
    Verdict.objects.filter(pk=verdict.pk).update(exemplars=[*(verdict.exemplars or []), planted])
    return verdict


@pytest.mark.parametrize(("leak", "reason"), LEAKS)
def test_a_planted_leak_fails_its_row_with_the_reason_and_is_never_sent(
    provide: Provide, leak: Callable[[Response], dict[str, Any]], reason: str
) -> None:
    benchmark = stage.make_material(6, n_labelled=6)
    with provide() as base_url:
        judge_pass = stage.start(benchmark, shots=1)
        leaking = plant(benchmark, judge_pass, leak)

        stage.judge(judge_pass)
        stats = stage.stats(base_url)

    leaking.refresh_from_db()
    judge_pass.refresh_from_db()
    assert (leaking.state, leaking.skip_code) == ("SKIPPED", "EXEMPLAR_LEAK")
    assert reason in leaking.detail
    assert not leaking.attempts.exists()
    assert stage.states(judge_pass) == {"SCORED": 5, "SKIPPED": 1}
    assert stats["calls"] == judge_pass.n_calls_reserved == 5


def test_the_same_case_may_be_shown_where_the_pass_leaves_out_the_response_alone(provide: Provide) -> None:
    benchmark = stage.make_material(6, n_labelled=6)
    with provide():
        judge_pass = stage.start(benchmark, shots=1, exclusion="response")
        plant(benchmark, judge_pass, same_case)

        stage.judge(judge_pass)

    assert stage.states(judge_pass) == {"SCORED": 6}


def test_the_frozen_limit_of_similarity_holds(provide: Provide) -> None:
    benchmark = stage.make_material(6, n_labelled=6)
    with provide():
        judge_pass = stage.start(benchmark, shots=1)
        judge_pass.configuration["pool"]["max_similarity"] = 0.4
        judge_pass.save()
        plant(benchmark, judge_pass, lambda judged: {**near_copy(judged), "similarity": 0.4})

        stage.judge(judge_pass)

    assert Verdict.objects.order_by("pk")[0].skip_code == "EXEMPLAR_LEAK"
