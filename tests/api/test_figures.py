"""Report and agreement through the API, and the description of the whole API."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from judging.reports import build_report
from judging.stats.rules import PUBLISHED_WEIGHTS
from tests.exports.study import Study, make_study


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


def get(client: Client, part: str, **parameters: str) -> Any:
    return client.get(f"/api/v1/benchmarks/study/{part}/", parameters)


def test_report_and_agreement_are_those_of_build_report(study: Study, researcher_client: Client) -> None:
    report = build_report(study.benchmark)

    assert get(researcher_client, "report").json() == report
    assert get(researcher_client, "agreement").json() == report["agreement"]


def test_report_follows_pass_rule_and_campaign(study: Study, researcher_client: Client) -> None:
    rule = {"kind": "uniform_mean", "judges": list(PUBLISHED_WEIGHTS), "threshold": "2"}

    reply = get(
        researcher_client, "report", rule=json.dumps(rule), campaign="later", **{"pass": "imported"}
    ).json()

    expected = build_report(
        study.benchmark, judge_pass=study.judge_pass, rule=rule, campaign=study.benchmark.campaigns.last()
    )
    assert reply["rule"] == expected["rule"]
    assert reply["models"] == expected["models"]
    assert reply["agreement"]["labels"]["n"] == 1


@pytest.mark.parametrize("part", ["report", "agreement"])
@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"pass": "none"}, "unknown_pass"),
        ({"rule": "none"}, "unknown_rule"),
        ({"rule": "{"}, "bad_rule"),
        ({"campaign": "none"}, "unknown_campaign"),
        ({"seed": "1"}, "unknown_parameter"),
    ],
)
def test_figures_of_what_is_unknown_are_refused(
    study: Study, researcher_client: Client, part: str, parameters: dict[str, str], code: str
) -> None:
    reply = get(researcher_client, part, **parameters)

    assert reply.status_code == 400
    assert reply.json()["code"] == code


@pytest.mark.parametrize("part", ["report", "agreement"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_figures_cannot_be_written(study: Study, researcher_client: Client, part: str, method: str) -> None:
    reply = getattr(researcher_client, method)(f"/api/v1/benchmarks/study/{part}/")

    assert reply.status_code == 405


def test_schema_is_generated_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")


@pytest.mark.parametrize("path", ["schema", "docs"])
@pytest.mark.django_db
def test_description_of_the_api_is_open(client: Client, path: str) -> None:
    assert client.get(f"/api/v1/{path}/").status_code == 200
