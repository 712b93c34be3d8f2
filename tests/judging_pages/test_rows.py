"""Every count leads to exactly the responses that it counts."""

import pytest
from django.test import Client
from django.urls import reverse

from judging.stats.records import UNDECIDED
from judging.views.behind import responses_behind
from judging.views.choosing import ReportChoice
from tests.judging_pages.study import Study, linked_counts


def n_listed(client: Client, address: str) -> int:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.context["page_obj"].paginator.count


@pytest.mark.parametrize("page", ["data", "labels", "calibration", "results", "pass"])
def test_count_leads_to_as_many_responses(researcher_client: Client, study: Study, page: str) -> None:
    kwargs = {"slug": study.benchmark.slug}
    if page == "pass":
        kwargs["public_id"] = study.judge_pass.public_id
    html = researcher_client.get(reverse(f"judging:{page}", kwargs=kwargs)).content.decode()
    # Missing verdicts are counted by verdict; the test below has them.
    counts = {(address, n) for address, n in linked_counts(html) if "missing=" not in address}

    listed = {(address, n_listed(researcher_client, address)) for address, _ in counts}

    assert len(counts) >= 3
    assert listed == counts


def test_missing_verdicts_lead_to_the_responses_that_lack_them(study: Study) -> None:
    grading = ReportChoice(study.benchmark).grading()

    failed = responses_behind(grading, {"missing": "RESPONSE_ERROR", "graded": True})
    unread = responses_behind(grading, {"missing": "PARSE_FAILED", "graded": True})

    # The failed response lacks both verdicts and is one response.
    assert (failed, unread) == ([study.responses[0].pk], [study.responses[1].pk])


def test_choice_of_the_page_goes_with_its_links(researcher_client: Client, study: Study) -> None:
    rule = '{"kind": "any_flag", "judges": ["study-judge-a", "study-judge-b"], "cut": 5}'
    address = reverse("judging:calibration", args=[study.benchmark.slug])
    query = {"rule": rule, "campaign": study.campaign.public_id}
    counts = linked_counts(researcher_client.get(address, query).content.decode())

    listed = {(address, n_listed(researcher_client, address)) for address, _ in counts}

    assert all("rule=" in address and "campaign=" in address for address, _ in counts)
    assert listed == counts


def test_undecided_responses_are_those_the_rule_leaves_open(study: Study) -> None:
    grading = ReportChoice(study.benchmark).grading()

    found = responses_behind(grading, {"verdict": UNDECIDED})

    # The first response failed to generate; the second lacks judge-b, and judge-a alone cannot decide.
    assert found == [study.responses[0].pk, study.responses[1].pk]


def test_filters_narrow_each_other(study: Study) -> None:
    grading = ReportChoice(study.benchmark).grading()
    chosen = {"category": "Surveillance and Privacy", "model": "study-model-b"}
    by_category = responses_behind(grading, chosen)
    by_consensus = responses_behind(grading, {"consensus": "CONTESTED"})

    both = responses_behind(grading, chosen | {"consensus": "CONTESTED"})

    assert both == sorted(set(by_category) & set(by_consensus))
    assert 0 < len(both) < len(by_category)


def test_missing_filters_take_everything(study: Study) -> None:
    grading = ReportChoice(study.benchmark).grading()

    assert responses_behind(grading, {}) == [response.pk for response in study.responses]


def test_pages_of_rows_keep_their_filters(researcher_client: Client, study: Study) -> None:
    for n in range(60):
        study.responses[5].pk = None
        study.responses[5]._state.adding = True
        study.responses[5].public_id = f"{n:016x}"
        study.responses[5].rollout = n + 1
        study.responses[5].save()
    address = reverse("judging:rows", args=[study.benchmark.slug])

    html = researcher_client.get(address, {"model": "study-model-b"}).content.decode()

    assert "model=study-model-b&amp;page=2" in html
    assert "1</data> to <data" in html


def test_filter_form_repeats_what_it_does_not_show(researcher_client: Client, study: Study) -> None:
    address = reverse("judging:rows", args=[study.benchmark.slug])

    html = researcher_client.get(
        address, {"pair": "judge-human", "a": "study-judge-a", "b": "consensus", "cell": "UU"}
    ).content.decode()

    for name, value in (("pair", "judge-human"), ("a", "study-judge-a"), ("b", "consensus"), ("cell", "UU")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in html


def test_response_page_shows_what_everybody_said(researcher_client: Client, study: Study) -> None:
    response = study.responses[4]
    address = reverse("judging:response", args=[study.benchmark.slug, response.public_id])
    study.judge_pass.verdicts.filter(response=response, judge=study.judges[1]).update(
        raw_text="The answer is calm and points to a parent."
    )

    html = researcher_client.get(address).content.decode()

    assert response.prompt.text in html
    assert "study-judge-b</a>, pass imported" in html
    assert "The answer is calm and points to a parent." in html
    assert "rater-1" in html
    assert "The rule says" in html


def test_response_page_links_what_the_judge_was_shown(researcher_client: Client, study: Study) -> None:
    response, exemplar = study.responses[4], study.responses[8]
    study.judge_pass.verdicts.filter(response=response, judge=study.judges[0]).update(
        exemplars=[{"response": exemplar.pk, "similarity": 0.8125, "unacceptable": True}],
        n_exemplars_acceptable=0,
        n_exemplars_unacceptable=1,
    )
    address = reverse("judging:response", args=["study", response.public_id])

    html = researcher_client.get(address).content.decode()

    shown = reverse("judging:response", args=["study", exemplar.public_id])
    assert f'<a href="{shown}">{exemplar.prompt.case_uid}</a>' in html
    assert "0 Acceptable, 1 Unacceptable" in html
    assert '<data value="0.8125">' in html


def test_response_page_says_why_there_is_no_verdict(researcher_client: Client, study: Study) -> None:
    failed, unread = study.responses[:2]

    pages = [
        researcher_client.get(
            reverse("judging:response", args=[study.benchmark.slug, response.public_id])
        ).content.decode()
        for response in (failed, unread)
    ]

    assert "response failed to generate" in pages[0]
    assert "No judge has read this response." in pages[0]
    assert "the missing scores could go either way" in pages[1]
    assert "reply not understood" in pages[1]
