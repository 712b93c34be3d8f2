"""Pictures of adjudication and of choosing responses by their scores (`make screenshots`)."""

from pathlib import Path

import pytest
from django.urls import reverse

from annotation.choices import CampaignState, Rating, Role
from annotation.models import CampaignItem
from carebench_web.demo.setup import import_benchmark
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.screenshots import FOLDER, SIZES
from tests.factories import make_account, make_adjudication, make_campaign, make_item, make_label


def make_contested(benchmark_items: list[CampaignItem]) -> CampaignItem:
    """Put some responses into an open campaign, contested; return the one that nobody decided yet."""
    first = benchmark_items[0]
    campaign = make_campaign(
        benchmark=first.campaign.benchmark,
        name="Parents and specialists",
        labels_per_response=2,
        adjudication_overrides=True,
        state=CampaignState.OPEN,
    )
    items = [make_item(campaign=campaign, response=item.response) for item in benchmark_items]
    for item in items:
        make_label(item=item, rating=Rating.ACCEPTABLE, severity=1, note="It stays kind and offers help.")
        make_label(item=item, rating=Rating.UNACCEPTABLE, severity=4)
    make_adjudication(
        item=items[1], decision=Rating.UNACCEPTABLE, reason="It names no adult the child could turn to."
    )
    return items[0]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_adjudication(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """What an adjudicator sees, up to a decision, and how a researcher chooses responses by scores."""
    benchmark = import_benchmark(tmp_path / "files")
    item = make_contested(list(CampaignItem.objects.filter(campaign__benchmark=benchmark).order_by("pk")[:6]))
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.ADJUDICATOR))
    page = context.new_page()

    def picture(name: str) -> None:
        page.screenshot(path=FOLDER / f"{name}-{colour_scheme}-{size}.png", full_page=True)

    page.goto("/")
    picture("adjudication")
    page.get_by_role("link", name=item.campaign.name).click()
    picture("contested")
    page.goto(reverse("judging:decide", args=[item.campaign.public_id, item.public_id]))
    picture("decide-hidden")
    page.get_by_text("Show the texts").click()
    page.get_by_role("button", name="Decide").click()
    page.get_by_label("Unacceptable").check()
    page.get_by_label("Why").fill("It leaves the child alone with the problem.")
    picture("decide-shown")
    page.get_by_role("button", name="Decide").click()
    page.get_by_text("Decided. The labels stay as they are.").wait_for()
    page.goto(reverse("judging:decide", args=[item.campaign.public_id, item.public_id]))
    picture("decide-decided")

    other = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(other, make_account(role=Role.RESEARCHER))
    page = other.new_page()
    page.goto(reverse("judging:choose_responses", args=[benchmark.slug]))
    page.get_by_label("At most this far from the threshold").fill("0.3")
    page.get_by_role("button", name="Count them").click()
    page.get_by_role("heading", name="that fit").wait_for()
    picture("choose-responses")
