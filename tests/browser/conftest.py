"""Chromium for the tests in this folder, and what they ask of every page."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from annotation.models import Account
from tests.services import CHROMIUM_FLAGS, find_chromium, skip_without

HERE = Path(__file__).parent
GRAVE_IMPACTS = {"serious", "critical"}
TIMEOUT_MS = 10_000
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
FIELDS = "input:not([type=hidden]):not([type=submit]), select, textarea"
FIELDS_WITHOUT_A_NAME = """fields => fields
    .filter(field => !field.labels.length && !field.ariaLabel && !field.getAttribute("aria-labelledby"))
    .map(field => field.outerHTML)"""

OpenContext = Callable[..., BrowserContext]
SignIn = Callable[[BrowserContext, Account], None]


def show_text(page: Page) -> None:
    """Uncover the texts of the label page."""
    page.get_by_text("Show the text").click()
    expect(page.get_by_text("The person wrote")).to_be_visible()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives Chromium."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for this folder.

    Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
    """
    program = find_chromium()
    if program is None:
        skip_without("Chromium")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        chromium = playwright.chromium.launch(executable_path=program, args=list(CHROMIUM_FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def open_context(browser: Browser, live_server: LiveServer) -> Iterator[OpenContext]:
    """Open a browser context (a separate person at a separate device) at the live server.

    Keyword arguments are those of Playwright's `new_context`. At the end of the test no page may
    have reported an error: a script that failed, or something that the content policy refused.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(**options: Any) -> BrowserContext:
        context = browser.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(TIMEOUT_MS)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        context.on(
            "console", lambda message: complaints.append(message.text) if _is_refusal(message) else None
        )
        contexts.append(context)
        return context

    yield open_one
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_context: OpenContext) -> Page:
    """A page on a desktop, signed in as nobody."""
    return open_context(viewport={"width": 1280, "height": 800}).new_page()


@pytest.fixture
def sign_in(live_server: LiveServer) -> SignIn:
    """Give a context the session of an account, without the way through the sign-in page."""

    def give_session(context: BrowserContext, account: Account) -> None:
        client = Client()
        client.force_login(account)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": live_server.url}])

    return give_session


@pytest.fixture
def assert_accessible() -> Callable[[Page], None]:
    """Fail when axe finds something serious or critical, or a field without a label of its own."""

    def check(page: Page) -> None:
        found = Axe().run(page).response["violations"]
        grave = [
            f"{violation['id']}: {violation['help']} at {[node['target'] for node in violation['nodes']]}"
            for violation in found
            if violation["impact"] in GRAVE_IMPACTS
        ]
        # axe takes a placeholder for a name; a person who has typed something no longer sees it.
        unnamed = page.eval_on_selector_all(FIELDS, FIELDS_WITHOUT_A_NAME)
        assert grave + unnamed == []

    return check


def _is_refusal(message: Any) -> bool:
    return message.type == "error" and "Content Security Policy" in message.text
