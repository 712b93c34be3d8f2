"""Coming by a link and leaving again, in a browser: on a phone, without scripts, right to left."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.campaigns import invite
from annotation.choices import AnnotatorType, Role
from annotation.models import Account, Label
from tests.annotation.desk import Desk, make_desk
from tests.browser.conftest import PHONE, OpenContext, SignIn
from tests.factories import make_account

PASSWORD = "four mild green words"
Accessible = Callable[[Page], None]


@pytest.fixture
def desk(live_server: LiveServer) -> Desk:
    return make_desk(n_items=3, n_annotators=0, withdrawal_policy="DELETE")


@pytest.fixture
def link(desk: Desk) -> str:
    [new] = invite(campaign=desk.campaign, annotator_type=AnnotatorType.PARENT, actor=None)
    return reverse("annotation:join", args=[new.secret])


def come_in(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("link", name="I have noted it, go on").click()
    page.get_by_role("button", name="I agree, begin").click()


def fits(page: Page) -> bool:
    """No page scrolls sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def test_person_comes_answers_and_leaves_without_scripts(open_context: OpenContext, link: str) -> None:
    page = open_context(java_script_enabled=False, viewport=PHONE).new_page()

    come_in(page, link)
    page.get_by_text("Show the text").click()
    page.get_by_role("button", name="Unacceptable").click()
    n_given = Label.objects.filter(is_current=True).count()
    page.get_by_role("link", name="Stop now").click()
    page.get_by_role("link", name="Withdraw my consent").click()
    expect(page.get_by_text("The answer that you gave is deleted.")).to_be_visible()
    page.get_by_role("button", name="Withdraw my consent").click()

    expect(page.get_by_role("heading", name="Your consent is withdrawn")).to_be_visible()
    assert n_given == 1
    assert not Label.objects.filter(erased_at=None).exists()
    assert not Account.objects.get().is_active


@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_every_page_of_coming_and_leaving_is_accessible(
    open_context: OpenContext, link: str, assert_accessible: Accessible, colour_scheme: str
) -> None:
    page = open_context(viewport=PHONE, color_scheme=colour_scheme).new_page()

    def check(heading: str) -> None:
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
        assert_accessible(page)
        assert fits(page)

    page.goto(link)
    check("You are invited")
    page.get_by_label("Choose a password").fill("short")
    page.get_by_role("button", name="Go on").click()
    check("Nothing was saved yet")
    page.get_by_label("Choose a password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").click()
    check("Please note your sign-in name")
    page.get_by_role("link", name="I have noted it, go on").click()
    check("Before you begin")
    page.get_by_role("link", name="Choose themes").click()
    check("Themes that you do not want to read")
    page.go_back()
    page.get_by_role("button", name="I agree, begin").click()
    page.goto(reverse("annotation:consents"))
    check("What you agreed to")
    page.get_by_role("link", name="Withdraw my consent").click()
    check("Withdraw your consent?")
    page.get_by_role("button", name="Withdraw my consent").click()
    check("Your consent is withdrawn")
    page.goto(link)
    check("This link cannot be used")


def test_pages_stand_right_to_left(open_context: OpenContext, link: str) -> None:
    page = open_context(viewport=PHONE, locale="ar").new_page()

    page.goto(link)

    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert fits(page)


def test_researcher_makes_links_and_deactivates(
    page: Page, sign_in: SignIn, desk: Desk, assert_accessible: Accessible
) -> None:
    sign_in(page.context, make_account(role=Role.RESEARCHER))
    page.goto(reverse("annotation:campaign_people", args=[desk.campaign.public_id]))

    page.get_by_label("Number of links").fill("2")
    page.get_by_role("button", name="Make links").click()

    expect(page.get_by_role("heading", name="New links, shown this once")).to_be_visible()
    expect(page.locator(".link-address")).to_have_count(2)
    assert_accessible(page)
    page.get_by_role("button", name="Take back").first.click()
    expect(page.get_by_text("The link was taken back.")).to_be_visible()


def test_auditor_sees_the_people_and_no_form(page: Page, sign_in: SignIn, desk: Desk) -> None:
    sign_in(page.context, make_account(role=Role.AUDITOR))

    page.goto(reverse("annotation:campaign_people", args=[desk.campaign.public_id]))

    expect(page.get_by_text("You read as an auditor.")).to_be_visible()
    expect(page.get_by_role("button", name="Make links")).to_be_hidden()
