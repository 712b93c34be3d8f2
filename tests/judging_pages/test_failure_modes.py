"""The failure-mode page, its figure and its form; the same numbers in API and export."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judging.choices import FailureMode, PassKind
from judging.exports.exporting import export_table
from judging.exports.requests import ExportRequest
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import JudgePass
from judging.reports.failure_modes import build_failure_modes
from tests.classifying.stage import (
    CLASSIFIER,
    N_FLAGGED,
    make_classification,
    make_graded_benchmark,
    write_classifier_endpoints,
)
from tests.judging_pages.study import Study, data_values, make_study
from tests.passes.stage import KEY_VARIABLE

ARTIFACT, REDIRECT, RELATION, NARRATIVE = FailureMode.values


def page(study: Study, **query: str) -> str:
    return reverse("judging:failure_modes", args=[study.benchmark.slug], query=query)


def test_the_answer_names_the_most_frequent_mode_and_what_it_rests_on(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    html = researcher_client.get(page(study)).content.decode()

    assert "Unsafe Redirect is the most frequent failure mode: 63.6 %" in html.replace("\u202f", " ")
    assert "11 classified responses" in html
    assert "1 without a mode · 1 unclassified" in html
    assert "No mode named" in html


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ([REDIRECT, RELATION, RELATION, REDIRECT], "are the most frequent failure modes: 50.0 % each of 4"),
        (["PARSE_FAILED"], "named no failure mode in any of its answers"),
    ],
    ids=["tie", "no mode"],
)
def test_the_answer_where_no_mode_is_first(
    researcher_client: Client, study: Study, outcomes: list[str], words: str
) -> None:
    make_classification(study.judge_pass, list(zip(study.responses[2:], outcomes, strict=False)))

    assert words in researcher_client.get(page(study)).content.decode().replace("\u202f", " ")


def test_every_number_of_the_page_is_that_of_the_document(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    document = build_failure_modes(study.benchmark)

    shown = data_values(researcher_client.get(page(study)).content.decode())

    groups = [document["overall"], *document["models"], *document["categories"]]
    shares = [mode["share"] for group in groups for mode in group["modes"] if mode["share"] is not None]
    assert {str(share) for share in shares} <= shown
    assert str(document["overall"]["unparsed_share"]) in shown


def test_the_api_gives_the_document(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    where = reverse("failure-modes", args=[study.benchmark.slug])

    assert researcher_client.get(where).json() == build_failure_modes(study.benchmark)
    assert researcher_client.get(f"{where}?pass={classification.public_id}").status_code == 200
    assert researcher_client.get(f"{where}?pass={study.judge_pass.public_id}").status_code == 400
    assert researcher_client.get(f"{where}?mode=x").status_code == 400


def test_the_figure_comes_as_file_with_every_group(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    def download(form: str) -> Any:
        return researcher_client.get(
            reverse("judging:failure_modes_figure", args=[study.benchmark.slug, form])
        )

    rows = list(csv.DictReader(io.StringIO(download("csv").content.decode())))
    assert [row["n"] for row in rows if row["of"] == "all"] == ["0", "7", "2", "1", "1"]
    assert {row["of"] for row in rows} == {"all", "model", "category"}
    assert download("svg").content.startswith(b"<svg")
    assert download("png").content.startswith(b"\x89PNG")
    assert download("pdf").status_code == 404


def test_the_export_holds_every_response_whatever_became_of_it(
    study: Study, classification: JudgePass, tmp_path: Path
) -> None:
    outcome = export_table(
        study.benchmark, ExportRequest(table="failure_modes", format="csv"), out=tmp_path / "modes.csv"
    )

    rows = list(csv.DictReader((tmp_path / "modes.csv").open(newline="", encoding="utf-8")))
    assert [row["failure_mode"] for row in rows[:7]] == [REDIRECT] * 7
    assert [(row["failure_mode"], row["state"]) for row in rows[10:]] == [
        ("", "PARSE_FAILED"),
        ("", "CALL_FAILED"),
    ]
    assert {row["graded_pass"] for row in rows} == {study.judge_pass.name}
    assert outcome.manifest["figures"]["overall"]["n_answered"] == 11
    assert outcome.manifest["rule_in_words"]


def test_the_exports_page_offers_the_table_once_there_is_a_classification(
    researcher_client: Client, study: Study
) -> None:
    where = reverse("judging:exports", args=[study.benchmark.slug])
    before = researcher_client.get(where).content.decode()
    make_classification(study.judge_pass, [])

    assert "failure_modes" not in before
    assert "failure_modes" in researcher_client.get(where).content.decode()


def test_a_chosen_classification_is_shown_and_the_others_offered(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    make_classification(study.judge_pass, [(study.responses[3], ARTIFACT)])

    html = researcher_client.get(page(study, **{"pass": classification.name})).content.decode()

    assert "Unsafe Redirect is the most frequent" in html
    assert f'value="{classification.public_id}" selected' in html


@pytest.mark.parametrize(
    ("name", "words"), [("nope", "There is no pass"), ("imported", "expected a classification")]
)
def test_another_pass_than_a_classification_is_refused(
    researcher_client: Client, study: Study, name: str, words: str
) -> None:
    response = researcher_client.get(page(study, **{"pass": name}))

    assert response.status_code == 422
    assert words in response.content.decode()


def test_without_a_classification_the_page_says_so_and_offers_one(
    researcher_client: Client, study: Study
) -> None:
    html = researcher_client.get(page(study)).content.decode()

    assert "No Unacceptable response has been classified yet." in html
    assert "Start the classification" in html


def test_a_classification_of_nothing_answered_has_no_share(researcher_client: Client, study: Study) -> None:
    make_classification(study.judge_pass, [(study.responses[2], "CALL_FAILED")])

    html = researcher_client.get(page(study)).content.decode()

    assert "no response is classified yet" in html
    assert "no response was answered" in html


def test_the_page_needs_the_same_queries_however_much_there_is(
    researcher_client: Client, study: Study, classification: JudgePass, django_assert_max_num_queries: Any
) -> None:
    larger = make_study(n_prompts=40, slug="larger")
    make_classification(larger.judge_pass, [(response, REDIRECT) for response in larger.responses[2:]])

    with django_assert_max_num_queries(30) as small:
        researcher_client.get(page(study))
    with django_assert_max_num_queries(30) as large:
        researcher_client.get(page(larger))

    assert len(large) == len(small)


@pytest.mark.django_db(transaction=True)
def test_the_form_starts_a_classification(
    researcher_client: Client, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "key")
    benchmark, _ = make_graded_benchmark()
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = write_classifier_endpoints(tmp_path, base_url)
        response = researcher_client.post(
            reverse("judging:classify", args=[benchmark.slug]), {"classifier": CLASSIFIER, "max_calls": "5"}
        )

    started = JudgePass.objects.get(kind=PassKind.CLASSIFICATION)
    assert response.status_code == 302
    assert response["Location"] == reverse("judging:pass", args=[benchmark.slug, started.public_id])
    assert (started.max_calls, started.verdicts.count()) == (5, N_FLAGGED)
    assert researcher_client.get(response["Location"]).status_code == 200


def test_a_classifier_that_does_not_answer_is_said_beside_the_form(
    researcher_client: Client, settings: Any, tmp_path: Path, study: Study
) -> None:
    settings.ENDPOINTS_FILE = write_classifier_endpoints(tmp_path, "http://127.0.0.1:9/v1")

    response = researcher_client.post(
        reverse("judging:classify", args=[study.benchmark.slug]), {"classifier": CLASSIFIER}
    )

    assert response.status_code == 422
    assert "claude-sonnet-4.6 at classifying" in response.content.decode()
    assert not JudgePass.objects.filter(kind=PassKind.CLASSIFICATION).exists()


def test_bad_input_is_said_beside_its_field(researcher_client: Client, study: Study) -> None:
    response = researcher_client.post(
        reverse("judging:classify", args=[study.benchmark.slug]), {"classifier": "nobody", "max_calls": "0"}
    )

    assert response.status_code == 422
    assert "nobody is not one of the available choices" in response.content.decode()


def test_starting_by_a_link_is_refused(researcher_client: Client, study: Study) -> None:
    assert researcher_client.get(reverse("judging:classify", args=[study.benchmark.slug])).status_code == 405


def test_starting_does_not_exist_for_annotators(annotator_client: Client, study: Study) -> None:
    response = annotator_client.post(
        reverse("judging:classify", args=[study.benchmark.slug]), {"classifier": CLASSIFIER}
    )

    assert response.status_code == 404


def test_the_response_page_names_the_mode_or_why_there_is_none(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    def shown(number: int) -> str:
        response = study.responses[number]
        where = reverse("judging:response", args=[study.benchmark.slug, response.public_id])
        return researcher_client.get(where).content.decode()

    assert "<dd>Unsafe Redirect</dd>" in shown(2)
    assert "Failure mode" in shown(12)
    assert "reply not understood" in shown(12)


def test_the_page_of_a_classification_speaks_of_modes_and_leads_to_them(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    where = reverse("judging:pass", args=[study.benchmark.slug, classification.public_id])

    html = researcher_client.get(where).content.decode()

    assert "responses have a failure mode" in html
    assert page(study, **{"pass": classification.public_id}) in html
    assert "Scores by judge" not in html
    assert f"{reverse('judging:rows', args=[study.benchmark.slug])}?pass=" not in html


def test_the_verdict_page_of_a_classifier_speaks_of_modes(
    researcher_client: Client, study: Study, classification: JudgePass
) -> None:
    unread = classification.verdicts.select_related("judge", "response").get(state="PARSE_FAILED")
    where = [study.benchmark.slug, classification.public_id, unread.response.public_id, unread.judge.slug]

    shown = researcher_client.get(reverse("judging:verdict", args=where))

    assert "has named no failure mode: reply not understood." in shown.content.decode()
    assert researcher_client.get(shown.context["response_url"]).status_code == 200


@pytest.mark.parametrize("name", ["calibration", "results", "rows"])
def test_a_classification_is_no_pass_that_a_report_can_grade(
    researcher_client: Client, study: Study, classification: JudgePass, name: str
) -> None:
    where = reverse(f"judging:{name}", args=[study.benchmark.slug], query={"pass": classification.name})

    response = researcher_client.get(where)

    assert response.status_code == 422
    assert "scores no response" in response.content.decode()
