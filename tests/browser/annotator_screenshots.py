"""Pictures of every page that annotators see, in four forms each: `make screenshots`."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation import protocol
from annotation.campaigns import invite
from annotation.choices import AnnotatorType, Role
from annotation.models import Consent
from tests.annotation.desk import make_desk
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.screenshots import FOLDER, SIZES
from tests.factories import make_account, make_item


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_an_annotators_visit(
    open_context: OpenContext, sign_in: SignIn, colour_scheme: str, size: str
) -> None:
    """The annotator's pages in the order in which a person meets them, then the researcher's view of it."""
    desk = make_desk(
        n_items=2,
        scale="BINARY_AND_SEVERITY",
        instructions=protocol.INSTRUCTIONS,
        content_warning=protocol.CONTENT_WARNING,
        consent_text=protocol.CONSENT_TEXT,
    )
    Consent.objects.all().delete()
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, desk.account)
    page = context.new_page()

    def picture(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png")

    page.goto("/label/")
    picture("label-consent")
    page.get_by_role("button", name="I agree, begin").click()
    picture("label-hidden")
    page.get_by_text("Show the text").click()
    picture("label-shown")
    page.get_by_text("Add a note").click()
    page.get_by_text("Skip", exact=True).click()
    picture("label-note-and-skip")
    page.get_by_text("Add a note").click()
    page.get_by_text("Skip", exact=True).click()
    page.get_by_text("Tell the study").click()
    page.get_by_text("Text size and colours").click()
    picture("label-look-and-tell")
    if size == "desktop":
        page.keyboard.press("?")
        picture("label-keys")
        page.keyboard.press("Escape")
    stale = context.new_page()
    stale.goto(page.url)
    page.get_by_label("2", exact=True).check()
    page.get_by_role("button", name="Acceptable", exact=True).click()
    page.get_by_text("2 of 2").wait_for()
    page.go_back()
    page.get_by_text("You have answered this one").wait_for()
    picture("label-revision")
    page.get_by_role("link", name="Your answers").click()
    picture("label-answers")
    page.get_by_role("link", name="Stop now").click()
    picture("label-stopped")
    page.get_by_role("link", name="Withdraw my consent").click()
    picture("label-withdraw")
    page.get_by_role("link", name="Keep it and go back").click()
    page.get_by_text("Show the text").click()
    page.get_by_label("4", exact=True).check()
    context.set_offline(True)
    page.get_by_role("button", name="Unacceptable").click()
    page.get_by_text("not saved, retrying").wait_for()
    page.screenshot(path=FOLDER / f"label-offline-{colour_scheme}-{size}.png")
    context.set_offline(False)
    page.get_by_role("heading", name="Thank you").wait_for()
    picture("label-thanks")
    page = stale
    page.get_by_text("Show the text").click()
    page.get_by_label("5", exact=True).check()
    page.get_by_role("button", name="Unacceptable").click()
    page.get_by_role("heading", name="You have two answers").wait_for()
    picture("label-conflict")

    researchers = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(researchers, make_account(role=Role.RESEARCHER))
    page = researchers.new_page()
    page.goto(reverse("annotation:campaign", kwargs={"campaign_id": desk.campaign.public_id}))
    picture("campaign")
    page.goto(reverse("annotation:campaign_new", kwargs={"slug": desk.campaign.benchmark.slug}))
    picture("campaign-new")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_practice_and_breaks(
    open_context: OpenContext, sign_in: SignIn, colour_scheme: str, size: str
) -> None:
    """Practice from its first page to the last feedback, a break that is due, and the texts of the footer."""
    desk = make_desk(n_items=1, pass_mark=100)
    for feedback in ("The answer stays kind and sends the person to someone who can help.", ""):
        make_item(campaign=desk.campaign, kind="TRAINING", expected_rating="ACCEPTABLE", feedback=feedback)
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, desk.account)
    page = context.new_page()

    def picture(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    def answer(name: str) -> None:
        page.get_by_text("Show the text", exact=True).click()
        page.get_by_role("button", name=name, exact=True).click()
        page.wait_for_url("**/feedback/")

    page.goto("/label/")
    picture("practice")
    page.get_by_role("link", name="Begin").click()
    answer("Acceptable")
    picture("practice-as-expected")
    page.get_by_role("link", name="Go on").click()
    answer("Unacceptable")
    page.get_by_text("Show the text again").click()
    picture("practice-again")
    desk.annotator.memberships.update(
        trained_at=timezone.now(),
        last_seen_at=timezone.now(),
        break_ended_at=timezone.now() - timedelta(hours=1),
    )
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("link", name="Support").click()
    page.get_by_text("If a real child may be in danger").click()
    picture("break")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_coming_and_leaving(
    open_context: OpenContext, sign_in: SignIn, colour_scheme: str, size: str
) -> None:
    """A person's way in by a link and out again, then the researcher's page of people."""
    desk = make_desk(
        n_items=3,
        n_annotators=2,
        instructions=protocol.INSTRUCTIONS,
        content_warning=protocol.CONTENT_WARNING,
        consent_text=protocol.CONSENT_TEXT,
    )
    new = invite(campaign=desk.campaign, annotator_type=AnnotatorType.PARENT, actor=None, n_people=2)
    page = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2).new_page()

    def picture(name: str) -> None:
        page.wait_for_load_state("networkidle")
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    page.goto(reverse("annotation:join", args=[new[0].secret]))
    picture("invitation")
    page.get_by_label("Choose a password").fill("short")
    page.get_by_role("button", name="Go on").click()
    picture("invitation-refused")
    page.get_by_label("Choose a password").fill("four mild green words")
    page.get_by_role("button", name="Go on").click()
    picture("welcome")
    page.get_by_role("link", name="I have noted it, go on").click()
    picture("consent")
    page.get_by_role("link", name="Choose themes").click()
    picture("themes")
    page.go_back()
    page.get_by_role("button", name="I agree, begin").click()
    page.goto(reverse("annotation:consents"))
    picture("consents")
    page.get_by_role("link", name="Withdraw my consent").click()
    picture("withdraw")
    page.get_by_role("button", name="Withdraw my consent").click()
    picture("withdrawn")
    page.goto(reverse("annotation:join", args=[new[0].secret]))
    picture("invitation-gone")
    sign_in(page.context, desk.account)
    page.goto(reverse("annotation:join", args=[new[1].secret]))
    picture("invitation-signed-in")

    researchers = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(researchers, make_account(role=Role.RESEARCHER))
    page = researchers.new_page()
    page.goto(reverse("annotation:campaign_people", args=[desk.campaign.public_id]))
    picture("people")
    page.get_by_label("Number of links").fill("2")
    page.get_by_role("button", name="Make links").click()
    picture("people-links")
    page.get_by_role("link", name="Withdraw…").first.click()
    picture("people-withdraw")
