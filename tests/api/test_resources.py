"""Every resource of the API: who may read it, how it is filtered, what it refuses."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.authtoken.models import Token

from annotation.choices import Rating, Role
from annotation.models import Account
from judging.models import Verdict
from tests.exports.study import Study, make_study
from tests.factories import (
    make_account,
    make_generation,
    make_item,
    make_label,
    make_pass,
    make_report,
    make_response,
    make_rubric,
    make_rule,
    make_verdict,
)

LISTS = [
    "benchmarks",
    "prompts",
    "responses",
    "campaigns",
    "labels",
    "judges",
    "rubrics",
    "passes",
    "verdicts",
    "generations",
    "rules",
    "reports",
]
OTHERS = ["benchmarks/study/report", "benchmarks/study/agreement", "exports", "imports"]
UNKNOWN_ID = "0123456789abcdef"


@pytest.fixture
def study(db: None) -> Study:
    study = make_study()
    make_rule(benchmark=study.benchmark)
    make_report(benchmark=study.benchmark, content={"models": []})
    make_rubric(slug="likert-v1")
    collection = make_pass(benchmark=study.benchmark, kind="COLLECTION", scale="TEXT")
    make_generation(judge_pass=collection, prompt=study.responses[0].prompt)
    return study


def get(client: Client, path: str, **parameters: Any) -> Any:
    return client.get(f"/api/v1/{path}/", parameters)


def ids_of(reply: Any, key: str = "id") -> list[Any]:
    return [row[key] for row in reply.json()["results"]]


@pytest.mark.parametrize("path", [*LISTS, *OTHERS])
def test_anonymous_visitor_is_refused(study: Study, client: Client, path: str) -> None:
    reply = get(client, path)

    assert reply.status_code == 403
    assert set(reply.json()) == {"detail", "code"}
    assert reply.json()["code"] == "not_authenticated"


@pytest.mark.parametrize("path", [*LISTS, *OTHERS])
def test_api_does_not_exist_for_annotators(study: Study, annotator_client: Client, path: str) -> None:
    reply = get(annotator_client, path)

    assert reply.status_code == 404
    assert reply.json() == {"detail": "Not found.", "code": "not_found"}


def test_annotator_cannot_tell_what_exists(study: Study, annotator_client: Client) -> None:
    found = get(annotator_client, f"responses/{study.responses[0].public_id}")
    unknown = get(annotator_client, f"responses/{UNKNOWN_ID}")

    assert found.status_code == unknown.status_code == 404
    assert found.json() == unknown.json()


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options"])
def test_annotator_finds_no_method_either(study: Study, annotator_client: Client, method: str) -> None:
    assert getattr(annotator_client, method)("/api/v1/labels/").status_code == 404


@pytest.mark.parametrize("path", ["labels", "verdicts"])
def test_annotator_is_refused_before_parameters_are_read(
    study: Study, annotator_client: Client, path: str
) -> None:
    assert get(annotator_client, path, annotator__password__startswith="a").status_code == 404


def test_account_that_was_deactivated_is_refused(study: Study, client: Client) -> None:
    account = make_account(role=Role.RESEARCHER, is_active=False)
    token = Token.objects.create(user=account)

    reply = client.get("/api/v1/prompts/", headers={"Authorization": f"Token {token.key}"})

    assert reply.status_code in (401, 403)


def test_researcher_reads_with_a_token(study: Study, client: Client, researcher: Account) -> None:
    token = Token.objects.create(user=researcher)

    reply = client.get("/api/v1/prompts/", headers={"Authorization": f"Token {token.key}"})

    assert reply.status_code == 200
    assert reply.json()["count"] == 4


@pytest.mark.parametrize("path", LISTS)
def test_researcher_reads_every_list(study: Study, researcher_client: Client, path: str) -> None:
    reply = get(researcher_client, path)

    assert reply.status_code == 200
    assert reply.json()["count"] == len(reply.json()["results"]) > 0


@pytest.mark.parametrize("path", [path for path in LISTS if path != "rubrics"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_list_cannot_be_written(study: Study, admin_client: Client, path: str, method: str) -> None:
    reply = getattr(admin_client, method)(f"/api/v1/{path}/", {}, content_type="application/json")

    assert reply.status_code == 405
    assert reply.json()["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["prompts", "responses", "campaigns", "labels", "passes", "reports"])
def test_row_is_retrieved_by_its_public_id_and_not_written(
    study: Study, admin_client: Client, path: str
) -> None:
    listed = get(admin_client, path).json()["results"][0]

    address = f"/api/v1/{path}/{listed['id']}/"

    assert admin_client.get(address).json() | {"content": None} == listed | {"content": None}
    assert admin_client.delete(address).status_code == 405
    assert admin_client.patch(address, {}, content_type="application/json").status_code == 405


@pytest.mark.parametrize(
    "path", ["benchmarks/study", "judges/claude-opus-4.6", "rubrics/likert-v1"], ids=lambda path: path
)
def test_row_with_a_name_is_retrieved_by_it(study: Study, researcher_client: Client, path: str) -> None:
    assert get(researcher_client, path).json()["slug"] == path.rpartition("/")[2]


@pytest.mark.parametrize(
    "path",
    [
        *(
            f"{path}/{UNKNOWN_ID}"
            for path in ("prompts", "responses", "campaigns", "labels", "passes", "reports")
        ),
        *(f"{path}/1" for path in ("prompts", "responses", "labels", "verdicts", "rules")),
        "benchmarks/none",
        "judges/none",
        "rubrics/none",
        "benchmarks/none/report",
        "benchmarks/none/agreement",
    ],
)
def test_unknown_id_is_not_found(study: Study, researcher_client: Client, path: str) -> None:
    reply = get(researcher_client, path)

    assert reply.status_code == 404
    assert "study" not in reply.content.decode()


@pytest.mark.parametrize(
    "parameter",
    [
        "annotator__password__startswith",
        "annotator__account__password__startswith",
        "text__contains",
        "ordering",
        "format",
        "Benchmark",
    ],
)
@pytest.mark.parametrize("path", LISTS)
def test_unknown_parameter_is_refused(
    study: Study, researcher_client: Client, path: str, parameter: str
) -> None:
    reply = get(researcher_client, path, **{parameter: "a"})

    assert reply.status_code == 400
    assert reply.json()["code"] == "unknown_parameter"
    assert parameter in reply.json()["detail"]


def test_unknown_parameter_of_one_row_is_refused(study: Study, researcher_client: Client) -> None:
    reply = get(researcher_client, f"prompts/{study.responses[0].prompt.public_id}", benchmark="study")

    assert reply.json()["code"] == "unknown_parameter"


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("responses", {"state": "LOST"}),
        ("responses", {"rollout": "first"}),
        ("labels", {"rating": "Yes"}),
        ("verdicts", {"state": "scored"}),
        ("prompts", {"case_uid": "a\x00b"}),
    ],
)
def test_value_outside_its_choices_is_refused_naming_the_field(
    study: Study, researcher_client: Client, path: str, parameters: dict[str, str]
) -> None:
    reply = get(researcher_client, path, **parameters)

    assert reply.status_code == 400
    assert reply.json()["code"] == "invalid"
    assert list(reply.json()["fields"]) == list(parameters)


def test_prompts_are_filtered_by_opaque_case_ids(study: Study, researcher_client: Client) -> None:
    reply = get(researcher_client, "prompts", benchmark="study", case_uid="7")

    assert ids_of(reply, "case_uid") == ["7"]


def test_responses_are_filtered_by_model_and_state(study: Study, researcher_client: Client) -> None:
    failed = get(researcher_client, "responses", state="ERROR")
    of_model = get(researcher_client, "responses", model="model-b", rollout="0")

    assert ids_of(failed) == [study.responses[4].public_id]
    assert ids_of(of_model) == [response.public_id for response in study.responses[1::2]]


def test_labels_are_filtered_to_those_that_stand(study: Study, researcher_client: Client) -> None:
    every = get(researcher_client, "labels", annotator="=parent")
    standing = get(researcher_client, "labels", annotator="=parent", is_current="true", item_kind="REGULAR")

    assert every.json()["count"] == 12
    assert standing.json()["count"] == 10
    assert set(ids_of(standing, "rating")) == set(Rating.values)


def test_label_without_annotator_is_shown_as_null(study: Study, researcher_client: Client) -> None:
    rows = get(researcher_client, "labels", annotator_type="OTHER").json()["results"]

    assert [row["annotator"] for row in rows] == [None]


def test_verdicts_are_filtered_by_pass_judge_and_response(study: Study, researcher_client: Client) -> None:
    reply = get(
        researcher_client,
        "verdicts",
        response=study.responses[5].public_id,
        judge="gpt-5.4",
        **{"pass": study.judge_pass.public_id},
    )

    [row] = reply.json()["results"]
    assert (row["state"], row["score"]) == ("PARSE_FAILED", None)
    assert row["pass"] == study.judge_pass.public_id


def test_exemplars_of_a_verdict_are_public_ids(study: Study, researcher_client: Client) -> None:
    judged, shown = study.responses[0], study.responses[3]
    exemplars = [{"response": shown.pk, "unacceptable": False, "similarity": 0.25}, {"response": 10**9}]
    Verdict.objects.filter(response=judged, judge__slug="gpt-5.4").update(exemplars=exemplars)

    rows = get(researcher_client, "verdicts", response=judged.public_id).json()["results"]

    by_judge = {row["judge"]: row["exemplars"] for row in rows}
    assert by_judge == {
        "gpt-5.4": [
            {"response": shown.public_id, "unacceptable": False, "similarity": 0.25},
            {"response": None},
        ],
        "gemini-3.1-pro": None,
        "claude-opus-4.6": None,
    }


def test_answers_hold_no_row_numbers_and_no_secrets(study: Study, researcher_client: Client) -> None:
    for path in LISTS:
        text = get(researcher_client, path).content.decode()
        assert "password" not in text
        assert '"pk"' not in text
        assert '"id":1,' not in text


def test_page_size_is_limited_and_pages_follow(study: Study, researcher_client: Client) -> None:
    first = get(researcher_client, "responses", page_size=3).json()
    second = get(researcher_client, "responses", page_size=3, page=2).json()

    assert first["count"] == 10
    assert len(first["results"]) == 3
    assert not {row["id"] for row in first["results"]} & {row["id"] for row in second["results"]}
    assert get(researcher_client, "responses", page=99).status_code == 404


@pytest.mark.parametrize("path", ["responses", "labels", "verdicts", "passes"])
def test_list_takes_the_same_queries_for_more_rows(
    study: Study, researcher_client: Client, path: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(6) as few:
        get(researcher_client, path)
    n_before = Verdict.objects.count()
    again = make_response(prompt=study.responses[0].prompt)
    make_label(item=make_item(campaign=study.campaign, response=again))
    make_verdict(response=again)
    assert Verdict.objects.count() > n_before

    with django_assert_max_num_queries(len(few)):
        get(researcher_client, path)


def test_address_that_leads_nowhere_answers_in_the_apis_shape(researcher_client: Client) -> None:
    answer = researcher_client.get("/api/v1/no-such-thing/")

    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


def test_address_that_leads_nowhere_answers_a_token_s_post_in_the_apis_shape() -> None:
    """A script sends no CSRF token, and must not be shown the page that says so."""
    answer = Client(enforce_csrf_checks=True).post("/api/v1/no-such-thing/")

    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
