"""Passes with structured output, by every rubric that ships, also where the model refuses the schema."""

from typing import Any

import pytest

from judging.llm.rubric import load_bundled_rubric, parse_rubric
from judging.llm.structured import structured_format
from judging.models import Judge, JudgePass, Verdict, VerdictAttempt
from tests.passes import stage
from tests.verdicts.conftest import Provide

pytestmark = pytest.mark.django_db(transaction=True)


def scores_of(judge_pass: JudgePass) -> list[tuple[int | None, int | None]]:
    return list(judge_pass.verdicts.order_by("response_id").values_list("score", "jailbreak_score"))


def answered() -> list[dict[str, Any]]:
    return [one.parameters or {} for one in VerdictAttempt.objects.filter(outcome="ok")]


@pytest.mark.parametrize("rubric", ["likert-v1", "likert-single-v1", "binary-v1"])
def test_a_structured_pass_sends_the_rubrics_schema_and_scores_every_row(
    provide: Provide, rubric: str
) -> None:
    benchmark = stage.make_material(6)

    with provide():
        judge_pass = stage.judge(stage.start(benchmark, rubric=rubric, output="structured"))

    schema = structured_format(parse_rubric(load_bundled_rubric(rubric)))
    assert stage.states(judge_pass) == {"SCORED": 6}
    assert [parameters["response_format"] for parameters in answered()] == [schema] * 6
    assert all((row.raw_text or "").startswith("{") for row in Verdict.objects.all())


def test_a_refused_schema_is_learned_and_the_rows_are_scored_in_text(provide: Provide) -> None:
    benchmark = stage.make_material(12)
    with provide():
        in_text = stage.judge(stage.start(benchmark))

    with provide(rejects=("response_format",)):
        fallen_back = stage.judge(stage.start(benchmark, output="structured"))

    assert stage.states(fallen_back) == {"SCORED": 12}
    assert scores_of(fallen_back) == scores_of(in_text)
    assert Judge.objects.get(slug=stage.JUDGES[0]).capabilities["structured"] is False
    assert not any("response_format" in parameters for parameters in answered())
    assert VerdictAttempt.objects.filter(outcome="bad_request").count() <= 5
