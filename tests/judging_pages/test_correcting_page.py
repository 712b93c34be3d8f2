"""The page on which a researcher corrects the text of a response."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from judging.models import JudgePass
from judging.reports import build_report
from judging.staleness import STALE
from tests.factories import make_pass, make_prompt, make_response, make_verdict
from tests.judging_pages.study import Study, make_study

RIGHT = "Line one.\nLine two."


@pytest.fixture
def judge_pass(db: None) -> JudgePass:
    """One response, judged and not labelled."""
    judge_pass = make_pass()
    response = make_response(prompt=make_prompt(benchmark=judge_pass.benchmark))
    verdict = make_verdict(judge_pass=judge_pass, response=response, text_hash=response.text_hash)
    judge_pass.judges.add(verdict.judge)
    return judge_pass


def address(judge_pass: JudgePass, page: str = "correct") -> str:
    response = judge_pass.verdicts.select_related("response").get().response
    return reverse(f"judging:{page}", args=[judge_pass.benchmark.slug, response.public_id])


def test_corrected_text_makes_its_verdict_stale(researcher_client: Client, judge_pass: JudgePass) -> None:
    assert "1 verdict on the present text" in researcher_client.get(address(judge_pass)).content.decode()

    reply = researcher_client.post(
        address(judge_pass), {"text": RIGHT.replace("\n", "\r\n"), "reason": "INCOMPLETE"}, follow=True
    )

    assert Response.objects.get().text == RIGHT
    html = reply.content.decode()
    assert "Corrected. Verdicts on the earlier text count as missing." in html
    assert "text changed since: what it said" in html
    assert "not copied in full" in html
    assert build_report(judge_pass.benchmark)["overall"]["n_missing"] == {STALE: 1}


def test_blank_text_is_refused_beside_its_field(researcher_client: Client, judge_pass: JudgePass) -> None:
    reply = researcher_client.post(address(judge_pass), {"text": "   ", "reason": "DAMAGED"})

    assert reply.status_code == 422
    assert "The text is blank" in reply.content.decode()


def test_labelled_response_offers_no_correction(researcher_client: Client, study: Study) -> None:
    labelled = study.responses[1]
    where = reverse("judging:correct", args=["study", labelled.public_id])
    page = researcher_client.get(reverse("judging:response", args=["study", labelled.public_id]))

    assert where not in page.content.decode()
    assert researcher_client.get(where).status_code == 409
    assert researcher_client.post(where, {"text": RIGHT, "reason": "OTHER"}).status_code == 409


def test_page_is_for_researchers_of_this_benchmark_alone(
    researcher_client: Client, annotator_client: Client, client: Client, judge_pass: JudgePass
) -> None:
    other = make_study(n_prompts=1, slug="other")
    response = judge_pass.verdicts.select_related("response").get().response

    elsewhere = researcher_client.get(
        reverse("judging:correct", args=[other.benchmark.slug, response.public_id])
    )

    assert elsewhere.status_code == 404
    assert annotator_client.get(address(judge_pass)).status_code == 404
    assert client.get(address(judge_pass)).status_code == 302
    assert researcher_client.delete(address(judge_pass)).status_code == 405
