"""Adopting the rule of a report from the Calibration page."""

import json
from typing import Any

from django.test import Client
from django.urls import reverse

from judging.models import RuleAdoption
from tests.judging_pages.study import Study


def adopt(client: Client, study: Study, **values: str) -> Any:
    rule = json.dumps({"kind": "any_flag", "judges": [judge.slug for judge in study.judges]})
    asked = {"rule": rule, "name": "any", "pass": study.judge_pass.public_id} | values
    return client.post(reverse("judging:adopt_rule", args=[study.benchmark.slug]), asked)


def calibration(client: Client, study: Study) -> str:
    return client.get(reverse("judging:calibration", args=[study.benchmark.slug])).content.decode()


def test_page_offers_the_adoption_of_its_rule(researcher_client: Client, study: Study) -> None:
    assert "Adopt the rule" in calibration(researcher_client, study)


def test_adopted_rule_is_the_one_the_page_then_shows(researcher_client: Client, study: Study) -> None:
    adopt(researcher_client, study)

    page = calibration(researcher_client, study)

    assert "the rule adopted for this benchmark" in page
    assert "Adopt the rule" not in page
    assert RuleAdoption.objects.get().adopted_by is not None


def test_bad_name_is_refused_in_words(researcher_client: Client, study: Study) -> None:
    answer = adopt(researcher_client, study, name="Not This")

    assert answer.status_code == 422
    assert "cannot name a rule" in answer.content.decode()
    assert not RuleAdoption.objects.exists()


def test_name_of_another_rule_is_a_conflict(researcher_client: Client, study: Study) -> None:
    adopt(researcher_client, study)

    answer = adopt(researcher_client, study, rule="uniform")

    assert answer.status_code == 409


def test_missing_name_is_refused(researcher_client: Client, study: Study) -> None:
    assert adopt(researcher_client, study, name="").status_code == 422


def test_annotators_and_strangers_cannot_adopt(
    annotator_client: Client, client: Client, study: Study
) -> None:
    assert adopt(annotator_client, study).status_code == 404
    assert adopt(client, study).status_code == 302
    assert not RuleAdoption.objects.exists()
