"""Annotator pages around the reading: start, consent, themes, stop, thanks, withdraw."""

from typing import Any

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from annotation.campaigns import (
    OtherTextRead,
    choose_opt_outs,
    consent_hash,
    give_consent,
    plan_withdrawal,
    withdraw_consent,
)
from annotation.forms import ConsentForm, ThemesForm
from annotation.labelling import NoItemCode, why_no_item
from annotation.models import Membership
from annotation.permissions import SignedInRequest, has_consented, membership_of, own_membership
from annotation.selectors import (
    categories_of,
    consents_in_force,
    earlier_consent,
    opt_outs_of,
    progress_of,
    tasks_of,
)
from annotation.views.refusals import INVALID, annotator_page, status_of


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
    if request.method != "POST":
        return _consent_page(request, membership)
    form = ConsentForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("It is not clear which text you read. Please read it here, then decide."))
        return _consent_page(request, membership, status=INVALID)
    try:
        give_consent(
            campaign=membership.campaign,
            annotator=membership.annotator,
            read_hash=form.cleaned_data["read"],
            locale=get_language() or "en",
        )
    except OtherTextRead as error:
        messages.error(request, error.message)
        membership.campaign.refresh_from_db()
        return _consent_page(request, membership, status=status_of(error))
    return redirect("annotation:next", campaign_id=campaign_id)


@require_http_methods(["GET", "POST"])
@annotator_page
def themes(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Which themes the person does not want to read."""
    membership = membership_of(request.user, campaign_id)
    known = categories_of(membership.campaign)
    form = ThemesForm(
        request.POST if request.method == "POST" else None,
        risk_categories=known,
        initial={"not_read": opt_outs_of(membership)},
    )
    if form.is_valid():
        choose_opt_outs(
            campaign=membership.campaign,
            annotator=membership.annotator,
            risk_categories=form.cleaned_data["not_read"],
        )
        messages.success(request, _("Your choice is saved."))
        return redirect("annotation:next", campaign_id=campaign_id)
    context = _context(membership) | {"form": form}
    return render(request, "annotation/themes.html", context, status=INVALID if form.errors else 200)


@require_http_methods(["GET", "POST"])
@annotator_page
def withdraw(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Says what would happen, asks once, then ends the consent. Works in a task that is over, too."""
    membership = own_membership(request.user, campaign_id)
    campaign, annotator = membership.campaign, membership.annotator
    if request.method != "POST":
        planned = plan_withdrawal(campaign=campaign, annotator=annotator)
        return render(request, "annotation/withdraw.html", _context(membership) | {"withdrawal": planned})
    done = withdraw_consent(campaign=campaign, annotator=annotator)
    if done.closes_account:
        logout(request)
    return render(request, "annotation/withdrawn.html", _context(membership) | {"withdrawal": done})


@require_GET
@annotator_page
def consents(request: SignedInRequest) -> HttpResponse:
    """What the person agreed to, over tasks or not, each with the way out."""
    return render(request, "annotation/consents.html", {"consents": consents_in_force(request.user)})


@require_GET
@annotator_page
def stop(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """A calm place after *Stop now*. The item stays with the person while its lease lasts."""
    membership = membership_of(request.user, campaign_id)
    context = _context(membership) | {"progress": progress_of(membership)}
    return render(request, "annotation/stop.html", context)


@require_GET
@annotator_page
def thanks(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """After the last item, or while there is none for the person, with the reason."""
    membership = membership_of(request.user, campaign_id)
    no_item = why_no_item(membership)
    context = _context(membership) | {
        "progress": progress_of(membership),
        "no_item": no_item,
        "has_waiting": no_item.code == NoItemCode.ITEM_WAITING,
        "is_done": no_item.code == NoItemCode.ALL_DONE,
    }
    return render(request, "annotation/thanks.html", context)


def _consent_page(request: SignedInRequest, membership: Membership, status: int = 200) -> HttpResponse:
    is_given = has_consented(membership)
    context = _context(membership) | {
        "has_consented": is_given,
        "earlier": None if is_given else earlier_consent(membership),
        "form": ConsentForm(initial={"read": consent_hash(membership.campaign)}),
    }
    return render(request, "annotation/consent.html", context, status=status)


def _context(membership: Membership) -> dict[str, Any]:
    """What every page of one task needs."""
    campaign = membership.campaign
    return {"campaign": campaign, "is_simulated": campaign.benchmark.is_simulated}
