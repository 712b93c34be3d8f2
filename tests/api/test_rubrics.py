"""Rubrics in the API: read with version and parent, and written by researchers."""

from typing import Any

import pytest
from django.test import Client

from annotation.models import Account, AuditEvent
from judging.llm.rubric import load_bundled_rubric
from judging.models import Rubric

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v1/rubrics/"
SHIPPED = load_bundled_rubric("likert-v1")
EDITED = SHIPPED.replace("Work in this order.", "Work in this order, slowly.")
NEW = {"name": "likert", "text": EDITED, "parent": "likert-v1"}


def post(client: Client, **values: Any) -> Any:
    return client.post(ADDRESS, {**NEW, **values}, content_type="application/json")


def test_a_researcher_stores_the_next_version(researcher_client: Client, researcher: Account) -> None:
    reply = post(researcher_client)

    assert reply.status_code == 201
    shown = reply.json()
    assert (shown["slug"], shown["name"], shown["version"]) == ("likert-v2", "likert", 2)
    assert (shown["parent"], shown["scale"], shown["text"]) == ("likert-v1", "LIKERT", EDITED)
    assert Rubric.objects.get(slug="likert-v2").created_by == researcher
    assert AuditEvent.objects.filter(action="rubric.created", actor=researcher).exists()


@pytest.mark.parametrize(
    ("values", "status", "code"),
    [
        ({"text": "nothing"}, 400, "bad_rubric"),
        ({"text": SHIPPED}, 409, "same_rubric"),
        ({"name": "two words"}, 400, "bad_rubric_name"),
        ({"parent": "nothing-v1"}, 400, "unknown_rubric"),
        ({"text": None}, 400, "invalid"),
        ({"name": ""}, 400, "invalid"),
    ],
)
def test_what_cannot_be_stored_says_why(
    researcher_client: Client, values: dict[str, Any], status: int, code: str
) -> None:
    reply = post(researcher_client, **values)

    assert (reply.status_code, reply.json()["code"]) == (status, code)
    assert not Rubric.objects.exists()


def test_others_store_nothing(annotator_client: Client, client: Client) -> None:
    assert post(annotator_client).status_code == 404
    assert post(client).status_code in (401, 403)
    assert not Rubric.objects.exists()


def test_versions_that_ship_are_read_before_they_are_used(researcher_client: Client) -> None:
    post(researcher_client)

    listed = {row["slug"]: row for row in researcher_client.get(ADDRESS).json()["results"]}
    one = researcher_client.get(f"{ADDRESS}binary-v1/").json()

    assert {"likert-v1", "likert-v2", "binary-v1"} <= listed.keys()
    assert listed["likert-v2"]["parent"] == "likert-v1"
    assert one == listed["binary-v1"]


@pytest.mark.parametrize(
    ("filters", "slugs"),
    [({"name": "binary"}, ["binary-v1"]), ({"scale": "BINARY"}, ["binary-v1"]), ({"name": "nothing"}, [])],
)
def test_filters_hold_for_what_ships_too(
    researcher_client: Client, filters: dict[str, str], slugs: list[str]
) -> None:
    rows = researcher_client.get(ADDRESS, filters).json()["results"]

    assert [row["slug"] for row in rows] == slugs


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_a_version_is_never_changed(researcher_client: Client, method: str) -> None:
    post(researcher_client)

    reply = getattr(researcher_client, method)(f"{ADDRESS}likert-v2/", {}, content_type="application/json")

    assert reply.status_code == 405


def test_an_unknown_version_is_not_found(researcher_client: Client) -> None:
    assert researcher_client.get(f"{ADDRESS}likert-v9/").status_code == 404
