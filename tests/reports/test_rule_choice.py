"""The paper's names of judges in a rule, and reports that outlive their code."""

import pytest

from annotation.choices import Rating
from judging.models import Report
from judging.reports import build_report, building, digests
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


def test_old_reports_make_room_for_new_ones(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_REPORTS_KEPT", 3)
    other = build_report(make_benchmark(slug="other"))["digest"]

    digests_in_order = [build_report(study.benchmark, seed=seed)["digest"] for seed in range(5)]

    kept = Report.objects.filter(benchmark=study.benchmark).order_by("pk")
    assert list(kept.values_list("digest", flat=True)) == digests_in_order[2:]
    assert Report.objects.filter(digest=other).exists()


def test_report_that_made_room_is_computed_again(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "MOST_REPORTS_KEPT", 1)
    first = build_report(study.benchmark)
    build_report(study.benchmark, seed=1)

    assert build_report(study.benchmark) == first


def test_order_of_import_changes_no_figure() -> None:
    reports = []
    for slug, order in (("forwards", range(30)), ("backwards", range(29, -1, -1))):
        benchmark = make_benchmark(slug=slug)
        campaign = make_campaign(benchmark=benchmark)
        people = [make_annotator(benchmark=benchmark, code=code) for code in ("a", "b")]
        for n in order:
            prompt = make_prompt(benchmark=benchmark, case_uid=f"case-{n:02}")
            item = make_item(campaign=campaign, response=make_response(prompt=prompt))
            for person, flags in zip(people, (n % 3 == 0, n % 5 < 2), strict=True):
                rating = Rating.UNACCEPTABLE if flags else Rating.ACCEPTABLE
                make_label(item=item, annotator=person, rating=rating, severity=1 + n % 5)
        reports.append(build_report(benchmark))

    forwards, backwards = reports
    assert forwards["agreement"]["pairs"][0]["interval"] is not None
    assert forwards["agreement"] == backwards["agreement"]


def test_a_new_label_changes_the_digest(study: Study) -> None:
    before = build_report(study.benchmark)["digest"]
    make_label(
        item=study.campaign.items.order_by("pk").first(),
        annotator=make_annotator(benchmark=study.benchmark, code="late"),
        rating=Rating.ACCEPTABLE,
    )

    assert build_report(study.benchmark)["digest"] != before
