"""What becomes of verdicts, in a browser: compared, read again, judged again, their texts corrected."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import BrowserContext, Page, expect

from annotation.choices import CorrectionReason, Role
from annotation.correcting import correct_response
from annotation.models import Benchmark, Response
from carebench_web.demo.setup import import_benchmark
from judging.models import JudgePass, Verdict, VerdictRevision
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.judged_again import called_several_times, judged_later
from tests.browser.test_researcher_pages import DEVICES
from tests.factories import make_account

OPEN_FOLDS = "document.querySelectorAll('details').forEach(fold => { fold.open = true })"


@pytest.fixture
def benchmark(transactional_db: None, tmp_path: Path) -> Benchmark:
    return import_benchmark(tmp_path / "files")


@pytest.fixture
def later(benchmark: Benchmark) -> JudgePass:
    """A pass with misread and missing verdicts, and rows that stopped workers."""
    return judged_later(benchmark)


@pytest.fixture
def verdict(later: JudgePass) -> Verdict:
    """One with several calls and an earlier reading; its response was corrected since."""
    found = called_several_times(later)
    correct_response(
        found.response, text="Let us find somebody you trust.", reason=CorrectionReason.INCOMPLETE
    )
    return found


@pytest.fixture
def context(
    request: pytest.FixtureRequest, open_context: OpenContext, sign_in: SignIn, later: JudgePass
) -> BrowserContext:
    """A researcher's browser; a test may choose the device."""
    opened = open_context(**DEVICES[getattr(request, "param", "desktop, light")])
    sign_in(opened, make_account(role=Role.RESEARCHER))
    return opened


@pytest.mark.parametrize("context", DEVICES, indirect=True)
def test_pages_are_accessible_and_fit_the_screen(
    context: BrowserContext,
    benchmark: Benchmark,
    later: JudgePass,
    verdict: Verdict,
    assert_accessible: Callable[[Page], None],
) -> None:
    page = context.new_page()
    of_pass = [benchmark.slug, later.public_id]
    of_response = [benchmark.slug, verdict.response.public_id]
    marks = {
        reverse("judging:compare", args=[benchmark.slug]): "#figure-verdict-changes",
        reverse("judging:pass", args=of_pass): "#missing form",
        reverse("judging:reparse", args=of_pass): "#changed-verdicts",
        reverse("judging:verdict", args=[*of_pass, verdict.response.public_id, verdict.judge.slug]): "#calls",
        reverse("judging:correct", args=of_response): "form textarea",
        reverse("judging:response", args=of_response): "h1",
    }

    for path, mark in marks.items():
        page.goto(path)
        page.evaluate(OPEN_FOLDS)

        expect(page.locator(mark)).to_be_visible()
        assert_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


def test_replies_are_read_again_from_the_pass_without_a_pointer(
    context: BrowserContext, benchmark: Benchmark, later: JudgePass
) -> None:
    page = context.new_page()
    page.goto(reverse("judging:pass", args=[benchmark.slug, later.public_id]))

    page.get_by_role("link", name="Read the stored replies again").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("again would change")
    page.get_by_role("button", name="Change").press("Enter")

    page.get_by_role("link", name="Read the stored replies again").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("changes no verdict")
    assert VerdictRevision.objects.filter(verdict__judge_pass=later).exists()


def test_text_is_corrected_without_scripts(
    open_context: OpenContext, sign_in: SignIn, benchmark: Benchmark
) -> None:
    response = Response.objects.filter(prompt__benchmark=benchmark, items=None).order_by("pk")[:1].get()
    context = open_context(java_script_enabled=False)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()
    page.goto(reverse("judging:correct", args=[benchmark.slug, response.public_id]))

    page.get_by_label("Text", exact=True).fill("Let us call somebody you trust.\nYou are not alone.")
    page.get_by_role("button", name="Correct the text").click()

    expect(page.get_by_text("You are not alone.")).to_be_visible()
    response.refresh_from_db()
    assert response.text == "Let us call somebody you trust.\nYou are not alone."
