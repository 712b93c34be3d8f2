"""Labelling as a person does it: by keyboard and by touch, offline, signed out, in two windows."""

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotation.campaigns import withdraw_consent
from annotation.choices import LabelAction, Rating, Role
from annotation.models import Consent, Label
from annotation.selectors import current_labels
from tests.annotation.desk import Desk, make_desk
from tests.browser.conftest import DESKTOP, PHONE, OpenContext, SignIn, show_text
from tests.conftest import signed_in
from tests.factories import PASSWORD, make_account


@pytest.fixture
def desk() -> Desk:
    return make_desk(n_items=5)


@pytest.fixture
def context(open_context: OpenContext, sign_in: SignIn, desk: Desk) -> BrowserContext:
    """The annotator's browser, signed in and with consent given."""
    context = open_context(viewport=DESKTOP)
    sign_in(context, desk.account)
    return context


@pytest.fixture
def label_page(context: BrowserContext) -> Page:
    """The label page with the text of the first item shown."""
    page = context.new_page()
    page.goto("/label/")
    show_text(page)
    return page


def label_by_key(page: Page, key: str) -> None:
    """Show the text and press a key; done when the next page is there."""
    here = page.url
    page.get_by_text("Show the text").click()
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != here and "/next/" not in url)


def campaign_row(desk: Desk) -> dict[str, int]:
    """The campaign's numbers on the researcher's Labels page."""
    path = reverse("judging:labels", kwargs={"slug": desk.campaign.benchmark.slug})
    html = signed_in(make_account(role=Role.RESEARCHER)).get(path).content.decode()
    row = html.split(desk.campaign.name, 1)[1].split("</tr>", 1)[0]
    numbers = [int(number) for number in re.findall(r'<data value="(\d+)"', row)]
    return dict(zip(["items", "wanted", "annotators", "labels", "labelled"], numbers, strict=True))


