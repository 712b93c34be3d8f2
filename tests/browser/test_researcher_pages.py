"""The researcher's pages in a browser: usable by everyone, on every device, without scripts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django import Settings

from annotation.models import Account, Prompt
from tests.browser.conftest import OpenContext, SignIn
from tests.judging_pages.study import Study, make_study
from tests.judging_pages.test_uploads import PROMPTS

DEVICES = {
    "desktop, light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "desktop, dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone, light": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "phone, dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
PAGES = ("data", "labels", "judges", "calibration", "results", "exports", "rows", "pass", "response")


@pytest.fixture
def study(transactional_db: None) -> Study:
    return make_study()


@pytest.fixture
def context(
    request: pytest.FixtureRequest,
    open_context: OpenContext,
    sign_in: SignIn,
    study: Study,
    researcher: Account,
) -> BrowserContext:
    """The researcher's browser; a test may choose the device."""
    opened = open_context(**DEVICES[getattr(request, "param", "desktop, light")])
    sign_in(opened, researcher)
    return opened


def address(study: Study, page: str) -> str:
    more = {
        "pass": {"public_id": study.judge_pass.public_id},
        "response": {"public_id": study.responses[1].public_id},
    }
    return reverse(f"judging:{page}", kwargs={"slug": study.benchmark.slug, **more.get(page, {})})


@pytest.mark.parametrize("context", DEVICES, indirect=True)
def test_pages_are_accessible_and_fit_the_screen(
    context: BrowserContext, study: Study, assert_accessible: Callable[[Page], None]
) -> None:
    page = context.new_page()

    for name in PAGES:
        page.goto(address(study, name))

        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("name", ["upload form", "refusal"])
def test_other_pages_are_accessible(
    context: BrowserContext, study: Study, assert_accessible: Callable[[Page], None], name: str
) -> None:
    page = context.new_page()
    addresses = {
        "upload form": reverse("judging:new_benchmark"),
        "refusal": address(study, "calibration") + "?rule=nope",
    }
    page.goto(addresses[name])

    assert_accessible(page)


def test_number_leads_to_its_responses_and_one_of_them(context: BrowserContext, study: Study) -> None:
    page = context.new_page()
    page.goto(address(study, "calibration"))
    confusion = page.get_by_role("region", name="What the rule uniform and people's consensus said")
    count = confusion.get_by_role("link").first
    words = count.inner_text()

    count.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"{words} response")
    page.get_by_role("region", name="Responses").get_by_role("link").first.click()

    expect(page.get_by_role("heading", name="Prompt")).to_be_visible()


def test_table_sorts_by_its_unrounded_numbers(context: BrowserContext, study: Study) -> None:
    page = context.new_page()
    page.goto(address(study, "results"))
    table = page.get_by_role("region", name="Failure rate by target model")

    table.get_by_role("button", name="Failure rate").click()
    table.get_by_role("button", name="Failure rate").click()

    values = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => Number(row.querySelector('td data').value))"
    )
    assert len(values) == 2
    assert values == sorted(values)


def test_files_are_uploaded_checked_and_stored(
    context: BrowserContext,
    study: Study,
    settings: Settings,
    tmp_path: Path,
    assert_accessible: Callable[[Page], None],
) -> None:
    settings.DATA_DIR = tmp_path
    page = context.new_page()
    page.goto(address(study, "data"))
    n_prompts = Prompt.objects.count()

    page.get_by_label("CSV files").set_input_files(
        {"name": "prompts.csv", "mimeType": "text/csv", "buffer": PROMPTS.encode()}
    )
    page.get_by_role("button", name="Check the files").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "2 new rows and no problem. Nothing is stored yet."
    )
    assert_accessible(page)
    page.get_by_role("button", name="Store all rows").click()

    expect(page.get_by_text("Stored: 2 prompts.")).to_be_visible()
    assert Prompt.objects.count() == n_prompts + 2


def test_pages_work_without_scripts(
    open_context: OpenContext, sign_in: SignIn, study: Study, researcher: Account
) -> None:
    context = open_context(java_script_enabled=False)
    sign_in(context, researcher)
    page = context.new_page()
    page.goto(address(study, "calibration"))

    page.get_by_label("Labels of").select_option(label="First campaign")
    page.get_by_role("button", name="Show").click()

    assert f"campaign={study.campaign.public_id}" in page.url
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "The panel agrees with people's consensus at κ"
    )
