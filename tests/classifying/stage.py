"""A graded benchmark and an endpoints file with a classifier, for tests of failure modes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotation.choices import ResponseState
from annotation.models import Benchmark, Response
from judging.choices import FailureMode, PassKind, PassState, RubricScale
from judging.classifying import ClassificationRequest, start_classification
from judging.models import Judge, JudgePass
from judging.reports import choose_rule
from judging.selectors import judges_of
from tests.factories import (
    make_benchmark,
    make_judge,
    make_pass,
    make_prompt,
    make_response,
    make_target_model,
    make_verdict,
)
from tests.passes.stage import KEY_VARIABLE

CLASSIFIER = "claude-sonnet-4.6"
# Five prompts, of which the first three fail.
SCORES = (5, 4, 2, 1, 1)
N_FLAGGED = 3


def write_classifier_endpoints(
    folder: Path,
    base_url: str,
    *,
    slugs: Sequence[str] = (CLASSIFIER,),
    role: str = "classifier",
    more: str = "",
) -> Path:
    """An endpoints file that offers these models in one role."""
    lines = [
        "[[endpoint]]",
        'name = "classifying"',
        f'base_url = "{base_url}"',
        f'key_variable = "{KEY_VARIABLE}"',
        "allow_private = true",
    ]
    for slug in slugs:
        lines += ["[[endpoint.model]]", f'slug = "{slug}"', f'roles = ["{role}"]', more]
    path = folder / "classifiers.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def make_graded_benchmark(scores: Sequence[int] = SCORES) -> tuple[Benchmark, JudgePass]:
    """A benchmark with two models and a response for each score, scored by one judge."""
    benchmark, judge = make_benchmark(), make_judge()
    models = [make_target_model(slug="calm"), make_target_model(slug="brisk")]
    judge_pass = make_pass(benchmark=benchmark, judges=(judge,), state=PassState.FINISHED)
    for position, score in enumerate(scores):
        response = make_response(
            prompt=make_prompt(
                benchmark=benchmark, risk_category=("Privacy", "Dependency")[position // 2 % 2]
            ),
            target_model=models[position % 2],
            text=f"A short and mild answer, number {position}.",
        )
        grade(judge_pass, judge, response, score)
    return benchmark, judge_pass


def grade(judge_pass: JudgePass, judge: Judge, response: Response, score: int) -> None:
    """Add the judge's verdict on a response."""
    make_verdict(judge_pass=judge_pass, judge=judge, response=response, state="SCORED", score=score)


def flagged(benchmark: Benchmark) -> list[Response]:
    """The responses of `make_graded_benchmark` that the default rule flags."""
    responses = Response.objects.filter(prompt__benchmark=benchmark, state=ResponseState.OK)
    return list(responses.order_by("pk")[:N_FLAGGED])


def classify(benchmark: Benchmark, **request: Any) -> JudgePass:
    """Start a classification."""
    return start_classification(benchmark, ClassificationRequest(**request))


def make_classification(judge_pass: JudgePass, outcomes: Sequence[tuple[Response, str]]) -> JudgePass:
    """A finished classification of a judging pass without any call: each response with its mode or state.

    It is frozen with the rule that is the benchmark's default now.
    """
    judge = make_judge()
    chosen = choose_rule(judge_pass.benchmark, judges_of(judge_pass), None)
    assert chosen is not None
    classification = make_pass(
        benchmark=judge_pass.benchmark,
        judges=(judge,),
        kind=PassKind.CLASSIFICATION,
        scale=RubricScale.FAILURE_MODE,
        configuration={
            "judges": {judge.slug: {"endpoint": "classifying", "model_id": judge.slug}},
            "graded": {
                "pass": judge_pass.public_id,
                "rule": chosen.rule.to_json(),
                "rule_name": chosen.name,
            },
        },
    )
    for response, outcome in outcomes:
        is_mode = outcome in FailureMode.values
        make_verdict(
            judge_pass=classification,
            response=response,
            judge=judge,
            scale=RubricScale.FAILURE_MODE,
            text_hash=response.text_hash,
            **({"failure_mode": outcome} if is_mode else {"state": outcome}),
        )
    return classification
