"""Adopting a rule, and which rule a report then takes."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import AuditEvent
from judging.adoption import adopt_rule
from judging.choices import RubricScale
from judging.errors import Conflict, RuleError
from judging.models import GradingRule, JudgePass
from judging.reports import build_report
from tests.factories import make_benchmark, make_pass, make_verdict
from tests.judging_pages.study import Study, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


def any_flag(study: Study) -> str:
    return json.dumps({"kind": "any_flag", "judges": [judge.slug for judge in study.judges], "cut": 3})


def test_without_an_adoption_the_default_is_uniform(study: Study) -> None:
    assert build_report(study.benchmark)["rule_source"] == "uniform"


def test_adopted_rule_becomes_the_default(study: Study) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="any-three")

    report = build_report(study.benchmark)

    assert (report["rule_name"], report["rule_source"]) == ("any-three", "adopted")
    assert report["rule"]["cut"] == 3


def test_the_newest_adoption_holds(study: Study) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="any-three")
    adopt_rule(study.benchmark, rule="uniform", name="mean")

    assert build_report(study.benchmark)["rule_name"] == "mean"


def make_newer_binary_pass(study: Study) -> JudgePass:
    """A finished pass of the same judges over one response, in which they answer 0 / 1."""
    binary = make_pass(
        benchmark=study.benchmark,
        name="binary",
        scale=RubricScale.BINARY,
        judges=tuple(study.judges),
        finished_at=timezone.now() + timedelta(hours=1),
    )
    for judge in study.judges:
        make_verdict(
            judge_pass=binary, response=study.responses[1], judge=judge, scale=RubricScale.BINARY, score=1
        )
    return binary


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "uniform_mean", "threshold": "1.7"},
        {"kind": "any_flag", "cut": 3},
    ],
    ids=["threshold", "cut"],
)
def test_adopted_rule_of_another_scale_gives_way_to_the_default(
    study: Study, rule: dict[str, object]
) -> None:
    given = json.dumps(rule | {"judges": [judge.slug for judge in study.judges]})
    adopt_rule(study.benchmark, rule=given, name="on-five-steps")
    binary = make_newer_binary_pass(study)

    report = build_report(study.benchmark)
    of_scores = build_report(study.benchmark, judge_pass=study.judge_pass)

    assert report["pass"] == binary.public_id
    assert (report["rule_name"], report["rule_source"]) == ("uniform", "uniform")
    assert report["unfit_adopted_rule"] == "on-five-steps"
    assert (of_scores["rule_source"], of_scores["unfit_adopted_rule"]) == ("adopted", None)


@pytest.mark.parametrize("page", ["calibration", "results"])
def test_page_says_that_the_adopted_rule_does_not_fit(
    researcher_client: Client, study: Study, page: str
) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="on-five-steps")
    make_newer_binary_pass(study)

    html = researcher_client.get(reverse(f"judging:{page}", args=["study"])).content.decode()

    assert "The adopted rule on-five-steps does not fit the judges of this pass" in html


def test_page_offers_only_rules_that_fit(researcher_client: Client, study: Study) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="on-five-steps")
    make_newer_binary_pass(study)
    address = reverse("judging:exports", args=["study"])

    of_newest = researcher_client.get(address).content.decode()
    of_scores = researcher_client.get(address, {"pass": study.judge_pass.public_id}).content.decode()

    assert '<option value="on-five-steps"' not in of_newest
    assert '<option value="uniform"' in of_newest
    assert '<option value="on-five-steps"' in of_scores


@pytest.mark.parametrize("page", ["rows", "labels", "exports", "data", "judges"])
def test_page_opens_though_the_adopted_rule_does_not_fit(
    researcher_client: Client, study: Study, page: str
) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="on-five-steps")
    make_newer_binary_pass(study)

    assert researcher_client.get(reverse(f"judging:{page}", args=["study"])).status_code == 200


def test_adopted_rule_can_be_named(study: Study) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="any-three")
    adopt_rule(study.benchmark, rule="uniform", name="mean")

    report = build_report(study.benchmark, rule="any-three")

    assert (report["rule_name"], report["rule_source"]) == ("any-three", "given")


def test_adopting_the_same_again_keeps_one_rule(study: Study) -> None:
    first = adopt_rule(study.benchmark, rule=any_flag(study), name="any-three")
    second = adopt_rule(study.benchmark, rule=any_flag(study), name="any-three")

    assert first.rule == second.rule
    assert GradingRule.objects.count() == 1


def test_another_definition_under_the_name_is_refused(study: Study) -> None:
    adopt_rule(study.benchmark, rule=any_flag(study), name="mine")

    with pytest.raises(Conflict, match="never changes"):
        adopt_rule(study.benchmark, rule="uniform", name="mine")


@pytest.mark.parametrize("name", ["published", "uniform", "", "Has Space", "x" * 65, "ümlaut"])
def test_names_that_cannot_be_used_are_refused(study: Study, name: str) -> None:
    with pytest.raises(RuleError, match="cannot name a rule"):
        adopt_rule(study.benchmark, rule="uniform", name=name)


def test_a_rule_of_other_judges_is_refused(study: Study) -> None:
    with pytest.raises(RuleError):
        adopt_rule(study.benchmark, rule="published", name="paper")


def test_a_benchmark_without_a_pass_has_no_rule_to_adopt() -> None:
    with pytest.raises(RuleError, match="no finished pass"):
        adopt_rule(make_benchmark(slug="bare"), rule="uniform", name="mean")


def test_adoption_is_audited(study: Study) -> None:
    adopt_rule(study.benchmark, rule="uniform", name="mean")

    event = AuditEvent.objects.get(action="rule.adopted")
    assert event.detail == {"rule": "mean"}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("nothing", "There is no rule"),
        ("{", "no JSON"),
        ("[1]", "There is no rule"),
        ('{"kind": "weighted_mean", "threshold": "1.7"}', "weights"),
        ('{"kind": "uniform_mean", "judges": ["nobody"], "threshold": "1.7"}', "nobody"),
    ],
    ids=["unknown name", "broken JSON", "a list", "no weights", "unknown judge"],
)
def test_a_rule_that_cannot_be_used_is_refused_in_words(study: Study, rule: str, said: str) -> None:
    with pytest.raises(RuleError, match=said):
        build_report(study.benchmark, rule=rule)
