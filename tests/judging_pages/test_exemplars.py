"""What the page of a response says of a judge's exemplars, and of what could not be one."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.models import Response
from judging.models import Verdict
from tests.factories import make_item, make_label, make_prompt, make_response
from tests.judging_pages.few_shot import judge_few_shot
from tests.judging_pages.study import Study


def page_of(client: Client, response: Response) -> str:
    address = reverse("judging:response", args=[response.prompt.benchmark.slug, response.public_id])
    return " ".join(client.get(address).content.decode().split())


def test_exemplars_stand_in_the_order_shown_with_kind_and_similarity(
    researcher_client: Client, study: Study
) -> None:
    judge_pass = judge_few_shot(study.benchmark)
    response = study.responses[5]

    html = page_of(researcher_client, response)

    stored = Verdict.objects.get(judge_pass=judge_pass, response=response).exemplars
    shown = [Response.objects.get(pk=exemplar["response"]) for exemplar in stored]
    links = [f'href="{reverse("judging:response", args=["study", one.public_id])}"' for one in shown]
    places = [html.index(link) for link in links]
    assert "Exemplars: 2 Acceptable, 2 Unacceptable" in html
    assert places == sorted(places)
    assert all(f'<data value="{exemplar["similarity"]}">' in html for exemplar in stored)


def test_the_proof_stands_in_words_and_figures(researcher_client: Client, study: Study) -> None:
    response = study.responses[5]
    prompt = make_prompt(benchmark=study.benchmark, text=response.prompt.text)
    copy = make_response(prompt=prompt, text=response.text)
    make_label(item=make_item(campaign=study.campaign, response=copy), annotator=study.annotators[0])
    judge_few_shot(study.benchmark)

    html = page_of(researcher_client, response)

    assert "were left out: 1 is this response, 2 answer the same case, 2 have the same text" in html
    assert "One that has several reasons counts under each." in html
    assert "same text, near copy" in html
    assert "Checked again for this page, from the texts as they are stored now: none of the 4 is this" in html
    assert f"answers case {response.prompt.case_uid}, or has its text" in html
    assert "below 0.980." in html
    assert "by the cosine of TF-IDF vectors" in html


def test_by_response_the_case_could_be_shown_and_the_page_says_so(
    researcher_client: Client, study: Study
) -> None:
    judge_few_shot(study.benchmark, exclusion="response")

    html = page_of(researcher_client, study.responses[5])

    assert "Other responses to the same case could be shown." in html
    assert "answer the same case" not in html
    assert "answers case" not in html


def test_a_leak_is_said_on_the_page(researcher_client: Client, study: Study) -> None:
    judge_pass = judge_few_shot(study.benchmark)
    response, sibling = study.responses[4], study.responses[5]
    planted = [{"response": sibling.pk, "similarity": 0.5, "unacceptable": False}]
    Verdict.objects.filter(judge_pass=judge_pass, response=response).update(exemplars=planted)

    html = page_of(researcher_client, response)

    assert "An exemplar may not be shown with this case." in html
    assert "answers the same case as the judged response." in html
    assert "Checked again" not in html


@pytest.mark.parametrize(
    ("exemplars", "words"),
    [
        pytest.param([], "Exemplars: none was left to show", id="none left"),
        pytest.param(
            [{"response": 10**9, "similarity": 0.5, "unacceptable": True}],
            "An exemplar is no response of the pool",
            id="no longer stored",
        ),
    ],
)
def test_a_pass_without_a_record_says_so(
    researcher_client: Client, study: Study, exemplars: list[dict[str, Any]], words: str
) -> None:
    study.judge_pass.verdicts.filter(response=study.responses[4]).update(exemplars=exemplars)

    html = page_of(researcher_client, study.responses[4])

    assert words in html
    assert "This pass kept no record of what was left out." in html


def test_counts_of_an_imported_file_stand_alone(researcher_client: Client, study: Study) -> None:
    study.judge_pass.verdicts.filter(response=study.responses[4]).update(
        n_exemplars_acceptable=2, n_exemplars_unacceptable=1
    )

    html = page_of(researcher_client, study.responses[4])

    assert "<dd>2 Acceptable, 1 Unacceptable</dd>" in html
    assert "kept no record" not in html


def test_markup_in_a_case_id_is_shown_as_text(researcher_client: Client, study: Study) -> None:
    judge_few_shot(study.benchmark)
    prompt = study.responses[5].prompt
    prompt.case_uid = "<b>007</b>"
    prompt.save()

    html = page_of(researcher_client, study.responses[5])

    assert "answers case &lt;b&gt;007&lt;/b&gt;, or has its text" in html
    assert "<b>007" not in html


def test_queries_do_not_grow_with_judges_and_exemplars(researcher_client: Client, study: Study) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            page_of(researcher_client, study.responses[5])
        return len(queries)

    judge_few_shot(study.benchmark, n_judges=1, shots=1)
    before = n_queries()
    judge_few_shot(study.benchmark, n_judges=3, shots=5)

    assert n_queries() == before
