"""What the Calibration and Results pages show of a report, and what they say when there is little."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Response
from judging.choices import VerdictState
from judging.models import Report
from judging.reports import build_report, count_labels
from judging.views.answers import panel_pair
from tests.factories import make_benchmark, make_item, make_label, make_prompt, make_response, make_verdict
from tests.judging_pages.study import Study


def shown(client: Client, page: str, slug: str, **query: str) -> str:
    response = client.get(reverse(f"judging:{page}", args=[slug]), query)
    assert response.status_code == 200
    return response.content.decode()


def figure_data(client: Client) -> str:
    return client.get(reverse("judging:figure", args=["study", "models", "csv"])).content.decode()


def visible(html: str) -> str:
    """A page as a reader sees it."""
    return re.sub(r"<[^>]+>", "", html)


def decide_everything(study: Study) -> None:
    """Give every response a text and every judge's score."""
    Response.objects.filter(pk=study.responses[0].pk).update(state="OK", text="Ask me again.", error=None)
    for judge in study.judges:
        make_verdict(judge_pass=study.judge_pass, response=study.responses[0], judge=judge, score=1)
    study.judge_pass.verdicts.filter(state=VerdictState.PARSE_FAILED).update(state="SCORED", score=1)


def test_rule_stands_in_words_with_its_source(researcher_client: Client, study: Study) -> None:
    html = shown(researcher_client, "calibration", "study")

    assert "Unacceptable when <strong>" in html
    assert "Judge A ≥ 3" in html
    assert "the default: all judges weigh the same" in html


def test_scale_figures_of_two_classes_say_why_there_are_none(researcher_client: Client, study: Study) -> None:
    html = shown(researcher_client, "calibration", "study")

    assert "no common 1-5 scale: one side gives only the two classes" in html


def test_left_out_responses_are_listed_by_reason(researcher_client: Client, study: Study) -> None:
    html = shown(researcher_client, "results", "study")

    assert "What was left out" in html
    assert "Missing verdicts: response failed to generate" in html
    assert "Missing verdicts: reply not understood" in html


def test_more_than_two_percent_undecided_shows_best_and_worst_case(
    researcher_client: Client, study: Study
) -> None:
    assert "more than 2 %" in shown(researcher_client, "results", "study")


def test_calibration_counts_contested_among_what_is_left_out(researcher_client: Client, study: Study) -> None:
    agreement = build_report(study.benchmark)["agreement"]
    n_contested = agreement["labels"]["n_contested"]
    panel = panel_pair(agreement)
    assert panel is not None
    n_missing = panel["n_missing"]

    html = visible(shown(researcher_client, "calibration", "study"))

    assert n_contested > 0
    assert n_missing > 0
    assert f"{n_contested + n_missing} of 48 labelled responses are left out" in html
    assert f"{n_contested} contested, {n_missing} without a verdict" in html


def test_contested_responses_alone_are_enough_for_the_notice(researcher_client: Client, study: Study) -> None:
    decide_everything(study)

    html = visible(shown(researcher_client, "calibration", "study"))

    assert "6 contested, 0 without a verdict" in html


def test_calibration_with_little_left_out_has_no_notice(researcher_client: Client, study: Study) -> None:
    decide_everything(study)
    for item in study.campaign.items.all():
        make_label(item=item, annotator=None, rating="ACCEPTABLE", is_imported=True)

    assert "are left out" not in shown(researcher_client, "calibration", "study")


def test_few_undecided_need_no_notice(researcher_client: Client, study: Study) -> None:
    decide_everything(study)

    assert "more than 2 %" not in shown(researcher_client, "results", "study", rule=_any_flag(study))


def test_rule_of_the_address_is_the_rule_of_the_page(researcher_client: Client, study: Study) -> None:
    html = shown(researcher_client, "results", "study", rule=_any_flag(study))

    assert "Judge A ≥ 2, or Judge B ≥ 2" in html
    assert "chosen on this page" in html
    assert "as given in the address" in html


@pytest.mark.parametrize("page", ["calibration", "results", "labels", "judges", "data", "exports", "rows"])
def test_page_of_an_empty_benchmark_says_what_is_missing(researcher_client: Client, page: str) -> None:
    make_benchmark(slug="empty")

    html = shown(researcher_client, page, "empty")

    sentences = {
        "calibration": "Calibration compares judges with people, and there are no labels.",
        "results": "There are no verdicts to report.",
        "labels": "There is no campaign yet.",
        "judges": "There is no pass yet.",
        "data": "This benchmark holds nothing yet.",
        "exports": "There is no finished pass",
        "rows": "No response passes these filters.",
    }
    assert sentences[page] in html


