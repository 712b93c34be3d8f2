"""Collecting responses in a browser: from choosing to a collection that runs, also without a pointer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotation.choices import Role
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import Generation
from tests.browser.conftest import OpenContext, SignIn
from tests.collecting import stage
from tests.factories import make_account

DEVICES: dict[str, dict[str, Any]] = {
    "desktop, light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "phone, dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}


@pytest.mark.parametrize("device", DEVICES)
def test_from_choosing_to_a_collection_that_runs(
    open_context: OpenContext,
    sign_in: SignIn,
    settings: Any,
    tmp_path: Path,
    assert_accessible: Callable[[Page], None],
    device: str,
) -> None:
    benchmark = stage.make_prompts(3)
    context = open_context(**DEVICES[device])
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()

    def look() -> None:
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url

    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(
            tmp_path / "endpoints.toml", base_url, key_variable=None
        )
        page.goto(reverse("judging:data", args=[benchmark.slug]))
        page.get_by_role("link", name="Collect responses").click()
        page.get_by_label("model-a").check()
        page.get_by_label("Rollouts").fill("2")
        page.get_by_label("Rollouts").press("Tab")
        expect(page.get_by_text("6 calls")).to_be_visible()
        look()
        page.get_by_role("button", name="Check before starting").press("Enter")
        expect(page.get_by_text("Every model answers")).to_be_visible()
        expect(page.get_by_text("The loopback provider answers here")).to_be_visible()
        look()
        page.get_by_role("button", name="Change the choices").click()
        expect(page.get_by_label("Rollouts")).to_have_value("2")
        page.get_by_role("button", name="Check before starting").click()
        page.get_by_role("button", name="Start collecting").press("Enter")
        expect(page.get_by_text("collection-1 is running: 0 of 6 responses")).to_be_visible()
        look()

    assert Generation.objects.filter(state="PENDING").count() == 6
