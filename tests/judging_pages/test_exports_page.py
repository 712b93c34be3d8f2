"""The Exports tab: every link gives its file."""

import io
import json
import re
import zipfile
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from judging.exports.tables import OF_CLASSIFICATION, OF_TWO_PASSES, TABLES
from tests.factories import make_benchmark
from tests.judging_pages.study import Study

# An export reads from a snapshot of its own, which sees only what was committed.
pytestmark = pytest.mark.django_db(transaction=True)

EXPORT_LINK = re.compile(r'<a href="([^"]*/exports/[^"]+\.[^"]+)"')


def links(client: Client, slug: str, **query: str) -> list[str]:
    html = client.get(reverse("judging:exports", args=[slug]), query).content.decode()
    return [unescape(href) for href in EXPORT_LINK.findall(html)]


def test_every_table_is_offered_in_every_format(
    transactional_db: None, researcher_client: Client, study: Study
) -> None:
    found = links(researcher_client, "study")

    assert len(found) == (len(TABLES) - len(OF_TWO_PASSES) - len(OF_CLASSIFICATION)) * 6
    for address in found:
        response = researcher_client.get(address)
        assert response.status_code == 200, address
        # Nobody was called, so there is no attempt; JSON Lines has no header.
        assert len(response.getvalue()) > 0 or "attempts.jsonl" in address, address


def test_bundle_holds_the_file_and_its_manifest(
    transactional_db: None, researcher_client: Client, study: Study
) -> None:
    address = next(
        link for link in links(researcher_client, "study", part="bundle") if "calibrated.csv" in link
    )

    archive = zipfile.ZipFile(io.BytesIO(researcher_client.get(address).getvalue()))

    assert sorted(archive.namelist()) == ["study-calibrated.csv", "study-calibrated.csv.manifest.json"]
    assert json.loads(archive.read("study-calibrated.csv.manifest.json"))["table"] == "calibrated"


def test_manifest_is_shown(transactional_db: None, researcher_client: Client, study: Study) -> None:
    address = reverse("judging:export", args=["study", "results", "csv"])

    manifest = researcher_client.get(address, {"part": "manifest"}).json()

    assert manifest["n_rows"] == len(study.responses)


@pytest.mark.parametrize(
    ("table", "form", "query"),
    [("nothing", "csv", {}), ("labels", "docx", {}), ("labels", "csv", {"flavour": "odd"})],
    ids=["table", "format", "flavour"],
)
def test_export_that_does_not_exist_says_what_does(
    transactional_db: None,
    researcher_client: Client,
    study: Study,
    table: str,
    form: str,
    query: dict[str, str],
) -> None:
    response = researcher_client.get(reverse("judging:export", args=["study", table, form]), query)

    assert response.status_code == 422
    assert "There is no" in response.content.decode() or "cannot be written" in response.content.decode()


def test_without_a_pass_its_tables_are_not_offered(transactional_db: None, researcher_client: Client) -> None:
    make_benchmark(slug="empty")

    offered = {address.rsplit("/", 1)[1].split(".")[0] for address in links(researcher_client, "empty")}

    assert offered == set(TABLES) - {"verdicts", "attempts", *OF_TWO_PASSES, *OF_CLASSIFICATION}


def test_export_is_for_researchers(
    transactional_db: None, annotator_client: Client, client: Client, study: Study
) -> None:
    address = reverse("judging:export", args=["study", "labels", "csv"])

    assert annotator_client.get(address).status_code == 404
    assert client.get(address).status_code == 302
    assert client.post(address).status_code in (302, 405)
