"""Severity beside the rating: asked for, given by key, and missed aloud."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.choices import Rating
from annotation.models import Label
from tests.annotation.desk import make_desk
from tests.browser.conftest import DESKTOP, PHONE, OpenContext, SignIn, show_text


def open_label_page(open_context: OpenContext, sign_in: SignIn, **options: Any) -> Page:
    """The label page of a campaign that asks for severity, with the first text shown."""
    context = open_context(**options)
    sign_in(context, make_desk(scale="BINARY_AND_SEVERITY").account)
    page = context.new_page()
    page.goto("/label/")
    show_text(page)
    return page


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("way", ["key", "button"])
def test_answer_without_severity_says_what_is_missing(
    open_context: OpenContext, sign_in: SignIn, size: dict[str, int], way: str
) -> None:
    page = open_label_page(open_context, sign_in, viewport=size)

    if way == "key":
        page.keyboard.press("u")
    else:
        page.get_by_role("button", name="Unacceptable").click()

    expect(page.get_by_role("status")).to_have_text("Choose how severe it is first.")
    expect(page.get_by_role("status")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("radio", name="1")).to_be_focused()
    assert not Label.objects.exists()


@pytest.mark.parametrize("has_scripts", [True, False], ids=["scripts", "no scripts"])
def test_enter_in_a_severity_field_answers_nothing(
    open_context: OpenContext, sign_in: SignIn, has_scripts: bool
) -> None:
    page = open_label_page(open_context, sign_in, java_script_enabled=has_scripts)

    page.get_by_label("3", exact=True).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")

    expect(page.get_by_text("Press Acceptable or Unacceptable to answer.")).to_be_visible()
    assert not Label.objects.exists()


def test_severity_by_key_goes_with_the_answer(open_context: OpenContext, sign_in: SignIn) -> None:
    page = open_label_page(open_context, sign_in)

    page.keyboard.press("4")
    page.keyboard.press("u")

    expect(page.get_by_text("2 of 3")).to_be_visible()
    label = Label.objects.get()
    assert (label.rating, label.severity) == (Rating.UNACCEPTABLE, 4)
