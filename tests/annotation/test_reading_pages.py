"""The look of the page, the next page ahead of time, flags, and the list of one's own answers."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.choices import Rating, SkipReason, TextSize, TextView, Theme
from annotation.labelling import MAX_ACTIVE_MS, InvalidAnswer, skip_item
from annotation.models import Account, Flag, Label
from annotation.preferences import change_look
from tests.annotation.desk import Desk, answer, item_url, make_desk, sent, take, url
from tests.conftest import signed_in
from tests.factories import make_benchmark, make_item, make_prompt, make_response

pytestmark = pytest.mark.django_db

LOOK = reverse("annotation:look")


@pytest.fixture
def desk() -> Desk:
    return make_desk()


@pytest.fixture
def client(desk: Desk) -> Client:
    return signed_in(desk.account)


def test_change_look_leaves_what_was_not_chosen(desk: Desk) -> None:
    change_look(account=desk.account, theme=Theme.DARK)
    change_look(account=desk.account, text_size=TextSize.LARGE)

    account = Account.objects.get(pk=desk.account.pk)
    assert (account.theme, account.text_size, account.text_view) == ("DARK", "LARGE", "PLAIN")


def test_look_is_stored_and_leads_back_to_the_page(client: Client, desk: Desk) -> None:
    page = client.post(LOOK, {"theme": "DARK", "next": url("stop", desk)})

    assert page.headers["Location"] == url("stop", desk)
    assert 'data-theme="dark"' in client.get(url("stop", desk)).content.decode()


def test_look_never_leads_to_another_site(client: Client) -> None:
    page = client.post(LOOK, {"theme": "DARK", "next": "https://elsewhere.example/"})

    assert page.headers["Location"] == reverse("annotation:home")


def test_unknown_look_is_422_and_changes_nothing(client: Client, desk: Desk) -> None:
    page = client.post(LOOK, {"theme": "PURPLE", "text_size": "LARGE"})

    assert page.status_code == 422
    assert Account.objects.get(pk=desk.account.pk).text_size == TextSize.NORMAL


def test_look_is_for_those_who_are_signed_in() -> None:
    assert Client().post(LOOK, {"theme": "DARK"}).headers["Location"].startswith(reverse("login"))


def test_look_is_no_page(client: Client) -> None:
    assert client.get(LOOK).status_code == 405


def test_markdown_view_shows_headings_and_lists_and_no_markup(desk: Desk) -> None:
    benchmark = make_benchmark()
    text = "# Evening\n\n- read *slowly*\n- <b onclick=alert(1)>sleep</b>"
    response = make_response(prompt=make_prompt(benchmark=benchmark), text=text)
    desk = make_desk(n_items=0, benchmark=benchmark)
    make_item(campaign=desk.campaign, response=response)
    change_look(account=desk.account, text_view=TextView.MARKDOWN)

    html = signed_in(desk.account).get(item_url(desk, take(desk))).content.decode()

    assert "<em>slowly</em>" in html
    assert "# Evening" not in html
    assert "<b onclick" not in html


def test_view_and_reading_time_are_stored_with_the_answer(client: Client, desk: Desk) -> None:
    client.post(item_url(desk, take(desk)), sent(text_view="MARKDOWN", active_ms="12345"))

    label = Label.objects.get()
    assert (label.text_view, label.active_ms) == (TextView.MARKDOWN, 12345)


def test_view_and_reading_time_are_unknown_without_scripts(client: Client, desk: Desk) -> None:
    client.post(item_url(desk, take(desk)), sent())

    label = Label.objects.get()
    assert (label.text_view, label.active_ms) == (None, None)


@pytest.mark.parametrize("active_ms", [-1, MAX_ACTIVE_MS + 1])
def test_reading_time_that_cannot_be_is_refused(desk: Desk, active_ms: int) -> None:
    with pytest.raises(InvalidAnswer) as refusal:
        answer(take(desk), active_ms=active_ms)

    assert refusal.value.code == "active_ms_out_of_range"
    assert not Label.objects.exists()


def test_next_after_an_item_gives_another_with_the_following_number(client: Client, desk: Desk) -> None:
    first = take(desk)

    page = client.get(f"{url('next', desk)}?after={first.public_id}", follow=True)

    path = page.redirect_chain[-1][0]
    assert first.public_id not in path
    assert path.endswith("?ahead")
    assert "2 of 3" in page.content.decode()


def test_coming_back_after_the_next_was_fetched_leads_to_the_item_on_the_screen(
    client: Client, desk: Desk
) -> None:
    first = take(desk)
    client.get(f"{url('next', desk)}?after={first.public_id}")

    assert client.get(url("next", desk)).headers["Location"] == item_url(desk, first)


def test_flag_is_stored_and_leads_back_to_the_text(client: Client, desk: Desk) -> None:
    assignment = take(desk)

    page = client.post(item_url(desk, assignment, "flag"), {"note": "The text is cut off."}, follow=True)

    assert page.redirect_chain[-1][0] == f"{item_url(desk, assignment)}?told"
    assert "will look at this one" in page.content.decode()
    assert Flag.objects.get().note == "The text is cut off."


def test_endless_flag_is_422(client: Client, desk: Desk) -> None:
    page = client.post(item_url(desk, take(desk), "flag"), {"note": "x" * 2001})

    assert page.status_code == 422
    assert not Flag.objects.exists()


def test_own_answers_are_listed_newest_first_without_the_texts(client: Client, desk: Desk) -> None:
    answer(take(desk), Rating.ACCEPTABLE, note="My own note")
    skipped = take(desk)
    skip_item(assignment=skipped, annotator=desk.annotator, reason=SkipReason.UNCLEAR)
    last = take(desk)
    answer(last, Rating.UNACCEPTABLE)

    html = client.get(url("answers", desk)).content.decode()

    assert html.index(last.public_id) < html.index("My own note")
    assert "I cannot tell" in html
    assert item_url(desk, skipped) in html
    assert skipped.item.response.text not in html


def test_own_answers_before_the_first_say_so(client: Client, desk: Desk) -> None:
    assert "You have not answered anything yet" in client.get(url("answers", desk)).content.decode()


def test_thanks_page_says_why_there_is_nothing_to_read_just_now(desk: Desk) -> None:
    desk = make_desk(daily_cap=1)
    answer(take(desk))

    html = signed_in(desk.account).get(url("thanks", desk)).content.decode()

    assert "nobody is asked to read more in one day" in html
    assert ">Go on<" not in html
