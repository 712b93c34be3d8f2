"""Collections over the API: their passes, their rows, and how a response was made."""

from typing import Any

import pytest
from django.test import Client

from judging.models import JudgePass
from tests.factories import make_generation, make_pass, make_response

pytestmark = pytest.mark.django_db


def get(client: Client, path: str, **parameters: Any) -> list[dict[str, Any]]:
    """The rows of one page of a list."""
    rows: list[dict[str, Any]] = client.get(f"/api/v1/{path}/", parameters).json()["results"]
    return rows


def make_collection() -> JudgePass:
    return make_pass(kind="COLLECTION", scale="TEXT")


def test_passes_are_filtered_by_kind(researcher_client: Client) -> None:
    judging, collection = make_pass(), make_collection()

    assert [row["id"] for row in get(researcher_client, "passes", kind="COLLECTION")] == [
        collection.public_id
    ]
    assert [row["kind"] for row in get(researcher_client, "passes", kind="JUDGING")] == [judging.kind]


def test_a_row_leads_to_its_response(researcher_client: Client) -> None:
    row = make_generation(judge_pass=make_collection(), state="COLLECTED", rollout=2)
    make_generation(judge_pass=row.judge_pass, state="PENDING")
    make_generation(judge_pass=make_collection(), state="COLLECTED")

    [shown] = get(researcher_client, "generations", state="COLLECTED", **{"pass": row.judge_pass.public_id})

    assert row.response is not None
    assert shown == {
        "pass": row.judge_pass.public_id,
        "benchmark": row.judge_pass.benchmark.slug,
        "prompt": row.prompt.public_id,
        "case_uid": row.prompt.case_uid,
        "model": row.target_model.slug,
        "rollout": 2,
        "state": "COLLECTED",
        "failure_code": None,
        "detail": None,
        "response": row.response.public_id,
        "settled_at": None,
    }


def test_an_open_row_has_no_response(researcher_client: Client) -> None:
    make_generation(judge_pass=make_collection())

    assert [row["response"] for row in get(researcher_client, "generations")] == [None]


def test_a_response_tells_how_it_was_made(researcher_client: Client) -> None:
    settings = {"model_id": "m", "parameters": {"max_tokens": 10}, "is_simulated": True}
    make_response(n_tokens=7, tokens_source="PROVIDER", finish_reason="stop", settings=settings)

    [shown] = get(researcher_client, "responses")

    assert (shown["n_tokens"], shown["tokens_source"], shown["finish_reason"]) == (7, "PROVIDER", "stop")
    assert shown["settings"] == settings
    assert shown["is_simulated"] is True


def test_an_imported_response_was_made_elsewhere(researcher_client: Client) -> None:
    make_response()

    [shown] = get(researcher_client, "responses")

    assert (shown["n_tokens"], shown["settings"], shown["is_simulated"]) == (None, None, False)
