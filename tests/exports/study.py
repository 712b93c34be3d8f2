"""A small benchmark with every kind of row that an export must tell apart."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from annotation.choices import AnnotatorType, ItemKind, LabelAction, Rating, ResponseState
from annotation.models import Annotator, Benchmark, Campaign, Response
from judging.choices import FailureCode, PassSource, VerdictState
from judging.models import JudgePass
from judging.stats.rules import PUBLISHED_WEIGHTS
from tests.factories import (
    make_annotator,
    make_benchmark,
    make_campaign,
    make_item,
    make_judge,
    make_label,
    make_pass,
    make_prompt,
    make_response,
    make_target_model,
    make_verdict,
)

CANARY = "canary 00000000-0000-4000-8000-000000000001"
# Scores of Gemini, GPT and Opus by response; the weighted mean of the third is exactly 1.8.
SCORES = [(1, 1, 1), (5, 3, 1), (3, 1, 2), (4, 4, 5), (1, 2, 1), (2, None, 2), (3, 4, None), (5, 5, 5)]


@dataclass
class Study:
    """The benchmark and what tests look for in it."""

    benchmark: Benchmark
    responses: list[Response]
    outside: Response
    judge_pass: JudgePass
    campaign: Campaign
    parent: Annotator


def make_study() -> Study:
    """Four prompts, two models, two judges' scores missing, one empty response and mixed labels.

    Two people label all eight responses, one anonymous specialist the first, and the parent the
    first once more in a later campaign. One text is labelled outside any rollout.
    """
    benchmark = make_benchmark(
        slug="study", canary=CANARY, licence="CC BY 4.0", attribution="The study's\nauthors"
    )
    models = [make_target_model(slug="model-a"), make_target_model(slug="model-b")]
    prompts = [
        make_prompt(benchmark=benchmark, case_uid="007", risk_category="Emotional Dependency"),
        make_prompt(benchmark=benchmark, case_uid="7", risk_category="Emotional Dependency"),
        make_prompt(benchmark=benchmark, case_uid="7.0", risk_category="Technical Misuse"),
        make_prompt(
            benchmark=benchmark, case_uid="-5", risk_category="Technical Misuse", risk_mechanism=None
        ),
    ]
    responses = [make_response(prompt=prompt, target_model=model) for prompt in prompts for model in models]
    Response.objects.filter(pk=responses[4].pk).update(state=ResponseState.ERROR, error="timed out")
    outside = make_response(prompt=prompts[0], target_model=models[0], rollout=None)
    judge_pass = _judge(benchmark, responses)
    campaign, parent = _label(benchmark, responses, outside)
    return Study(benchmark, responses, outside, judge_pass, campaign, parent)


def _judge(benchmark: Benchmark, responses: list[Response]) -> JudgePass:
    judges = [make_judge(slug=slug) for slug in PUBLISHED_WEIGHTS]
    judge_pass = make_pass(
        benchmark=benchmark, name="imported", source=PassSource.IMPORTED, judges=tuple(judges)
    )
    missing = [
        {"state": VerdictState.PARSE_FAILED, "detail": "Unparseable: no line with a score"},
        {
            "state": VerdictState.CALL_FAILED,
            "failure_code": FailureCode.IMPORTED,
            "detail": "timeout after 60 s",
        },
    ]
    for response, scores in zip(responses, SCORES, strict=True):
        for judge, score in zip(judges, scores, strict=True):
            outcome = {"score": score} if score is not None else missing.pop(0)
            make_verdict(judge_pass=judge_pass, response=response, judge=judge, **outcome)
    return judge_pass


def _label(benchmark: Benchmark, responses: list[Response], outside: Response) -> tuple[Campaign, Annotator]:
    parent = make_annotator(benchmark=benchmark, code="=parent")
    specialist = make_annotator(
        benchmark=benchmark, code="specialist", annotator_type=AnnotatorType.SPECIALIST
    )
    campaign = make_campaign(benchmark=benchmark, slug="first")
    items = [make_item(campaign=campaign, response=response) for response in [*responses, outside]]
    for index, item in enumerate(items):
        is_bad = index % 3 == 0
        make_label(
            item=item,
            annotator=parent,
            rating=Rating.UNACCEPTABLE if is_bad else Rating.ACCEPTABLE,
            severity=4 if is_bad else 1,
        )
        make_label(item=item, annotator=specialist, severity=1 + index % 2)
    make_label(
        item=items[0],
        annotator=None,
        annotator_type=AnnotatorType.OTHER,
        annotator_type_raw="teacher",
        is_imported=True,
    )
    later = make_item(campaign=make_campaign(benchmark=benchmark, slug="later"), response=responses[0])
    make_label(item=later, annotator=parent, severity=2, created_at=timezone.now() + timedelta(hours=1))
    training = make_item(campaign=campaign, response=responses[1], kind=ItemKind.TRAINING)
    make_label(item=training, annotator=parent)
    retracted = make_item(campaign=campaign, response=make_response(prompt=responses[0].prompt))
    make_label(item=retracted, annotator=parent, rating=None, action=LabelAction.RETRACTED, is_current=False)
    return campaign, parent
