"""The next text at once, also without a network; notes kept; the look remembered; keys named."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.choices import AssignmentState, Rating, TextView
from annotation.models import Account, Assignment, Draft, Flag, Label
from tests.annotation.desk import Desk, answer, item_url, make_desk, take
from tests.browser.conftest import DESKTOP, PHONE, OpenContext, SignIn, show_text
from tests.browser.test_labelling import label_by_key, wait_for_scripts
from tests.factories import PASSWORD


@pytest.fixture
def desk() -> Desk:
    return make_desk(n_items=5)


@pytest.fixture
def context(open_context: OpenContext, sign_in: SignIn, desk: Desk) -> BrowserContext:
    context = open_context(viewport=DESKTOP)
    sign_in(context, desk.account)
    return context


@pytest.fixture
def label_page(context: BrowserContext) -> Page:
    """The first text is shown, and the page of the second has been fetched."""
    page = context.new_page()
    with page.expect_response(lambda reply: "?ahead" in reply.url) as fetched:
        page.goto("/label/")
    fetched.value.finished()
    wait_for_scripts(page)
    show_text(page)
    return page


def test_next_text_is_there_without_another_request(label_page: Page) -> None:
    asked: list[str] = []
    label_page.on("request", lambda request: asked.append(request.method))
    first = label_page.url

    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()

    assert label_page.url != first
    assert asked[:1] == ["POST"]
    expect(label_page).to_have_title(re.compile("2 of 5"))
    expect(label_page.locator("#save-state")).to_have_text(re.compile(r"^saved \d\d:\d\d$"))
    assert Label.objects.get().item.assignments.get().public_id in first


def test_offline_person_reads_on_and_both_answers_arrive_once(
    context: BrowserContext, label_page: Page
) -> None:
    context.set_offline(True)
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    show_text(label_page)
    label_page.keyboard.press("u")
    expect(label_page.locator("#save-state")).to_have_text("not saved, retrying")
    expect(label_page.get_by_role("button", name="Undo")).to_be_hidden()
    n_while_offline = Label.objects.count()
    context.set_offline(False)

    expect(label_page.get_by_text("3 of 5")).to_be_visible()
    assert n_while_offline == 0
    ratings = Label.objects.order_by("created_at").values_list("rating", flat=True)
    assert list(ratings) == [Rating.ACCEPTABLE, Rating.UNACCEPTABLE]


def test_answers_given_offline_survive_a_closed_window(context: BrowserContext, label_page: Page) -> None:
    context.set_offline(True)
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    label_page.close()
    context.set_offline(False)

    page = context.new_page()
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        page.goto("/label/")
    expect(page.locator("#save-state")).to_have_text(re.compile("^saved"))

    assert [label.rating for label in Label.objects.all()] == [Rating.ACCEPTABLE]


def test_answer_of_one_person_is_never_sent_by_another(
    context: BrowserContext, label_page: Page, open_context: OpenContext, sign_in: SignIn
) -> None:
    other = make_desk()
    context.set_offline(True)
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    label_page.close()
    context.set_offline(False)
    sign_in(context, other.account)
    page = context.new_page()
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)

    page.goto("/label/")
    wait_for_scripts(page)
    label_by_key(page, "u")

    assert [other.campaign.public_id in post for post in posts] == [True]
    assert [label.annotator for label in Label.objects.all()] == [other.annotator]


def test_answer_refused_after_the_page_moved_on_can_be_looked_at(
    context: BrowserContext, label_page: Page, desk: Desk
) -> None:
    context.set_offline(True)
    label_page.keyboard.press("u")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    answer(Assignment.objects.order_by("pk")[0], Rating.ACCEPTABLE)
    context.set_offline(False)

    label_page.get_by_role("button", name="See why").click()

    expect(label_page.get_by_role("heading", name="You have two answers to this one")).to_be_visible()
    assert [label.rating for label in Label.objects.all()] == [Rating.ACCEPTABLE]


def test_session_that_ended_while_offline_keeps_both_answers(
    context: BrowserContext, label_page: Page, desk: Desk
) -> None:
    context.set_offline(True)
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    show_text(label_page)
    label_page.keyboard.press("u")
    context.clear_cookies()
    context.set_offline(False)
    label_page.get_by_role("link", name="sign in to save it").click()
    label_page.get_by_label("Username").fill(desk.account.username)
    label_page.get_by_label("Password").fill(PASSWORD)
    label_page.keyboard.press("Enter")

    expect(label_page.get_by_text("3 of 5")).to_be_visible()
    assert Label.objects.count() == 2


def test_undo_after_the_page_moved_on_takes_back_the_answer_just_saved(label_page: Page) -> None:
    first = label_page.url
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    expect(label_page.locator("#save-state")).to_have_text(re.compile("^saved"))

    label_page.keyboard.press("z")

    expect(label_page).to_have_url(first)
    assert not Label.objects.filter(is_current=True).exists()


def test_text_that_was_fetched_and_never_seen_is_not_counted_as_shown(label_page: Page) -> None:
    shown = Assignment.objects.exclude(first_shown_at=None)

    assert Assignment.objects.filter(state=AssignmentState.OPEN).count() == 2
    assert [assignment.public_id in label_page.url for assignment in shown] == [True]


def test_note_is_kept_without_sending_an_answer(context: BrowserContext, label_page: Page) -> None:
    label_page.get_by_text("Add a note").click()
    label_page.get_by_label("Note", exact=True).fill("Half a thought")
    expect(label_page.locator("#draft-state")).to_have_text("note kept")
    label_page.close()
    page = context.new_page()
    page.goto("/label/")

    expect(page.get_by_label("Note", exact=True)).to_have_value("Half a thought")
    assert not Label.objects.exists()
    show_text(page)
    wait_for_scripts(page)
    page.keyboard.press("a")
    expect(page.get_by_text("2 of 5")).to_be_visible()
    assert Label.objects.get().note == "Half a thought"
    assert not Draft.objects.exists()


def test_reading_time_counts_what_was_read_and_not_what_was_hidden(
    open_context: OpenContext, sign_in: SignIn, desk: Desk
) -> None:
    context = open_context(viewport=DESKTOP)
    sign_in(context, desk.account)
    page = context.new_page()
    page.clock.install()
    page.goto("/label/")
    wait_for_scripts(page)
    page.clock.run_for(40_000)
    show_text(page)
    page.mouse.move(5, 5)
    page.clock.run_for(30_000)
    page.clock.run_for(600_000)
    page.mouse.move(9, 9)

    page.keyboard.press("u")
    expect(page.get_by_text("2 of 5")).to_be_visible()

    # The minute after the last sign of the person counts, the nine and a half after it do not.
    read_ms = Label.objects.get().active_ms
    assert read_ms is not None
    assert 55_000 <= read_ms <= 65_000


def test_list_of_keys_opens_by_key_and_stops_the_others(label_page: Page) -> None:
    label_page.keyboard.press("?")
    expect(label_page.get_by_role("dialog", name="Keys")).to_be_visible()
    label_page.keyboard.press("a")
    label_page.keyboard.press("Escape")

    expect(label_page.get_by_role("dialog")).to_be_hidden()
    expect(label_page.get_by_text("1 of 5")).to_be_visible()
    assert not Label.objects.exists()


def test_keys_follow_the_place_where_the_keyboard_writes_another_script(label_page: Page) -> None:
    label_page.evaluate(
        """() => document.body.dispatchEvent(
            new KeyboardEvent("keydown", { key: "ع", code: "KeyU", bubbles: true }))"""
    )

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    assert Label.objects.get().rating == Rating.UNACCEPTABLE


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no scripts"])
def test_size_colours_and_view_are_remembered_on_the_account(
    open_context: OpenContext, sign_in: SignIn, desk: Desk, has_scripts: bool
) -> None:
    context = open_context(viewport=PHONE, java_script_enabled=has_scripts)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")
    for group, choice in [("Size", "largest"), ("Colours", "dark"), ("The texts", "with headings and lists")]:
        page.get_by_text("Text size and colours").click()
        page.get_by_role("group", name=group).get_by_role("button", name=choice, exact=True).click()

    elsewhere = open_context(viewport=DESKTOP)
    sign_in(elsewhere, desk.account)
    other = elsewhere.new_page()
    other.goto("/label/")

    root = other.locator("html")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(root).to_have_css("font-size", "22px")
    show_text(other)
    wait_for_scripts(other)
    other.keyboard.press("a")
    expect(other.get_by_text("2 of 5")).to_be_visible()
    assert Label.objects.get().text_view == TextView.MARKDOWN
    assert Account.objects.get(pk=desk.account.pk).theme == "DARK"


def test_own_answers_lead_back_to_each_and_a_change_is_a_revision(label_page: Page) -> None:
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    expect(label_page.locator("#save-state")).to_have_text(re.compile("^saved"))
    label_page.get_by_role("link", name="Your answers").click()
    label_page.get_by_role("link", name=re.compile("Open")).click()
    wait_for_scripts(label_page)
    show_text(label_page)
    label_page.keyboard.press("u")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()

    assert [label.rating for label in Label.objects.order_by("revision")] == ["ACCEPTABLE", "UNACCEPTABLE"]


def test_telling_the_study_keeps_the_text_in_hand(label_page: Page) -> None:
    here = label_page.url
    label_page.get_by_text("Tell the study").click()
    label_page.get_by_label("What should they look at?").fill("The text is cut off.")
    label_page.get_by_role("button", name="Send").click()

    expect(label_page.get_by_text("will look at this one")).to_be_visible()
    expect(label_page).to_have_url(f"{here}?told")
    assert Flag.objects.get().note == "The text is cut off."


def test_page_at_twice_the_size_on_a_small_screen_hides_nothing(
    open_context: OpenContext, sign_in: SignIn, desk: Desk
) -> None:
    # 200 % zoom of a 640 pixel wide window leaves 320 of them.
    context = open_context(viewport={"width": 320, "height": 512}, device_scale_factor=2)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")
    show_text(page)

    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    for name in ("Acceptable", "Unacceptable"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)


def test_right_to_left_page_fits_and_keeps_the_order_of_the_buttons(
    open_context: OpenContext, sign_in: SignIn, desk: Desk
) -> None:
    Account.objects.filter(pk=desk.account.pk).update(language="ar")
    context = open_context(viewport=PHONE, is_mobile=True, has_touch=True)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto(item_url(desk, take(desk)))
    page.locator("#reveal > summary").tap()

    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    wait_for_scripts(page)
    here = page.url
    page.locator("button[value=ACCEPTABLE]").tap()
    page.wait_for_url(lambda url: url != here and "/items/" in url)
    assert Label.objects.get().rating == Rating.ACCEPTABLE


def test_reply_that_never_comes_does_not_hold_the_person_up(label_page: Page) -> None:
    held: list[Route] = []
    label_page.route("**/items/*/", lambda route: held.append(route), times=1)

    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    expect(label_page.locator("#save-state")).to_have_text("saving")
    n_before = Label.objects.count()
    held[0].continue_()
    expect(label_page.locator("#save-state")).to_have_text(re.compile("^saved"))

    assert (n_before, Label.objects.count()) == (0, 1)
