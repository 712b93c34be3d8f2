"""A benchmark, an endpoints file and passes for tests that really call the loopback provider."""

import json
import urllib.request
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.choices import ItemKind, Rating
from annotation.models import Benchmark, Response
from judging.foreground import judge_until_done
from judging.models import JudgePass, Verdict
from judging.passes.starting import PassRequest, start_pass
from tests.factories import (
    make_annotator,
    make_benchmark,
    make_campaign,
    make_item,
    make_label,
    make_prompt,
    make_response,
    make_target_model,
)

JUDGES = ("gemini-3.1-pro", "gpt-5.4", "claude-opus-4.6")
KEY_VARIABLE = "CAREBENCH_TEST_KEY"
MARKER_KEY = "marker-key-4711"


def write_endpoints(
    path: Path,
    base_url: str,
    *,
    judges: Sequence[str] = JUDGES[:1],
    separate: bool = False,
    prices: tuple[str, str] | None = None,
    limits: Mapping[str, int] | None = None,
    key_variable: str | None = KEY_VARIABLE,
) -> Path:
    """An endpoints file with one endpoint for all judges, or one for each when `separate`."""
    groups = [[judge] for judge in judges] if separate else [list(judges)]
    lines = []
    for n, group in enumerate(groups):
        lines += [
            "[[endpoint]]",
            f'name = "local-{n}"',
            f'base_url = "{base_url}"',
            *([f'key_variable = "{key_variable}"'] if key_variable else []),
            "allow_private = true",
            *(f"{name} = {value}" for name, value in ({"max_in_flight": 8} | dict(limits or {})).items()),
        ]
        for judge in group:
            lines += ["[[endpoint.model]]", f'slug = "{judge}"', f'model_id = "{judge}"', 'roles = ["judge"]']
            if prices is not None:
                lines += [f'price_in = "{prices[0]}"', f'price_out = "{prices[1]}"']
    path.write_text("\n".join(lines) + "\n")
    return path


def make_material(n: int, *, n_labelled: int = 0) -> Benchmark:
    """A benchmark of `n` prompts with a response each; the first ones have labels of both kinds by turns."""
    benchmark, model = make_benchmark(), make_target_model()
    responses = [make_response(prompt=make_prompt(benchmark=benchmark), target_model=model) for _ in range(n)]
    if n_labelled:
        campaign, annotator = make_campaign(benchmark=benchmark), make_annotator(benchmark=benchmark)
        for position, response in enumerate(responses[:n_labelled]):
            item = make_item(campaign=campaign, response=response, kind=ItemKind.REGULAR)
            rating = Rating.UNACCEPTABLE if position % 2 else Rating.ACCEPTABLE
            make_label(item=item, annotator=annotator, rating=rating)
    return benchmark


def start(benchmark: Benchmark, **request: Any) -> JudgePass:
    """Start a pass of one judge and zero shots, unless told otherwise."""
    return start_pass(benchmark, PassRequest(**{"judges": JUDGES[:1], "rubric": "likert-v1", **request}))


def judge(judge_pass: JudgePass) -> JudgePass:
    """Judge in this process until the pass is no longer running."""
    return judge_until_done(judge_pass, interval_s=0.02)


def states(judge_pass: JudgePass) -> Mapping[str, int]:
    """How many rows stand in which state."""
    return Counter(Verdict.objects.filter(judge_pass=judge_pass).values_list("state", flat=True))


def stats(base_url: str) -> dict[str, Any]:
    """What the provider counted."""
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats", timeout=5) as reply:
        return dict(json.load(reply))


def port_of(base_url: str) -> int:
    """The port of a provider, so that the next one can stand at the same address."""
    return int(base_url.removesuffix("/v1").rpartition(":")[2])


def first_response(benchmark: Benchmark) -> Response:
    return Response.objects.filter(prompt__benchmark=benchmark).order_by("pk").first() or make_response()


def add_embedder(path: Path, *, price: str | None = None, dimensions: int | None = None) -> str:
    """Let the file's last endpoint offer the embedder `vectors`; gives its slug."""
    lines = [
        "[[endpoint.model]]",
        'slug = "vectors"',
        'model_id = "simulated-vectors"',
        'roles = ["embedder"]',
    ]
    lines += [f'price_in = "{price}"'] if price is not None else []
    lines += [f"dimensions = {dimensions}"] if dimensions is not None else []
    with path.open("a") as file:
        file.write("\n".join(lines) + "\n")
    return "vectors"
