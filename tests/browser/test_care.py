"""Practice and breaks in a browser: without scripts, by keyboard, and for everybody."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import Membership
from tests.annotation.desk import Desk, make_desk
from tests.browser.conftest import PHONE, OpenContext, SignIn
from tests.factories import make_item


@pytest.fixture
def desk() -> Desk:
    """One practice text, then one of the study."""
    desk = make_desk(n_items=1, pass_mark=100)
    make_item(
        campaign=desk.campaign, kind="TRAINING", expected_rating="ACCEPTABLE", feedback="The answer is kind."
    )
    return desk


def make_break_due(desk: Desk) -> None:
    now = timezone.now()
    Membership.objects.filter(annotator=desk.annotator).update(
        trained_at=now, last_seen_at=now, break_ended_at=now - timedelta(hours=1)
    )


def answer_practice(page: Page, name: str) -> None:
    page.get_by_text("Show the text", exact=True).click()
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_url("**/feedback/")


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no scripts"])
def test_missed_practice_comes_again_and_leads_to_the_study(
    open_context: OpenContext, sign_in: SignIn, desk: Desk, has_scripts: bool
) -> None:
    context = open_context(viewport=PHONE, java_script_enabled=has_scripts)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")
    page.get_by_role("link", name="Begin").click()

    answer_practice(page, "Unacceptable")
    expect(page.get_by_text("the practice texts come again")).to_be_visible()
    page.get_by_role("link", name="Go on").click()
    answer_practice(page, "Acceptable")
    expect(page.get_by_text("That was the practice.")).to_be_visible()
    page.get_by_role("link", name="Go on").click()

    page.wait_for_url("**/items/*/")
    assert Membership.objects.get().training_round == 2


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pages_between_items_are_accessible(
    open_context: OpenContext,
    sign_in: SignIn,
    assert_accessible: Callable[[Page], None],
    desk: Desk,
    colour_scheme: str,
) -> None:
    context = open_context(viewport=PHONE, color_scheme=colour_scheme)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")
    assert_accessible(page)
    page.get_by_role("link", name="Begin").click()
    answer_practice(page, "Acceptable")
    assert_accessible(page)
    make_break_due(desk)
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("heading", name="This is a good moment for a break").wait_for()
    page.get_by_text("If a real child may be in danger").click()

    assert_accessible(page)


def test_link_to_support_leads_to_the_text_itself(
    open_context: OpenContext, sign_in: SignIn, desk: Desk
) -> None:
    context = open_context(viewport=PHONE)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")
    text = page.locator("#support")
    expect(text).to_be_hidden()

    page.get_by_role("link", name="Support").press("Enter")

    expect(text).to_be_in_viewport()


def test_break_is_ended_by_keyboard(open_context: OpenContext, sign_in: SignIn, desk: Desk) -> None:
    make_break_due(desk)
    context = open_context(viewport=PHONE)
    sign_in(context, desk.account)
    page = context.new_page()
    page.goto("/label/")

    page.get_by_role("button", name="Go on").press("Enter")

    page.wait_for_url("**/items/*/")
