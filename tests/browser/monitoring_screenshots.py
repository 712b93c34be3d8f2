"""Pictures of the monitoring pages (`make screenshots`)."""

from pathlib import Path

import pytest
from django.urls import reverse

from annotation.choices import AnnotatorType, AssignmentState, CampaignState, Rating, Role, SkipReason
from annotation.models import Campaign, CampaignItem
from carebench_web.demo.setup import import_benchmark
from tests.browser.conftest import OpenContext, SignIn
from tests.browser.screenshots import FOLDER, SIZES
from tests.factories import (
    make_account,
    make_annotator,
    make_assignment,
    make_campaign,
    make_flag,
    make_item,
    make_label,
    make_membership,
)


def make_watched(benchmark_items: list[CampaignItem]) -> Campaign:
    """A campaign under way: two people have answered, skipped and flagged some of its items."""
    benchmark = benchmark_items[0].campaign.benchmark
    campaign = make_campaign(
        benchmark=benchmark,
        name="Parents and specialists",
        labels_per_response=2,
        state=CampaignState.OPEN,
    )
    items = [make_item(campaign=campaign, response=item.response) for item in benchmark_items]
    for n, kind in enumerate((AnnotatorType.PARENT, AnnotatorType.SPECIALIST)):
        person = make_annotator(benchmark=benchmark, annotator_type=kind)
        make_membership(campaign=campaign, annotator=person)
        for m, item in enumerate(items[: len(items) - n]):
            if m == 3:
                make_assignment(
                    item=item, annotator=person, state=AssignmentState.SKIPPED, skip_reason=SkipReason.UNCLEAR
                )
                make_flag(item=item, annotator=person, note="The text breaks off in the middle.")
            else:
                make_assignment(item=item, annotator=person, state=AssignmentState.LABELLED)
                rating = Rating.UNACCEPTABLE if (m + n) % 4 == 0 else Rating.ACCEPTABLE
                make_label(item=item, annotator=person, rating=rating, active_ms=20_000 + 1_000 * m)
    return campaign


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("colour_scheme", ["light", "dark"])
def test_pictures_of_monitoring(
    open_context: OpenContext, sign_in: SignIn, tmp_path: Path, colour_scheme: str, size: str
) -> None:
    """Progress, items, one item and the flags of a campaign under way."""
    benchmark = import_benchmark(tmp_path / "files")
    items = CampaignItem.objects.filter(campaign__benchmark=benchmark).order_by("pk")[:24]
    campaign = make_watched(list(items))
    context = open_context(viewport=SIZES[size], color_scheme=colour_scheme, device_scale_factor=2)
    sign_in(context, make_account(role=Role.RESEARCHER))
    page = context.new_page()
    flagged = campaign.items.order_by("pk")[3]
    for name, arguments in (
        ("watch", []),
        ("watch_items", []),
        ("watch_flags", []),
        ("watch_item", [flagged.public_id]),
    ):
        page.goto(reverse(f"judging:{name}", args=[campaign.public_id, *arguments]))
        page.screenshot(path=FOLDER / f"{name.replace('_', '-')}-{colour_scheme}-{size}.png", full_page=True)
