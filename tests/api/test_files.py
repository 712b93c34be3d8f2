"""Exports and imports through the API."""

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import Account, AuditEvent, Benchmark, Prompt
from judging.exports.exporting import FORMATS
from tests.exports.reading import read_rows
from tests.exports.study import CANARY, Study, make_study

PROMPTS = "case_uid,risk_category,risk_mechanism,prompt\n007,Emotional Dependency,,How much is too much?\n"
BAD_PROMPTS = PROMPTS + ",Emotional Dependency,,No id\n"


@pytest.fixture
def study(db: None) -> Study:
    return make_study()


def download(client: Client, **parameters: Any) -> Any:
    return client.get("/api/v1/exports/", {"benchmark": "study"} | parameters)


def body_of(reply: Any) -> bytes:
    return b"".join(reply.streaming_content)


def upload(client: Client, text: str = PROMPTS, name: str = "prompts.csv", **fields: Any) -> Any:
    file = SimpleUploadedFile(name, text.encode())
    return client.post("/api/v1/imports/", {"benchmark": "new", "files": [file]} | fields)


@pytest.mark.parametrize("format", FORMATS)
def test_export_is_the_file_with_its_hash(
    study: Study, researcher_client: Client, tmp_path: Path, format: str
) -> None:
    reply = download(researcher_client, table="calibrated", format=format)

    data = body_of(reply)
    path = tmp_path / f"file.{format}"
    path.write_bytes(data)
    rows = read_rows(path)
    assert reply.status_code == 200
    assert reply["Content-Disposition"] == f'attachment; filename="study-calibrated.{format}"'
    assert reply["X-Table-SHA256"] == hashlib.sha256(data).hexdigest()
    assert reply["X-Table-Rows"] == str(len(rows))
    assert CANARY in rows[0]["notice"]


def test_export_is_given_whatever_the_client_accepts(study: Study, researcher_client: Client) -> None:
    reply = researcher_client.get(
        "/api/v1/exports/?benchmark=study&table=prompts&format=csv", headers={"Accept": "text/csv"}
    )

    assert reply.status_code == 200
    assert reply["Content-Type"] == "text/csv; charset=utf-8"


def test_export_bundle_holds_table_and_manifest(study: Study, researcher_client: Client) -> None:
    reply = download(researcher_client, table="results", format="csv", bundle="zip")

    with zipfile.ZipFile(io.BytesIO(body_of(reply))) as archive:
        table = archive.read("study-results.csv")
        manifest = json.loads(archive.read("study-results.csv.manifest.json"))
    assert manifest["sha256"] == hashlib.sha256(table).hexdigest()
    assert manifest["canary"] == CANARY


def test_export_takes_pass_rule_and_flavour(study: Study, researcher_client: Client) -> None:
    by_rule = download(
        researcher_client, table="results", format="jsonl", rule="uniform", **{"pass": "imported"}
    )
    safe = download(researcher_client, table="labels", format="csv", flavour="spreadsheet-safe")

    rows = [json.loads(line) for line in body_of(by_rule).splitlines()]
    codes = {row["annotator"] for row in csv.DictReader(io.StringIO(body_of(safe).decode(), newline=""))}
    # Opus gave 1, GPT 3, Gemini 5: the mean is 3, where the published rule has 1.7.
    assert rows[1]["weighted_score_exact"] == "3"
    assert "'=parent" in codes


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ({"table": "prompts"}, "invalid"),
        ({"format": "csv"}, "invalid"),
        ({"table": "prompts", "format": "ods"}, "unknown_format"),
        ({"table": "../../etc", "format": "csv"}, "unknown_table"),
        ({"table": "prompts", "format": "../csv"}, "unknown_format"),
        ({"table": "prompts", "format": "csv", "flavour": "x"}, "unknown_flavour"),
        ({"table": "prompts", "format": "csv", "bundle": "tar"}, "invalid"),
        ({"table": "prompts", "format": "csv", "benchmark": "none"}, "unknown_benchmark"),
        ({"table": "prompts", "format": "csv", "benchmark": "a\0b"}, "unknown_benchmark"),
        ({"table": "verdicts", "format": "csv", "pass": "none"}, "unknown_pass"),
        ({"table": "verdicts", "format": "csv", "pass": "a\0b"}, "unknown_pass"),
        ({"table": "labels", "format": "csv", "campaign": "none"}, "unknown_campaign"),
        ({"table": "results", "format": "csv", "rule": "none"}, "unknown_rule"),
        ({"table": "results", "format": "csv", "rule": "{"}, "bad_rule"),
        ({"table": "prompts", "format": "csv", "sheet": "2"}, "unknown_parameter"),
    ],
)
def test_export_of_what_is_unknown_is_refused(
    study: Study, researcher_client: Client, parameters: dict[str, str], code: str
) -> None:
    reply = download(researcher_client, **parameters)

    assert reply.status_code == 400
    assert reply.json()["code"] == code


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_exports_cannot_be_written(study: Study, researcher_client: Client, method: str) -> None:
    assert getattr(researcher_client, method)("/api/v1/exports/").status_code == 405


