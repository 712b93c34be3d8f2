"""A small benchmark that has been labelled and judged, with one of everything that can be missing."""

import re
from dataclasses import dataclass
from html import unescape

from annotation.choices import AnnotatorType, CampaignState, Rating, ResponseState
from annotation.models import Annotator, Benchmark, Campaign, Response
from judging.choices import PassSource, VerdictState
from judging.models import Judge, JudgePass
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

CATEGORIES = ("Emotional Dependency", "Surveillance and Privacy")
LINKED_COUNT = re.compile(r'<a href="(?P<href>[^"]*/rows/[^"]*)"><data value="(?P<value>[0-9]+)">')
DATA_VALUE = re.compile(r'<data value="([^"]*)">')


@dataclass
class Study:
    benchmark: Benchmark
    judges: list[Judge]
    judge_pass: JudgePass
    campaign: Campaign
    annotators: list[Annotator]
    responses: list[Response]


def make_study(*, n_prompts: int = 24, slug: str = "study") -> Study:
    """Two models, two judges, two annotators with a severity each, 24 prompts, one rollout.

    The first response failed and the second's verdict by judge-b is missing; people contest every
    eighth response; judge-b is stricter than judge-a.
    """
    benchmark = make_benchmark(slug=slug, name=f"Study {slug}")
    models = [make_target_model(slug=f"{slug}-model-{letter}") for letter in "ab"]
    judges = [
        make_judge(slug=f"{slug}-judge-{letter}", short_name=f"Judge {letter.upper()}") for letter in "ab"
    ]
    judge_pass = make_pass(
        benchmark=benchmark, name="imported", source=PassSource.IMPORTED, judges=tuple(judges)
    )
    campaign = make_campaign(benchmark=benchmark, name="First campaign", state=CampaignState.CLOSED)
    annotators = [
        make_annotator(benchmark=benchmark, code=f"rater-{n}", annotator_type=AnnotatorType.PARENT)
        for n in (1, 2)
    ]
    study = Study(benchmark, judges, judge_pass, campaign, annotators, [])
    for n in range(n_prompts):
        prompt = make_prompt(
            benchmark=benchmark, case_uid=f"case-{n:03}", risk_category=CATEGORIES[n % len(CATEGORIES)]
        )
        for model in models:
            _add_response(study, len(study.responses), prompt=prompt, target_model=model)
    return study


def _add_response(study: Study, n: int, **values: object) -> None:
    failed = (
        {"state": ResponseState.ERROR, "text": "", "error": "the provider gave no answer"} if n == 0 else {}
    )
    response = make_response(**values, **failed)
    study.responses.append(response)
    a, b = study.judges
    if n > 0:
        make_verdict(judge_pass=study.judge_pass, response=response, judge=a, score=1 + n % 3)
        missing = {"state": VerdictState.PARSE_FAILED} if n == 1 else {"score": 1 + (n + n // 5) % 5}
        make_verdict(judge_pass=study.judge_pass, response=response, judge=b, **missing)
    item = make_item(campaign=study.campaign, response=response)
    first = n % 3 > 0
    second = first != (n % 8 == 3)
    for annotator, flagged in zip(study.annotators, (first, second), strict=True):
        make_label(
            item=item,
            annotator=annotator,
            rating=Rating.UNACCEPTABLE if flagged else Rating.ACCEPTABLE,
            severity=1 + n % 5,
        )


def linked_counts(html: str) -> set[tuple[str, int]]:
    """Every count that links to rows, with its address."""
    return {(unescape(found["href"]), int(found["value"])) for found in LINKED_COUNT.finditer(html)}


def data_values(html: str) -> set[str]:
    """What stands unrounded behind the numbers of a page."""
    return set(DATA_VALUE.findall(html))
