"""The campaign wizard in a browser: without scripts, on a phone, and for everyone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from annotation.choices import CampaignState, ItemKind
from annotation.models import Account, Benchmark, Campaign
from tests.browser.campaign_wizard import walk_through
from tests.browser.conftest import DESKTOP, PHONE, OpenContext, SignIn
from tests.factories import make_benchmark, make_prompt, make_response

CATEGORIES = ("Emotional Dependency", "Screen time", "Technical Misuse")


@pytest.fixture
def benchmark(transactional_db: None) -> Benchmark:
    benchmark = make_benchmark()
    for category in CATEGORIES:
        prompt = make_prompt(benchmark=benchmark, risk_category=category)
        for rollout in range(8):
            make_response(prompt=prompt, rollout=rollout)
    return benchmark


def test_campaign_is_prepared_and_opened_on_a_phone_without_scripts(
    open_context: OpenContext, sign_in: SignIn, researcher: Account, benchmark: Benchmark
) -> None:
    context = open_context(viewport=PHONE, java_script_enabled=False)
    sign_in(context, researcher)

    list(walk_through(context.new_page(), benchmark))

    made = Campaign.objects.get()
    regular = made.items.filter(kind=ItemKind.REGULAR)
    categories = list(regular.values_list("response__prompt__risk_category", flat=True))
    assert made.state == CampaignState.OPEN
    # Four of each; the response that became a training item is of the first category.
    assert [categories.count(category) for category in CATEGORIES[1:]] == [4, 4]
    assert made.items.filter(kind=ItemKind.TRAINING).count() == 1
    assert made.instructions_version == 2


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_steps_are_accessible_and_fit_the_screen(
    open_context: OpenContext,
    sign_in: SignIn,
    researcher: Account,
    benchmark: Benchmark,
    assert_accessible: Callable[[Page], None],
    viewport: dict[str, int],
    colour_scheme: str,
) -> None:
    context = open_context(viewport=viewport, color_scheme=colour_scheme)
    sign_in(context, researcher)
    page = context.new_page()

    for name in walk_through(page, benchmark):
        assert_accessible(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"], name
