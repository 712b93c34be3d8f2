"""Campaigns and the people in them: create, open, pause, close, add, consent, withdraw."""

from annotation.choices import CampaignState, Scale
from annotation.models import Benchmark, Campaign

IMPORTED_SLUG = "imported"


def imported_campaign(benchmark: Benchmark) -> Campaign:
    """The one closed campaign that holds the labels read from files; made on first use."""
    campaign, _ = Campaign.objects.get_or_create(
        benchmark=benchmark,
        slug=IMPORTED_SLUG,
        defaults={
            "name": "Imported labels",
            "scale": Scale.BINARY_AND_SEVERITY,
            "state": CampaignState.CLOSED,
        },
    )
    return campaign
