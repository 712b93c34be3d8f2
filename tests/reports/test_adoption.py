"""Adopting a rule, and which rule a report then takes."""

import json

import pytest

from annotation.models import AuditEvent
from judging.adoption import adopt_rule
from judging.errors import Conflict, RuleError
from judging.models import GradingRule
from judging.reports import build_report
from tests.factories import make_benchmark
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
