"""Uploading on pages: choose files, see what they would do, store or discard."""

import re
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.choices import Role
from annotation.models import Account, AuditEvent, Benchmark, Prompt, Response
from judging.importing import uploads
from judging.views import imports
from tests.conftest import signed_in
from tests.factories import make_account, make_benchmark, make_prompt, make_response, make_target_model
from tests.judging_pages.test_uploads import PROMPTS

RESPONSES = (
    "case_uid,rollout,risk_category,risk_mechanism,prompt,model,response,error\n"
    "c1,0,Emotional Dependency,Companionship,How much chatting is healthy for a child?,model-a,An hour.,\n"
)
BAD_ROW = "c3,,,A prompt without a category\n"


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


def csv_file(text: str, name: str = "prompts.csv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode(), content_type="text/csv")


def send(client: Client, *files: SimpleUploadedFile, slug: str = "study") -> str:
    """Upload for a benchmark that exists; the address of the preview."""
    response = client.post(
        reverse("judging:upload", args=[slug]), {"csv_files": list(files), "encoding": "utf-8"}
    )
    assert response.status_code == 302, response.content.decode()
    return str(response["Location"])


def test_new_benchmark_begins_with_several_files(researcher_client: Client) -> None:
    response = researcher_client.post(
        reverse("judging:new_benchmark"),
        {
            "benchmark": "fresh",
            "csv_files": [csv_file(RESPONSES, "responses.csv"), csv_file(PROMPTS)],
            "encoding": "utf-8",
            "licence": "CC BY 4.0",
            "attribution": "The study group",
            "canary": "canary 1",
        },
    )
    preview = researcher_client.get(response["Location"]).content.decode()
    confirmed = researcher_client.post(response["Location"] + "confirm/", {"rows": "all"}, follow=True)

    assert "3 new rows and no problem" in preview
    assert "model-a" in preview
    assert not Benchmark.objects.filter(slug="other").exists()
    assert "Stored: 2 prompts, 1 response." in confirmed.content.decode()
    benchmark = Benchmark.objects.get(slug="fresh")
    assert (benchmark.licence, benchmark.attribution) == ("CC BY 4.0", "The study group")
    assert Response.objects.count() == 1
    assert AuditEvent.objects.get(action="files.imported").actor.username == "researcher"


def test_preview_stores_nothing(researcher_client: Client) -> None:
    make_benchmark(slug="study")

    researcher_client.get(send(researcher_client, csv_file(PROMPTS)))

    assert not Prompt.objects.exists()


def test_second_upload_of_the_same_file_has_nothing_to_store(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    for _ in range(2):
        preview = send(researcher_client, csv_file(PROMPTS))
        html = researcher_client.get(preview).content.decode()
        researcher_client.post(preview + "confirm/")

    assert "Every row is there already" in html
    assert "Store all rows" not in html
    assert Prompt.objects.count() == 2


def test_bad_rows_are_listed_and_can_be_left_out(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    preview = send(researcher_client, csv_file(PROMPTS + BAD_ROW))

    html = researcher_client.get(preview).content.decode()
    refused = researcher_client.post(preview + "confirm/", {"rows": "all"})
    stored = researcher_client.post(preview + "confirm/", {"rows": "good"}, follow=True)

    assert "1 row would be refused; 2 rows would be new." in html
    assert "risk_category" in html
    assert "Store all rows" not in html
    assert refused.status_code == 422
    assert "1 row was refused and left out." in stored.content.decode()
    assert Prompt.objects.count() == 2


def test_file_that_cannot_be_read_blocks_everything(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    preview = send(researcher_client, csv_file(PROMPTS), csv_file("a,b\n1,2\n", "responses.csv"))

    html = researcher_client.get(preview).content.decode()
    refused = researcher_client.post(preview + "confirm/", {"rows": "good"})

    assert "1 file cannot be read, so nothing can be stored." in html
    assert "Missing column" in html
    assert "Store" not in html.split("<main", 1)[1]
    assert refused.status_code == 422
    assert not Prompt.objects.exists()


def test_conflicting_text_is_shown_with_its_reason(researcher_client: Client) -> None:
    benchmark = make_benchmark(slug="study")
    make_prompt(
        benchmark=benchmark, case_uid="c1", risk_category="Emotional Dependency", text="Another text."
    )

    html = researcher_client.get(send(researcher_client, csv_file(PROMPTS))).content.decode()

    assert "1 row would be refused" in html


def test_every_problem_can_be_downloaded(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    rows = "".join(f"bad-{n},,,Without a category\n" for n in range(imports.MOST_PROBLEMS_SHOWN + 5))
    preview = send(researcher_client, csv_file(PROMPTS + rows))

    html = researcher_client.get(preview).content.decode()
    document = researcher_client.get(preview, {"format": "json"}).json()

    assert "5 more are in the download" in html
    assert len(document["errors"]) == imports.MOST_PROBLEMS_SHOWN + 5
    assert {"file", "line", "column", "code", "message"} == set(document["errors"][0])


def test_discarded_files_are_gone(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    preview = send(researcher_client, csv_file(PROMPTS))

    researcher_client.post(preview + "discard/")

    assert researcher_client.get(preview).status_code == 404
    assert researcher_client.post(preview + "confirm/").status_code == 404
    assert not Prompt.objects.exists()


def test_files_of_another_researcher_are_not_there(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    preview = send(researcher_client, csv_file(PROMPTS))
    other = signed_in(make_account(role=Role.RESEARCHER))

    statuses = [
        other.get(preview).status_code,
        other.post(preview + "confirm/").status_code,
        other.post(preview + "discard/").status_code,
    ]

    assert statuses == [404, 404, 404]
    assert researcher_client.get(preview).status_code == 200


def test_upload_without_a_file_says_so(researcher_client: Client) -> None:
    make_benchmark(slug="study")

    response = researcher_client.post(reverse("judging:upload", args=["study"]), {"encoding": "utf-8"})

    assert response.status_code == 422
    assert "No file was chosen." in response.content.decode()


@pytest.mark.parametrize("name", ["study", "two words", ""])
def test_new_benchmark_needs_a_name_of_its_own(researcher_client: Client, name: str) -> None:
    make_benchmark(slug="study")

    response = researcher_client.post(
        reverse("judging:new_benchmark"),
        {"benchmark": name, "csv_files": [csv_file(PROMPTS)], "encoding": "utf-8"},
    )

    assert response.status_code == 422
    assert "Nothing was saved yet" in response.content.decode()
    assert not Prompt.objects.exists()


def test_markup_in_a_file_is_shown_as_text(researcher_client: Client) -> None:
    make_benchmark(slug="study")
    markup = "<img src=x onerror=alert(1)>"
    bad = csv_file(PROMPTS + f'c3,,,"{markup}"\n{markup},{markup},{markup},\n', f"{markup}.csv")

    html = researcher_client.get(send(researcher_client, bad)).content.decode()

    assert "<img" not in html


@pytest.mark.parametrize("page", ["upload", "new_benchmark"])
def test_upload_is_for_researchers(annotator_client: Client, client: Client, db: None, page: str) -> None:
    make_benchmark(slug="study")
    address = reverse(f"judging:{page}", args=["study"] if page == "upload" else [])

    assert annotator_client.post(address).status_code == 404
    assert client.post(address).status_code == 302


def test_upload_needs_the_form_of_this_site(researcher: Account) -> None:
    make_benchmark(slug="study")
    client = Client(enforce_csrf_checks=True)
    client.force_login(researcher)

    response = client.post(reverse("judging:upload", args=["study"]), {"csv_files": [csv_file(PROMPTS)]})

    assert response.status_code == 403


def test_body_over_the_limit_is_refused_before_it_is_read(
    researcher_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_benchmark(slug="study")
    monkeypatch.setattr(uploads, "MAX_UPLOAD_BYTES", 10)
    monkeypatch.setattr(uploads, "FORM_FIELDS_ALLOWANCE", 10)

    response = researcher_client.post(
        reverse("judging:upload", args=["study"]), {"csv_files": [csv_file(PROMPTS)]}
    )

    assert response.status_code == 413


def test_data_page_names_models_with_many_empty_responses(researcher_client: Client) -> None:
    prompt = make_prompt(benchmark=make_benchmark(slug="study"))
    model = make_target_model(slug="model-a")
    for rollout in range(3):
        make_response(prompt=prompt, target_model=model, rollout=rollout, state="EMPTY", text="")
    make_response(prompt=prompt, target_model=model, rollout=3)
    make_response(prompt=prompt)

    html = researcher_client.get(reverse("judging:data", args=["study"])).content.decode()

    assert html.count("notice-warn") == 1
    assert re.search(r"75\.0.%</data> of the responses of <bdi>model-a</bdi> are empty", html)
