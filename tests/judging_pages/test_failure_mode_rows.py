"""The responses behind the failure-mode page, and when that page no longer describes the results."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from judging.adoption import adopt_rule
from judging.choices import FailureMode
from judging.models import JudgePass
from judging.reports.failure_modes import build_failure_modes
from tests.judging_pages.second_pass import judge_again
from tests.judging_pages.study import Study, linked_counts

RELATION = FailureMode.UNHEALTHY_RELATIONAL_ENGAGEMENT.value
OUTDATED = "does not describe the present results"


def page(study: Study, **query: str) -> str:
    return reverse("judging:failure_modes", args=[study.benchmark.slug], query=query)


def test_every_count_leads_to_exactly_its_rows(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    shown = researcher_client.get(page(study))
    links = linked_counts(shown.content.decode())

    found = {href: researcher_client.get(href).context["page_obj"].paginator.count for href, _ in links}

    tables = [shown.context[name] for name in ("modes", "models", "categories", "unclassified")]
    cells = [cell for table in tables for row in table.rows for cell in row.cells[1:]]
    assert len(links) >= 12
    assert found == dict(links)
    assert [cell for cell in cells if cell.kind in ("count", "rate") and cell.value and not cell.href] == []


def test_rows_of_a_mode_stand_beside_the_scores_that_were_graded(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    shown = researcher_client.get(page(study))
    href = shown.context["modes"].rows[0].cells[1].href

    html = researcher_client.get(href).content.decode()

    assert "7 responses behind this number." in html
    assert "Failure mode: Unsafe Redirect" in html
    assert "Pass: imported" in html
    assert "Rule: uniform" in html


def test_rows_of_the_newest_classification_need_no_name(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    rows = reverse("judging:rows", args=[study.benchmark.slug], query={"failure_mode": RELATION})

    assert researcher_client.get(rows).context["page_obj"].paginator.count == 2


def test_rows_of_a_mode_are_none_without_a_classification(researcher_client: Client, study: Study) -> None:
    rows = reverse("judging:rows", args=[study.benchmark.slug], query={"failure_mode": RELATION})

    assert researcher_client.get(rows).context["page_obj"].paginator.count == 0


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"failure_mode": "RUDE"}, "RUDE is not one of the available choices"),
        ({"failure_mode": "ANY", "classification": "imported"}, "expected a classification"),
        ({"classified": "STALE"}, "needs a failure mode"),
    ],
    ids=["unknown mode", "another pass", "state without a mode"],
)
def test_unusable_filter_of_modes_says_what_to_do(
    researcher_client: Client, study: Study, query: dict[str, str], words: str
) -> None:
    response = researcher_client.get(reverse("judging:rows", args=[study.benchmark.slug], query=query))

    assert response.status_code == 422
    assert words in response.content.decode()


def flag_nothing_else(study: Study, classification: JudgePass) -> None:
    """Let the rule flag no response that the classification has not taken up."""
    taken_up = classification.verdicts.values("response_id")
    study.judge_pass.verdicts.filter(score__isnull=False).exclude(response__in=taken_up).update(score=1)


def test_a_classification_of_the_present_results_says_nothing_more(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    flag_nothing_else(study, classification)

    html = researcher_client.get(page(study)).content.decode()

    document = build_failure_modes(study.benchmark)
    assert (document["is_of_default_pass"], document["is_by_default_rule"]) == (True, True)
    assert OUTDATED not in html


def test_another_pass_since_is_said(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    judge_again(study.judge_pass)

    html = researcher_client.get(page(study)).content.decode()

    assert OUTDATED in html
    assert "It graded the pass imported, and the results follow another pass." in html
    assert build_failure_modes(study.benchmark)["is_of_default_pass"] is False


def test_another_rule_since_is_said(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    judge = study.judges[0].slug
    adopt_rule(study.benchmark, rule=json.dumps({"kind": "single_judge", "judges": [judge]}), name="one")

    html = researcher_client.get(page(study)).content.decode()

    assert OUTDATED in html
    assert "the rule uniform finds Unacceptable, and the benchmark has another rule" in html
    assert build_failure_modes(study.benchmark)["is_by_default_rule"] is False


def test_responses_that_became_unacceptable_since_are_counted(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    flag_nothing_else(study, classification)
    more = study.judge_pass.verdicts.filter(response=study.responses[20])
    more.update(score=5)

    html = researcher_client.get(page(study)).content.decode()

    assert "Since it began, 1 more response became Unacceptable" in html


def test_the_review_list_of_a_classification_opens(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    classification.verdicts.filter(response=study.responses[3]).update(has_rubric_like_text=True)
    where = reverse("judging:pass", args=[study.benchmark.slug, classification.public_id])
    shown = researcher_client.get(where)

    listed = researcher_client.get(shown.context["mending"].rubric_like_url)

    assert listed.status_code == 200
    assert listed.context["page_obj"].paginator.count == 1
