"""A campaign that is being prepared, and what the forms of its steps send."""

from typing import Any

from django.urls import reverse

from annotation.choices import CampaignState
from annotation.models import Benchmark, Campaign, Response
from tests.factories import make_campaign, make_item, make_prompt, make_response

TEXTS: dict[str, Any] = {
    "instructions": "Judge the answer.",
    "content_warning": "Some texts are sad.",
    "consent_text": "You may stop.",
    "support_text": "Call a friend.",
}
LABELS = {
    "scale": "BINARY",
    "labels_per_response": "3",
    "from_parent": "2",
    "from_specialist": "1",
    "repeat_percent": "10",
    "repeat_after_days": "7",
    "withdrawal_policy": "DELETE",
    "adjudication_overrides": "on",
}
PACE = {
    "opens_on": "2026-12-01",
    "closes_on": "2026-12-31",
    "lease_minutes": "45",
    "break_after_minutes": "20",
    "break_after_grave": "",
    "daily_cap": "60",
    "session_cap": "",
    "mildness_0": "1",
}


def make_material() -> Benchmark:
    """A benchmark of three responses, of rollouts 0 to 2, in one risk category."""
    prompt = make_prompt(risk_category="Technical Misuse")
    for rollout in range(3):
        make_response(prompt=prompt, rollout=rollout)
    return prompt.benchmark


def make_ready_draft(benchmark: Benchmark) -> Campaign:
    """A draft of two of the three responses, which lacks nothing."""
    draft = make_campaign(benchmark=benchmark, state=CampaignState.DRAFT, **TEXTS)
    for response in Response.objects.order_by("rollout")[:2]:
        make_item(campaign=draft, response=response)
    return draft


def new_url(benchmark: Benchmark) -> str:
    return reverse("annotation:campaign_new", kwargs={"slug": benchmark.slug})


def url(campaign: Campaign, name: str, **kwargs: str) -> str:
    return reverse(f"annotation:{name}", kwargs={"campaign_id": campaign.public_id, **kwargs})
