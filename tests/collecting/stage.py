"""Prompts, target models and collections for tests that really call the loopback provider."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.models import Benchmark, Response
from judging.collecting.planning import CollectionRequest
from judging.collecting.starting import start_collection
from judging.foreground import judge_until_done
from judging.models import Generation, JudgePass
from tests.factories import make_benchmark, make_prompt

MODELS = ("model-a", "model-b")
KEY_VARIABLE = "CAREBENCH_TEST_KEY"


def write_endpoints(
    path: Path,
    base_url: str,
    *,
    models: Sequence[str] = MODELS,
    prices: tuple[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    key_variable: str | None = KEY_VARIABLE,
) -> Path:
    """An endpoints file with one endpoint for all target models, and one judge that is no target."""
    lines = [
        "[[endpoint]]",
        'name = "local"',
        f'base_url = "{base_url}"',
        *([f'key_variable = "{key_variable}"'] if key_variable else []),
        "allow_private = true",
        *(f"{name} = {value}" for name, value in ({"max_in_flight": 8} | dict(limits or {})).items()),
    ]
    for slug, role in (*((model, "target") for model in models), ("only-a-judge", "judge")):
        lines += ["[[endpoint.model]]", f'slug = "{slug}"', f'roles = ["{role}"]', 'family = "Local"']
        if prices is not None:
            lines += [f'price_in = "{prices[0]}"', f'price_out = "{prices[1]}"']
    path.write_text("\n".join(lines) + "\n")
    return path


def make_prompts(n: int, **values: Any) -> Benchmark:
    """A benchmark of `n` prompts without a response."""
    benchmark = make_benchmark(**values)
    for _ in range(n):
        make_prompt(benchmark=benchmark)
    return benchmark


def start(benchmark: Benchmark, **request: Any) -> JudgePass:
    """Start a collection of one model and one rollout, unless told otherwise."""
    started = start_collection(benchmark, CollectionRequest(**{"models": MODELS[:1], **request}))
    assert started.judge_pass is not None
    return started.judge_pass


def collect(benchmark: Benchmark, **request: Any) -> JudgePass:
    """Collect in this process until the pass is no longer running."""
    return judge_until_done(start(benchmark, **request), interval_s=0.02)


def states(judge_pass: JudgePass) -> Mapping[str, int]:
    """How many rows stand in which state."""
    return Counter(Generation.objects.filter(judge_pass=judge_pass).values_list("state", flat=True))


def responses_of(benchmark: Benchmark) -> list[Response]:
    """Its responses in the order of prompts, models and rollouts."""
    found = Response.objects.filter(prompt__benchmark=benchmark)
    return list(found.order_by("prompt_id", "target_model__slug", "rollout"))
