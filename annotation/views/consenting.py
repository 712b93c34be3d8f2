"""Annotator pages around the reading: start, consent, stop, thanks, withdraw."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from annotation.campaigns import give_consent, withdraw_consent
from annotation.permissions import SignedInRequest, has_consented, membership_of
from annotation.selectors import progress_of, tasks_of
from annotation.views.refusals import annotator_page


@require_GET
@annotator_page
def home(request: SignedInRequest) -> HttpResponse:
    """The person's open tasks; straight into the only one."""
    tasks = tasks_of(request.user)
    if len(tasks) == 1:
        return redirect("annotation:next", campaign_id=tasks[0].campaign_id)
    return render(request, "annotation/home.html", {"tasks": tasks})


@require_http_methods(["GET", "POST"])
@annotator_page
def consent(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """What to expect, and the person's decision."""
    membership = membership_of(request.user, campaign_id)
    if request.method == "POST":
        give_consent(campaign=membership.campaign, annotator=membership.annotator)
        return redirect("annotation:next", campaign_id=campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "has_consented": has_consented(membership),
    }
    return render(request, "annotation/consent.html", context)


@require_http_methods(["GET", "POST"])
@annotator_page
def withdraw(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Asks once, then ends the consent."""
    membership = membership_of(request.user, campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "is_withdrawn": request.method == "POST",
    }
    if request.method == "POST":
        withdraw_consent(campaign=membership.campaign, annotator=membership.annotator)
    return render(request, "annotation/withdraw.html", context)


@require_GET
@annotator_page
def stop(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """A calm place after *Stop now*. The item stays with the person while its lease lasts."""
    return _closing_page(request, campaign_id, "annotation/stop.html")


@require_GET
@annotator_page
def thanks(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """After the last item."""
    return _closing_page(request, campaign_id, "annotation/thanks.html")


def _closing_page(request: SignedInRequest, campaign_id: str, template: str) -> HttpResponse:
    membership = membership_of(request.user, campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "progress": progress_of(membership),
    }
    return render(request, template, context)
