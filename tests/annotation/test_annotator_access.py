"""Who may open the annotator's pages: nobody signed out, no other role, nothing of someone else."""

import uuid

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from annotation.models import Label
from tests.annotation.desk import Desk, answer, item_url, join, make_desk, sent, take, url
from tests.conftest import signed_in
from tests.factories import make_benchmark, make_item, make_prompt, make_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Desk:
    return make_desk()


@pytest.fixture
def client(desk: Desk) -> Client:
    return signed_in(desk.account)


GET_PAGES = ["consent", "withdraw", "next", "stop", "thanks", "item"]
POST_PAGES = ["consent", "withdraw", "undo", "item", "skip"]


def address(name: str, desk: Desk) -> str:
    return item_url(desk, take(desk), name) if name in ("item", "skip") else url(name, desk)


@pytest.mark.parametrize("name", GET_PAGES)
def test_page_for_nobody_leads_to_sign_in_and_back(desk: Desk, name: str) -> None:
    path = address(name, desk)

    page = Client().get(path)

    assert page.headers["Location"] == f"{reverse('login')}?next={path}"


@pytest.mark.parametrize("name", POST_PAGES)
def test_form_from_nobody_leads_to_sign_in(desk: Desk, name: str) -> None:
    page = Client().post(address(name, desk), sent())

    assert page.status_code == 302
    assert page.headers["Location"].startswith(reverse("login"))
    assert not Label.objects.exists()


def test_script_of_nobody_gets_401(desk: Desk) -> None:
    reply = Client().post(item_url(desk, take(desk)), sent(), headers={"accept": "application/json"})

    assert (reply.status_code, reply.json()["code"]) == (401, "signed_out")


@pytest.mark.parametrize("name", GET_PAGES)
def test_page_of_someone_else_is_404(desk: Desk, annotator_client: Client, name: str) -> None:
    assert annotator_client.get(address(name, desk)).status_code == 404


@pytest.mark.parametrize("name", POST_PAGES)
def test_form_on_something_of_someone_else_is_404(desk: Desk, annotator_client: Client, name: str) -> None:
    assert annotator_client.post(address(name, desk), sent()).status_code == 404
    assert not Label.objects.exists()


def test_item_of_another_member_is_404(desk: Desk) -> None:
    colleague = join(desk.campaign)
    assert colleague.account is not None

    assert signed_in(colleague.account).get(item_url(desk, take(desk))).status_code == 404


def test_label_of_another_member_can_be_neither_undone_nor_revised(desk: Desk) -> None:
    answer(take(desk))
    label = Label.objects.get()
    colleague = join(desk.campaign)
    assert colleague.account is not None
    client = signed_in(colleague.account)

    undone = client.post(url("undo", desk), {"label": label.public_id, "submission_id": str(uuid.uuid4())})
    revised = client.post(item_url(desk, take(desk, colleague)), sent(revises=label.public_id))

    assert (undone.status_code, revised.status_code) == (404, 404)


@pytest.mark.parametrize("name", GET_PAGES)
def test_page_is_not_for_researchers(desk: Desk, researcher_client: Client, name: str) -> None:
    assert researcher_client.get(address(name, desk)).status_code == 403


@pytest.mark.parametrize("name", ["next", "stop", "thanks"])
def test_page_takes_no_form(client: Client, desk: Desk, name: str) -> None:
    assert client.post(address(name, desk)).status_code == 405


@pytest.mark.parametrize("name", ["undo", "skip"])
def test_action_is_no_page(client: Client, desk: Desk, name: str) -> None:
    assert client.get(address(name, desk)).status_code == 405


def test_undo_without_a_label_is_422(client: Client, desk: Desk) -> None:
    assert client.post(url("undo", desk), {}).status_code == 422


@pytest.mark.parametrize("name", ["item", "next", "stop", "thanks", "consent"])
def test_page_is_kept_in_no_cache(client: Client, desk: Desk, name: str) -> None:
    assert "no-store" in client.get(address(name, desk)).headers["Cache-Control"]


@pytest.mark.parametrize(
    ("name", "n_queries"), [("item", 11), ("stop", 5), ("thanks", 5), ("consent", 4), ("next", 13)]
)
def test_page_asks_the_database_equally_often_however_much_there_is(
    name: str, n_queries: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    desk = make_desk(n_items=12, n_annotators=3, labels_per_response=3)
    for person in desk.annotators:
        for _ in range(4):
            answer(take(desk, person))
    client = signed_in(desk.account)
    path = address(name, desk)

    with django_assert_num_queries(n_queries):
        client.get(path)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "{{ 7*7 }}{% now 'Y' %}",
        '"><img src=x onerror=alert(1)>',
        "[a link](javascript:alert(1))",
    ],
)
@pytest.mark.parametrize("place", ["prompt", "response", "note", "theme"])
def test_markup_in_any_text_is_shown_as_text(place: str, text: str) -> None:
    benchmark = make_benchmark()
    values = {"risk_category": text} if place == "theme" else {"text": text} if place == "prompt" else {}
    prompt = make_prompt(benchmark=benchmark, **values)
    response = make_response(prompt=prompt, **({"text": text} if place == "response" else {}))
    desk = make_desk(n_items=0, benchmark=benchmark)
    make_item(campaign=desk.campaign, response=response)
    assignment = take(desk)
    if place == "note":
        answer(assignment, note=text)

    html = signed_in(desk.account).get(item_url(desk, assignment)).content.decode()

    assert escape(text) in html
    assert "<img" not in html
    assert "alert(1)</script>" not in html