def test_calibration_without_a_pass_shows_people_only(researcher_client: Client) -> None:
    prompt = make_prompt(benchmark=make_benchmark(slug="people"))
    make_label(item=make_item(response=make_response(prompt=prompt)))

    html = shown(researcher_client, "calibration", "people")

    assert "There is no finished pass to compare with people." in html
    assert "no judge has scored anything yet" in html


def test_simulated_benchmark_says_so(researcher_client: Client, study: Study) -> None:
    study.benchmark.is_simulated = True
    study.benchmark.save()

    assert "Simulated data" in shown(researcher_client, "results", "study")


@pytest.mark.parametrize("page", ["calibration", "results", "exports", "rows"])
def test_simulated_pass_over_real_texts_says_so(researcher_client: Client, study: Study, page: str) -> None:
    study.judge_pass.is_simulated = True
    study.judge_pass.save()

    assert "Simulated scores" in shown(researcher_client, page, "study")


@pytest.mark.parametrize("name", ["agreement", "models", "categories", "heat-map"])
@pytest.mark.parametrize(
    ("form", "content_type", "start"),
    [
        ("svg", "image/svg+xml", b"<svg"),
        ("png", "image/png", b"\x89PNG"),
        ("csv", "text/csv; charset=utf-8", b""),
    ],
)
def test_figure_downloads(
    researcher_client: Client, study: Study, name: str, form: str, content_type: str, start: bytes
) -> None:
    response = researcher_client.get(reverse("judging:figure", args=["study", name, form]))

    assert response.status_code == 200
    assert response["Content-Type"] == content_type
    assert response["Content-Disposition"] == f'attachment; filename="study-{name}.{form}"'
    assert response.content.startswith(start)


def test_figure_data_has_every_digit(researcher_client: Client, study: Study) -> None:
    content = researcher_client.get(
        reverse("judging:figure", args=["study", "models", "csv"])
    ).content.decode()

    for figures in build_report(study.benchmark)["models"]:
        assert f"{figures['model']},{figures['n_prompts']}" in content
        assert str(figures["failure_rate"]) in content


def test_figure_data_holds_no_cell_that_a_spreadsheet_runs(researcher_client: Client, study: Study) -> None:
    model = study.responses[0].target_model
    model.slug = "=1+1"
    model.save()

    content = researcher_client.get(
        reverse("judging:figure", args=["study", "models", "csv"])
    ).content.decode()

    assert "\r\n'=1+1," in content


@pytest.mark.parametrize(("name", "form"), [("nothing", "svg"), ("models", "gif")])
def test_unknown_figure_is_not_found(researcher_client: Client, study: Study, name: str, form: str) -> None:
    assert researcher_client.get(reverse("judging:figure", args=["study", name, form])).status_code == 404


@pytest.mark.parametrize("page", ["labels", "exports", "rows", "data", "judges"])
def test_page_without_figures_computes_no_report(researcher_client: Client, study: Study, page: str) -> None:
    shown(researcher_client, page, "study")

    assert Report.objects.count() == 0


def test_label_counts_are_those_of_the_report(study: Study) -> None:
    make_label(item=make_item(response=study.responses[3]), annotator=None, is_imported=True)

    of_all = build_report(study.benchmark)["agreement"]["labels"]
    of_one = build_report(study.benchmark, campaign=study.campaign)["agreement"]["labels"]

    assert count_labels(study.benchmark) == of_all
    assert count_labels(study.benchmark, campaign=study.campaign) == of_one != of_all


def test_export_filters_keep_the_campaign(researcher_client: Client, study: Study) -> None:
    html = shown(researcher_client, "exports", "study", campaign=study.campaign.public_id)

    assert f'<option value="{study.campaign.public_id}" selected>First campaign</option>' in html
    assert f"/labels.csv?campaign={study.campaign.public_id}" in html
    assert re.search(r"/prompts\.csv\?[^\"]*campaign", html) is None


def _any_flag(study: Study) -> str:
    return '{"kind": "any_flag", "judges": ["study-judge-a", "study-judge-b"]}'


def test_pass_over_a_part_of_the_benchmark_says_so(researcher_client: Client, study: Study) -> None:
    study.judge_pass.source = "JUDGED"
    study.judge_pass.save()
    study.judge_pass.verdicts.filter(response__in=study.responses[10:]).delete()

    page = shown(researcher_client, "results", "study")

    assert "This pass is over" in page
    assert "of the benchmark. The rates describe those alone" in page


def test_pass_over_the_whole_benchmark_needs_no_such_notice(researcher_client: Client, study: Study) -> None:
    assert "This pass is over" not in shown(researcher_client, "results", "study")
