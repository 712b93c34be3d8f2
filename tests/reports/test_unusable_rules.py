"""Rules and names that nobody can mean: refused in words, never a server error."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judging.adoption import adopt_rule
from judging.errors import DomainError, RuleError
from judging.reports import MAX_RULE_CHARACTERS, build_report
from judging.selectors import find_benchmark, find_campaign, find_pass, find_pass_anywhere
from tests.judging_pages.study import Study, make_study

pytestmark = pytest.mark.django_db

DEEP = '{"a":' + "[" * 3000
DEEP_AND_CLOSED = '{"kind":' + "[" * 950 + "]" * 950 + "}"
UNUSABLE = {
    "deep": DEEP,
    "deep and closed": DEEP_AND_CLOSED,
    "long": json.dumps({"kind": "uniform_mean", "judges": ["a" * MAX_RULE_CHARACTERS], "threshold": "1.7"}),
    "long name": "a" * (MAX_RULE_CHARACTERS + 1),
    "NUL": "a\0b",
    "NUL in JSON": '{"kind": "any_flag", "judges": ["a\\u0000b"]}',
    "lone surrogate": '{"kind": "weighted_mean", "weights": {"\\ud800": 0.5}, "threshold": "1.7"}',
    "not a number": '{"kind": "any_flag", "judges": ["a"], "cut": NaN}',
    "long number": '{"kind": "any_flag", "judges": ["a"], "cut": ' + "9" * 3900 + "}",
    "list as kind": '{"kind": ["any_flag"]}',
}


@pytest.fixture
def study(db: None) -> Study:
    return make_study(n_prompts=2)


@pytest.fixture(params=list(UNUSABLE.values()), ids=list(UNUSABLE))
def rule(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_report_refuses_an_unusable_rule(study: Study, rule: str) -> None:
    with pytest.raises(RuleError) as caught:
        build_report(study.benchmark, rule=rule)

    assert len(caught.value.message) < 500
    caught.value.message.encode()


def test_adoption_refuses_an_unusable_rule(study: Study, rule: str) -> None:
    with pytest.raises(RuleError):
        adopt_rule(study.benchmark, rule=rule, name="mine")


@pytest.mark.parametrize("page", ["calibration", "results", "rows", "exports"])
def test_page_refuses_an_unusable_rule(researcher_client: Client, study: Study, page: str, rule: str) -> None:
    reply = researcher_client.get(reverse(f"judging:{page}", args=["study"]), {"rule": rule})

    assert reply.status_code == 422


def test_adopt_form_refuses_an_unusable_rule(researcher_client: Client, study: Study, rule: str) -> None:
    reply = researcher_client.post(
        reverse("judging:adopt_rule", args=["study"]), {"rule": rule, "name": "mine"}
    )

    assert reply.status_code == 422


@pytest.mark.parametrize("path", ["benchmarks/study/report", "exports"])
def test_api_refuses_an_unusable_rule(researcher_client: Client, study: Study, path: str, rule: str) -> None:
    asked = {"benchmark": "study", "table": "results", "format": "csv"} if path == "exports" else {}

    reply = researcher_client.get(f"/api/v1/{path}/", asked | {"rule": rule})

    assert reply.status_code == 400
    assert reply.json()["code"] in ("bad_rule", "unknown_rule")


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000], ids=["NUL", "lone surrogate", "long"])
def test_names_that_no_row_can_have_are_unknown(study: Study, name: str) -> None:
    finders: list[Any] = [
        find_benchmark,
        find_pass_anywhere,
        lambda text: find_campaign(study.benchmark, text),
        lambda text: find_pass(study.benchmark, text),
    ]

    for find in finders:
        with pytest.raises(DomainError, match="There is no") as caught:
            find(name)
        assert len(caught.value.message) < 500


@pytest.mark.parametrize("page", ["judges", "rows"])
def test_address_with_a_character_that_no_id_has_is_not_found(
    researcher_client: Client, study: Study, page: str
) -> None:
    address = reverse(f"judging:{page}", args=["study"])

    assert researcher_client.get(f"{address}a%00b/").status_code == 404
