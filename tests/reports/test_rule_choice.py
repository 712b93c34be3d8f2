"""The paper's names of judges in a rule, and reports that outlive their code."""

import pytest

from annotation.choices import Rating
from judging.models import Report
from judging.reports import build_report, digests
from tests.factories import (
    make_annotator,
    make_benchmark,
    make_judge,
    make_label,
    make_pass,
    make_prompt,
    make_response,
    make_verdict,
)
from tests.judging_pages.study import Study, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


def test_published_rule_is_the_default_where_its_judges_are() -> None:
    benchmark = make_benchmark(slug="paper")
    judges = [make_judge(slug=slug) for slug in ("gemini-3.1-pro", "gpt-5.4", "claude-opus-4.6")]
    judge_pass = make_pass(benchmark=benchmark, judges=tuple(judges))
    response = make_response(prompt=make_prompt(benchmark=benchmark))
    for judge in judges:
        make_verdict(judge_pass=judge_pass, response=response, judge=judge, score=1)

    report = build_report(benchmark)
    by_alias = build_report(
        benchmark,
        rule={
            "kind": "weighted_mean",
            "weights": {"gemini_3_1_pro": "0.05", "gpt_5_4": "0.25", "opus_4_6": "0.70"},
            "threshold": "1.7",
        },
    )

    assert report["rule_source"] == "published"
    assert by_alias["rule"] == report["rule"]


def test_equal_input_finds_the_stored_report(study: Study) -> None:
    first = build_report(study.benchmark)
    second = build_report(study.benchmark)

    assert first == second
    assert Report.objects.count() == 1


def test_changed_code_computes_anew(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    build_report(study.benchmark)
    monkeypatch.setattr(digests, "code_version", lambda: "another")

    build_report(study.benchmark)

    assert Report.objects.count() == 2


def test_a_new_label_changes_the_digest(study: Study) -> None:
    before = build_report(study.benchmark)["digest"]
    make_label(
        item=study.campaign.items.order_by("pk").first(),
        annotator=make_annotator(benchmark=study.benchmark, code="late"),
        rating=Rating.ACCEPTABLE,
    )

    assert build_report(study.benchmark)["digest"] != before
