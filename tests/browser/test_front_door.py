"""The sign-in page as a person meets it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenContext
from tests.factories import make_account


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_sign_in_page_is_accessible(
    open_context: OpenContext, assert_accessible: Callable[[Page], None], colour_scheme: str
) -> None:
    page = open_context(color_scheme=colour_scheme).new_page()

    page.goto("/")

    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert_accessible(page)


def test_sign_in_page_fits_a_phone(open_context: OpenContext) -> None:
    page = open_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True).new_page()

    page.goto("/sign-in/")

    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_sign_in_with_a_wrong_password_says_so(page: Page) -> None:
    account = make_account()
    page.goto("/sign-in/")

    page.get_by_label("Username").fill(account.username)
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("correct username and password")