def test_import_stores_and_is_audited(researcher_client: Client, researcher: Account) -> None:
    reply = upload(researcher_client, licence="CC BY 4.0", canary=CANARY)

    benchmark = Benchmark.objects.get(slug="new")
    assert reply.status_code == 201
    assert reply.json()["totals"]["prompts"] == {"created": 1, "unchanged": 0, "rejected": 0}
    assert (benchmark.licence, benchmark.canary) == ("CC BY 4.0", CANARY)
    assert Prompt.objects.get().case_uid == "007"
    assert AuditEvent.objects.filter(action="files.imported", actor=researcher).count() == 1


def test_import_twice_creates_nothing(researcher_client: Client) -> None:
    upload(researcher_client)

    reply = upload(researcher_client)

    assert reply.json()["totals"]["prompts"] == {"created": 0, "unchanged": 1, "rejected": 0}


def test_import_dry_run_stores_nothing(researcher_client: Client) -> None:
    reply = upload(researcher_client, dry_run="true")

    assert reply.status_code == 200
    assert reply.json()["dry_run"] is True
    assert reply.json()["totals"]["prompts"]["created"] == 1
    assert Benchmark.objects.count() == 0


def test_import_with_a_bad_row_stores_nothing_and_names_it(researcher_client: Client) -> None:
    reply = upload(researcher_client, BAD_PROMPTS)

    [error] = reply.json()["errors"]
    assert reply.status_code == 422
    assert reply.json()["code"] == "rows_refused"
    assert (error["file"], error["line"], error["column"]) == ("prompts.csv", 3, "case_uid")
    assert Benchmark.objects.count() == 0


def test_import_that_skips_bad_rows_stores_the_good_ones(researcher_client: Client) -> None:
    reply = upload(researcher_client, BAD_PROMPTS, skip_bad_rows="true")

    assert reply.status_code == 201
    assert reply.json()["totals"]["prompts"] == {"created": 1, "unchanged": 0, "rejected": 1}


@pytest.mark.parametrize(
    "fields",
    [{"benchmark": ""}, {"files": []}, {"dry_run": "perhaps"}, {"pass_name": "x" * 101}],
    ids=["benchmark", "files", "dry_run", "pass_name"],
)
def test_import_with_a_bad_field_is_refused_naming_it(
    researcher_client: Client, fields: dict[str, Any]
) -> None:
    reply = upload(researcher_client, **fields)

    assert reply.status_code == 400
    assert list(reply.json()["fields"]) == list(fields)


def test_import_of_no_known_table_is_refused(researcher_client: Client) -> None:
    reply = upload(researcher_client, "a,b\n1,2\n", name="other.csv")

    assert reply.status_code == 422
    assert reply.json()["code"] == "rows_refused"
    assert [error["file"] for error in reply.json()["errors"]] == ["other.csv"]


def test_import_ignores_fields_that_it_does_not_know(researcher_client: Client, researcher: Account) -> None:
    reply = upload(researcher_client, is_superuser="1", role="ADMIN")

    researcher.refresh_from_db()
    assert reply.status_code == 201
    assert (researcher.is_superuser, researcher.role) == (False, "RESEARCHER")


@pytest.mark.parametrize("name", ["../../prompts.csv", "/etc/prompts.csv", "prompts.csv\x00.txt", "..csv"])
def test_import_keeps_to_its_folder_whatever_the_name(researcher_client: Client, name: str) -> None:
    reply = upload(researcher_client, name=name)

    assert reply.status_code in (201, 400)
    uploads = Path(settings.DATA_DIR) / "uploads"
    assert not uploads.exists() or list(uploads.iterdir()) == []
    assert not (uploads.parent / "prompts.csv").exists()


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_imports_are_only_posted(researcher_client: Client, method: str) -> None:
    assert getattr(researcher_client, method)("/api/v1/imports/").status_code == 405


def test_import_by_an_annotator_stores_nothing(annotator_client: Client) -> None:
    assert upload(annotator_client).status_code == 404
    assert Benchmark.objects.count() == 0


def test_import_without_csrf_token_is_refused(researcher: Account) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(researcher)

    assert upload(client).status_code == 403
    assert Benchmark.objects.count() == 0
