"""Every page that an annotator opens, in each language: WCAG 2.2 AA by axe, no sideways scroll on a phone.

320 pixels is a phone at its narrowest, and a desktop of 1280 at four times the size (WCAG 1.4.10).
"""

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import Page

from annotation import protocol
from annotation.campaigns import invite
from annotation.choices import AnnotatorType
from annotation.labelling import next_assignment
from annotation.models import Account, Membership
from tests.annotation.desk import Desk, answer, item_url, make_desk, take, url
from tests.annotation.test_blinding import annotator_addresses
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.test_care import make_break_due
from tests.factories import make_item, make_membership

NARROW = {"width": 320, "height": 640}
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
# Addresses that take a form and show no page, or lead on to one that is here.
WITHOUT_A_PAGE = {"draft", "flag", "look", "next", "skip", "undo"}
FORMS = [
    pytest.param("en", "light", id="English, light"),
    pytest.param("en", "dark", id="English, dark"),
    pytest.param("de", "light", id="German"),
    pytest.param("ar", "light", id="Arabic"),
    pytest.param("ar", "dark", id="Arabic, dark"),
]


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    """One practice text that is answered, one text of the study that is, and one that is not."""
    desk = make_desk(
        n_items=2,
        scale="BINARY_AND_SEVERITY",
        instructions=protocol.INSTRUCTIONS,
        content_warning=protocol.CONTENT_WARNING,
        consent_text=protocol.CONSENT_TEXT,
    )
    make_item(
        campaign=desk.campaign, kind="TRAINING", expected_rating="ACCEPTABLE", feedback="The answer is kind."
    )
    answer(take(desk), severity=1)
    return desk


def pages_for(desk: Desk) -> dict[str, str]:
    """Address of each page that is there at any time, under the name of its route."""
    practice = take_next(desk)
    return {
        **{name: url(name, desk) for name in ("consent", "themes", "welcome", "withdraw", "answers")},
        **{name: url(name, desk) for name in ("stop", "thanks")},
        "consents": reverse("annotation:consents"),
        "home": reverse("annotation:home"),
        "item": practice,
        "feedback": item_url(desk, desk.annotator.assignments.get(item__kind="TRAINING"), "feedback"),
    }


def take_next(desk: Desk) -> str:
    assignment = next_assignment(campaign=desk.campaign, annotator=desk.annotator)
    assert assignment is not None
    return item_url(desk, assignment)


@pytest.mark.parametrize(("language", "colour_scheme"), FORMS)
def test_page_is_accessible_and_fits(
    open_context: OpenContext, sign_in: SignIn, desk: Desk, language: str, colour_scheme: str
) -> None:
    Account.objects.update(language=language)
    [invitation] = invite(campaign=desk.campaign, annotator_type=AnnotatorType.PARENT, actor=None)
    context = open_context(viewport=NARROW, color_scheme=colour_scheme, locale=language)
    page, faults = context.new_page(), []
    for path in (reverse("login"), reverse("annotation:join", args=[invitation.secret]), "/no-such-page/"):
        faults += _faults(page, path, language)

    sign_in(context, desk.account)
    for path in pages_for(desk).values():
        faults += _faults(page, path, language)
    Membership.objects.update(trained_at=None)
    faults += _faults(page, url("training", desk), language)
    make_break_due(desk)
    faults += _faults(page, url("break", desk), language)
    make_membership(campaign=make_desk(benchmark=desk.campaign.benchmark).campaign, annotator=desk.annotator)
    faults += _faults(page, reverse("annotation:home"), language)

    assert faults == []


def test_no_page_of_annotators_is_left_out(desk: Desk) -> None:
    looked_at = {f"annotation:{name}" for name in {*pages_for(desk), "join", "training", "break"}}

    assert annotator_addresses() - looked_at == {f"annotation:{name}" for name in WITHOUT_A_PAGE}


def _faults(page: Page, path: str, language: str) -> list[str]:
    """What is wrong with a page, all its folds open."""
    page.goto(path)
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    found = Axe().run(page, options={"runOnly": {"type": "tag", "values": STANDARD}}).response["violations"]
    faults = [
        f"{path}: {violation['id']}: {violation['help']} at {[node['target'] for node in violation['nodes']]}"
        for violation in found
    ]
    if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
        faults.append(f"{path}: scrolls sideways")
    direction = "rtl" if language in settings.LANGUAGES_BIDI else "ltr"
    shown = (page.locator("html").get_attribute("lang"), page.locator("html").get_attribute("dir"))
    if shown != (language, direction):
        faults.append(f"{path}: is {shown}, expected {(language, direction)}")
    return faults