def test_whole_visit_by_keyboard(open_context: OpenContext, desk: Desk) -> None:
    Consent.objects.all().delete()
    page = open_context(viewport=DESKTOP).new_page()
    page.goto("/")
    page.get_by_label("Username").fill(desk.account.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="I agree, begin").click()

    for position, key in enumerate("aua", start=1):
        expect(page.get_by_text(f"{position} of 5")).to_be_visible()
        label_by_key(page, key)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("3 of 5")).to_be_visible()
    undone = page.url
    page.get_by_role("link", name="Stop now").click()
    expect(page.get_by_role("heading", name="You have stopped")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.goto("/")
    page.get_by_label("Username").fill(desk.account.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")

    expect(page).to_have_url(undone)
    ratings = [label.rating for label in current_labels(desk.campaign.benchmark)]
    assert ratings == [Rating.ACCEPTABLE, Rating.UNACCEPTABLE]
    assert campaign_row(desk) == {"items": 5, "wanted": 1, "annotators": 1, "labels": 2, "labelled": 2}
    assert Label.objects.filter(action=LabelAction.RETRACTED).count() == 1


def test_save_state_shows_the_time_in_the_viewers_zone(
    open_context: OpenContext, sign_in: SignIn, desk: Desk
) -> None:
    context = open_context(timezone_id="Asia/Kathmandu")
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")
    expect(page.locator("#save-state")).to_have_text("nothing sent yet")

    label_by_key(page, "a")

    local = page.evaluate(
        "at => new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })",
        Label.objects.get().created_at.isoformat(),
    )
    expect(page.locator("#save-state")).to_have_text(f"saved {local}")


def test_offline_answer_waits_and_is_stored_exactly_once(context: BrowserContext, label_page: Page) -> None:
    context.set_offline(True)
    label_page.keyboard.press("u")
    expect(label_page.locator("#save-state")).to_have_text("not saved, retrying")
    n_while_offline = Label.objects.count()
    context.set_offline(False)

    expect(label_page.get_by_text("2 of 5")).to_be_visible()

    assert n_while_offline == 0
    assert [label.rating for label in Label.objects.all()] == [Rating.UNACCEPTABLE]


def test_lost_reply_is_asked_for_again_and_stored_once(label_page: Page) -> None:
    def store_and_lose_the_reply(route: Route) -> None:
        route.fetch()
        route.abort()

    label_page.route("**/items/*/", store_and_lose_the_reply, times=1)
    label_page.keyboard.press("a")

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    assert Label.objects.count() == 1


def _refuse_posts(route: Route) -> None:
    if route.request.method == "POST":
        route.abort()
    else:
        route.continue_()


def test_answer_survives_a_reload_while_offline(context: BrowserContext, label_page: Page) -> None:
    item_page = label_page.url
    label_page.get_by_text("Add a note").click()
    label_page.get_by_label("Note").fill("Half a thought")
    context.set_offline(True)
    label_page.get_by_role("button", name="Unacceptable").click()
    expect(label_page.locator("#save-state")).to_have_text("not saved, retrying")
    label_page.on("dialog", lambda dialog: dialog.accept())
    # Only answers stay cut off, so that none slips out before the page is loaded again.
    context.route(item_page, _refuse_posts)
    context.set_offline(False)
    label_page.goto(item_page)
    context.unroute(item_page)

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    label = Label.objects.get()
    assert (label.rating, label.note) == (Rating.UNACCEPTABLE, "Half a thought")


def test_answer_given_after_the_session_ended_is_kept_through_sign_in(
    context: BrowserContext, label_page: Page, desk: Desk
) -> None:
    context.clear_cookies()
    label_page.keyboard.press("u")
    label_page.get_by_role("link", name="sign in to save it").click()
    n_before = Label.objects.count()
    label_page.get_by_label("Username").fill(desk.account.username)
    label_page.get_by_label("Password").fill(PASSWORD)
    label_page.keyboard.press("Enter")

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    assert n_before == 0
    assert [label.rating for label in Label.objects.all()] == [Rating.UNACCEPTABLE]


def test_answer_after_the_token_changed_in_another_window_is_stored(
    context: BrowserContext, label_page: Page, desk: Desk
) -> None:
    context.clear_cookies()
    other = context.new_page()
    other.goto("/sign-in/")
    other.get_by_label("Username").fill(desk.account.username)
    other.get_by_label("Password").fill(PASSWORD)
    other.keyboard.press("Enter")
    other.wait_for_url("**/items/*/")

    label_page.keyboard.press("a")

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    assert Label.objects.count() == 1


def test_two_keys_in_a_row_answer_the_item_that_was_shown(label_page: Page, desk: Desk) -> None:
    shown = label_page.url

    label_page.evaluate(
        """() => {
          for (const key of ["a", "u", "u"])
            document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        }"""
    )

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    label = Label.objects.get()
    assert label.rating == Rating.ACCEPTABLE
    assert label.item.assignments.get().public_id in shown


def test_typing_a_note_fires_no_shortcut(label_page: Page) -> None:
    label_page.get_by_text("Add a note").click()
    label_page.get_by_label("Note").press_sequentially("a quiet answer, usable")

    expect(label_page.get_by_label("Note")).to_have_value("a quiet answer, usable")
    assert not Label.objects.exists()


def test_key_before_the_text_was_shown_answers_nothing(context: BrowserContext) -> None:
    page = context.new_page()
    page.goto("/label/")

    page.keyboard.press("a")

    expect(page.locator("#save-state")).to_contain_text("Read the text first")
    assert not Label.objects.exists()


def test_text_can_be_hidden_again(label_page: Page) -> None:
    label_page.get_by_text("Hide the text").click()

    expect(label_page.get_by_text("The person wrote")).to_be_hidden()


def test_back_change_and_send_is_a_revision(label_page: Page) -> None:
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()

    label_page.go_back()
    expect(label_page.get_by_text("You have answered this one")).to_be_visible()
    expect(label_page.get_by_role("button", name="Acceptable", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    show_text(label_page)
    label_page.get_by_role("button", name="Unacceptable").click()

    expect(label_page.get_by_text("2 of 5")).to_be_visible()
    rows = Label.objects.order_by("revision").values_list("action", "rating", "is_current")
    assert list(rows) == [
        (LabelAction.SUBMITTED, Rating.ACCEPTABLE, False),
        (LabelAction.REVISED, Rating.UNACCEPTABLE, True),
    ]


def test_second_window_sees_both_answers_and_replaces(context: BrowserContext, label_page: Page) -> None:
    stale = context.new_page()
    stale.goto(label_page.url)
    show_text(stale)
    label_page.keyboard.press("a")
    expect(label_page.get_by_text("2 of 5")).to_be_visible()

    stale.keyboard.press("u")
    expect(stale.get_by_role("heading", name="You have two answers to this one")).to_be_visible()
    n_before = Label.objects.count()
    stale.get_by_role("button", name="Replace it by the new one").click()

    expect(stale.get_by_text("2 of 5")).to_be_visible()
    assert n_before == 1
    assert Label.objects.get(is_current=True).rating == Rating.UNACCEPTABLE


def test_consent_withdrawn_in_another_window_refuses_the_answer(label_page: Page, desk: Desk) -> None:
    withdraw_consent(campaign=desk.campaign, annotator=desk.annotator)

    label_page.keyboard.press("a")

    expect(label_page.get_by_text("there is no consent from you")).to_be_visible()
    assert not Label.objects.exists()


def test_without_scripts_everything_works(open_context: OpenContext, sign_in: SignIn, desk: Desk) -> None:
    context = open_context(java_script_enabled=False, viewport=PHONE)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")

    show_text(page)
    page.get_by_text("Add a note").click()
    page.get_by_label("Note").fill("By the plain form")
    page.get_by_role("button", name="Unacceptable").click()
    expect(page.get_by_text("2 of 5")).to_be_visible()
    page.get_by_text("Skip", exact=True).click()
    page.get_by_role("button", name="I cannot tell").click()
    expect(page.get_by_text("3 of 5")).to_be_visible()
    page.get_by_role("button", name="Undo").click()

    expect(page.get_by_text("2 of 5")).to_be_visible()
    assert list(Label.objects.order_by("revision").values_list("action", "note")) == [
        (LabelAction.SUBMITTED, "By the plain form"),
        (LabelAction.RETRACTED, None),
    ]


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_every_page_is_accessible_and_fits(
    open_context: OpenContext,
    sign_in: SignIn,
    assert_accessible: Callable[[Page], None],
    colour_scheme: str,
    size: dict[str, int],
) -> None:
    desk = make_desk(scale="BINARY_AND_SEVERITY", n_items=1, support_text="Call a friend.")
    Consent.objects.all().delete()
    context = open_context(viewport=size, color_scheme=colour_scheme)
    sign_in(context, desk.account)
    page = context.new_page()

    def check() -> None:
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]

    page.goto("/label/")
    check()
    page.get_by_role("button", name="I agree, begin").click()
    check()
    show_text(page)
    page.get_by_text("Add a note").click()
    page.get_by_text("Skip", exact=True).click()
    check()
    page.get_by_role("link", name="Stop now").click()
    check()
    page.get_by_role("link", name=re.compile("Withdraw")).click()
    check()
    page.get_by_role("link", name="Keep it and go on").click()
    show_text(page)
    page.keyboard.press("2")
    page.keyboard.press("a")
    expect(page.get_by_role("heading", name=re.compile("Thank you"))).to_be_visible()
    check()
    page.go_back()
    expect(page.get_by_text("You have answered this one")).to_be_visible()
    check()


def test_phone_shows_both_answers_equally_large_without_scrolling(
    open_context: OpenContext, sign_in: SignIn, desk: Desk
) -> None:
    context = open_context(viewport=PHONE, is_mobile=True, has_touch=True)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")

    show_text(page)
    boxes = [
        page.get_by_role("button", name=name, exact=True).bounding_box()
        for name in ("Acceptable", "Unacceptable")
    ]

    first, second = (box for box in boxes if box)
    assert (first["width"], first["height"]) == (second["width"], second["height"])
    assert first["y"] == second["y"]
    assert first["height"] >= 44
    assert second["y"] + second["height"] <= PHONE["height"]
