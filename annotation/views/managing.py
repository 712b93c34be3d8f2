"""Researcher pages of campaigns: make one, watch it, pause or close it, add people."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.campaigns import (
    add_annotator,
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
)
from annotation.choices import AnnotatorType, CampaignState
from annotation.errors import DomainError
from annotation.forms import AddAnnotatorForm, CampaignForm, CampaignStateForm
from annotation.models import Benchmark, Campaign
from annotation.permissions import SignedInRequest, researcher_required
from annotation.selectors import annotator_progress, item_progress
from annotation.views.refusals import INVALID, status_of

MOVES = {
    CampaignState.OPEN: open_campaign,
    CampaignState.PAUSED: pause_campaign,
    CampaignState.CLOSED: close_campaign,
}


@require_http_methods(["GET", "POST"])
@researcher_required
def campaign_new(request: SignedInRequest, slug: str) -> HttpResponse:
    """Make a campaign from a choice of responses."""
    benchmark = get_object_or_404(Benchmark, slug=slug)
    form = CampaignForm(request.POST or None, benchmark=benchmark)
    status = 200
    if request.method == "POST":
        if form.is_valid():
            made = create_campaign(benchmark=benchmark, created_by=request.user, **form.cleaned_data)
            return redirect("annotation:campaign", campaign_id=made.public_id)
        status = INVALID
    context = _tab_context(benchmark) | {"form": form}
    return render(request, "annotation/campaign_new.html", context, status=status)


@require_GET
@researcher_required
def campaign(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """One campaign: how far it is, by item and by person."""
    found = _campaign_or_404(campaign_id)
    return _campaign_page(request, found, AddAnnotatorForm(campaign=found))


@require_POST
@researcher_required
def campaign_state(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Open, pause or close."""
    found = _campaign_or_404(campaign_id)
    form = CampaignStateForm(request.POST)
    people_form = AddAnnotatorForm(campaign=found)
    if not form.is_valid():
        messages.error(request, "Nothing was changed: the campaign can be open, paused or closed.")
        return _campaign_page(request, found, people_form, status=INVALID)
    try:
        MOVES[CampaignState(form.cleaned_data["state"])](campaign=found, actor=request.user)
    except DomainError as error:
        messages.error(request, error.message)
        return _campaign_page(request, found, people_form, status=status_of(error))
    return redirect("annotation:campaign", campaign_id=campaign_id)


@require_POST
@researcher_required
def campaign_people(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Add an annotator."""
    found = _campaign_or_404(campaign_id)
    form = AddAnnotatorForm(request.POST, campaign=found)
    if not form.is_valid():
        return _campaign_page(request, found, form, status=INVALID)
    try:
        annotator = add_annotator(
            campaign=found,
            account=form.cleaned_data["account"],
            annotator_type=AnnotatorType(form.cleaned_data["annotator_type"]),
            actor=request.user,
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return _campaign_page(request, found, form, status=status_of(error))
    messages.success(request, f"Added as {annotator.code}.")
    return redirect("annotation:campaign", campaign_id=campaign_id)


def _campaign_page(
    request: SignedInRequest, found: Campaign, people_form: AddAnnotatorForm, status: int = 200
) -> HttpResponse:
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
        "basis": f"Labels: {items.n_labels:,} · Annotators: {len(people):,} · {found.get_scale_display()}",
        "people_form": people_form,
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
