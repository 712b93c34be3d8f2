"""Collections for the page tests, and where their pages are."""

from typing import Any

from django.urls import reverse

from annotation.models import Benchmark
from judging.choices import PassState
from judging.models import Generation, JudgePass
from tests.factories import make_generation, make_pass, make_prompt, make_response


def address(name: str, benchmark: Benchmark, judge_pass: JudgePass | None = None) -> str:
    kwargs = {"slug": benchmark.slug}
    if judge_pass is not None:
        kwargs["public_id"] = judge_pass.public_id
    return reverse(f"judging:{name}", kwargs=kwargs)


def make_collection(benchmark: Benchmark, **values: Any) -> JudgePass:
    """A running collection of one model, without rows."""
    target: dict[str, Any] = {"endpoint": "local", "base_url": "http://127.0.0.1:9/v1", "model_id": "model-a"}
    target |= {"parameters": {"temperature": None, "max_tokens": 100}}
    defaults: dict[str, Any] = {
        "name": "collection-1",
        "kind": "COLLECTION",
        "scale": "TEXT",
        "state": PassState.RUNNING,
        "configuration": {
            "targets": {"model-a": target},
            "system_prompt": None,
            "system_prompt_sha256": None,
            "rollouts": 1,
            "n_prompts": 3,
        },
    }
    return make_pass(benchmark=benchmark, **(defaults | values))


def make_rows(judge_pass: JudgePass, *states: str) -> list[Generation]:
    """A row in each of the states, all of one model."""
    model = make_response().target_model
    return [
        make_generation(
            judge_pass=judge_pass,
            prompt=make_prompt(benchmark=judge_pass.benchmark),
            target_model=model,
            state=state,
        )
        for state in states
    ]
