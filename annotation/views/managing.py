"""Researcher pages of campaigns under way: watch one, open, pause or close it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.campaigns import (
    close_campaign,
    open_campaign,
    pause_campaign,
)
from annotation.choices import CampaignState
from annotation.errors import DomainError
from annotation.forms import CampaignStateForm
from annotation.models import Benchmark, Campaign
from annotation.permissions import SignedInRequest, reader_required
from annotation.selectors import annotator_progress, item_progress
from annotation.views.preparing import show_check
from annotation.views.refusals import INVALID, status_of

MOVES = {
    CampaignState.OPEN: open_campaign,
    CampaignState.PAUSED: pause_campaign,
    CampaignState.CLOSED: close_campaign,
}


@require_GET
@reader_required
def campaign(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """One campaign: how far it is, by item and by person."""
    found = _campaign_or_404(campaign_id)
    if found.state == CampaignState.DRAFT:
        return redirect("annotation:campaign_check", campaign_id=campaign_id)
    return _campaign_page(request, found)


@require_POST
@reader_required
def campaign_state(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Open, pause or close."""
    found = _campaign_or_404(campaign_id)
    form = CampaignStateForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was changed: the campaign can be open, paused or closed.")
        return _campaign_page(request, found, status=INVALID)
    try:
        MOVES[CampaignState(form.cleaned_data["state"])](campaign=found, actor=request.user)
    except DomainError as error:
        messages.error(request, error.message)
        show = show_check if found.state == CampaignState.DRAFT else _campaign_page
        return show(request, found, status=status_of(error))
    return redirect("annotation:campaign", campaign_id=campaign_id)


def _campaign_page(request: SignedInRequest, found: Campaign, status: int = 200) -> HttpResponse:
    people = annotator_progress(found)
    items = item_progress(found)
    context: dict[str, Any] = _tab_context(found.benchmark) | {
        "campaign": found,
        "people": people,
        "n_people_labels": sum(person.n_labelled for person in people),
        "n_people_skips": sum(person.n_skipped for person in people),
        "n_people_open": sum(person.n_open for person in people),
        "n_items_by_labels": items.n_items_by_labels.items(),
        "n_items": items.n_items,
        "n_labels": items.n_labels,
        "answer": f"{items.n_full:,} of {items.n_items:,} responses have the {_labels_wanted(found)}.",
        "basis": f"Labels on them: {items.n_labels:,} · Annotators: {len(people):,} · "
        f"{found.get_scale_display()}",
        "can_open": found.state == CampaignState.PAUSED,
        "can_pause": found.state == CampaignState.OPEN,
        "can_close": found.state in (CampaignState.OPEN, CampaignState.PAUSED),
    }
    return render(request, "annotation/campaign.html", context, status=status)


def _labels_wanted(found: Campaign) -> str:
    n = found.labels_per_response
    return "1 label they need" if n == 1 else f"{n} labels they need"


def _tab_context(benchmark: Benchmark) -> dict[str, Any]:
    """What the researcher's frame needs."""
    return {"benchmark": benchmark, "benchmarks": Benchmark.objects.order_by("name"), "tab": "labels"}


def _campaign_or_404(campaign_id: str) -> Campaign:
    return get_object_or_404(Campaign.objects.select_related("benchmark"), public_id=campaign_id)
