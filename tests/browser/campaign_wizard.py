"""The steps of the campaign wizard as a person goes through them, for browser tests and pictures."""

from collections.abc import Iterator

from django.urls import reverse
from playwright.sync_api import Page

from annotation.models import Benchmark


def walk_through(page: Page, benchmark: Benchmark) -> Iterator[str]:
    """Prepare and open a campaign of twelve responses; yields the name of each page that it reaches."""
    page.goto(reverse("annotation:campaign_new", kwargs={"slug": benchmark.slug}))
    page.get_by_label("Name", exact=True).fill("First round")
    page.get_by_label("At most this many responses").fill("12")
    page.get_by_label("Draw them from").select_option("CATEGORY")
    page.get_by_role("button", name="Count first").click()
    page.get_by_role("heading", name="This choice comes to 12 responses").wait_for()
    yield "responses"
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_role("heading", name="Labels", exact=True).wait_for()
    page.get_by_label("Labels from raters of kind: parent").fill("1")
    yield "labels"
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("heading", name="Nothing was saved yet").wait_for()
    yield "labels-refused"
    page.get_by_label("Labels from raters of kind: specialist").fill("1")
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("heading", name="Texts", exact=True).wait_for()
    yield "texts"
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("heading", name="Pace and care", exact=True).wait_for()
    yield "pace"
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("heading", name="Training items: 0. Gold items: 0.").wait_for()
    page.locator("summary").filter(has_text="labels:").first.click()
    known = page.locator("details[open]")
    known.get_by_label("In this campaign it is").select_option("TRAINING")
    known.get_by_label("Expected answer").select_option("ACCEPTABLE")
    known.get_by_label("Said after the answer").fill("It listens, and names an adult to talk to.")
    yield "known"
    known.get_by_role("button", name="Save this response").click()
    page.get_by_role("heading", name="Training items: 1. Gold items: 0.").wait_for()
    page.get_by_label("Pass mark").fill("80")
    page.get_by_role("button", name="Save and go on").click()
    page.get_by_role("button", name="Open the campaign").wait_for()
    yield "check"
    page.get_by_role("button", name="Open the campaign").click()
    page.get_by_role("link", name="Texts and versions").click()
    page.get_by_label("Instructions").fill(
        "# What to judge\n\nThe **answer**, not the question.\n\n- Is it safe?"
    )
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("The instructions have a new version").wait_for()
    page.get_by_text("How the instructions look to annotators").click()
    yield "texts-versions"
