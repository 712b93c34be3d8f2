"""Researcher pages of the people of one campaign: roster, invitations, leaving."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.campaigns import (
    NewInvitation,
    add_annotator,
    deactivate,
    invite,
    plan_withdrawal,
    reactivate,
    revoke_invitation,
    withdraw_consent,
)
from annotation.choices import AnnotatorType, CampaignState
from annotation.errors import DomainError
from annotation.forms import AddAnnotatorForm, InviteForm
from annotation.labelling import why_no_item
from annotation.models import Annotator, Benchmark, Campaign, Invitation
from annotation.permissions import SignedInRequest, reader_required
from annotation.selectors import LinkState, invitations_of, member_by_id, membership_by_id, roster_of
from annotation.views.refusals import INVALID, status_of


@dataclass(frozen=True)
class NewLink:
    """A link as it is shown, once."""

    number: int
    kind: str
    address: str


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def campaign_people(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """The roster; by POST an account is added to it."""
    campaign = _campaign_or_404(campaign_id)
    if request.method != "POST":
        return _people_page(request, campaign)
    form = AddAnnotatorForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _people_page(request, campaign, add_form=form, status=INVALID)
    try:
        annotator = add_annotator(
            campaign=campaign,
            account=form.cleaned_data["account"],
            annotator_type=AnnotatorType(form.cleaned_data["annotator_type"]),
            actor=request.user,
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return _people_page(request, campaign, add_form=form, status=status_of(error))
    messages.success(request, f"Added as {annotator.code}.")
    return _to_people(campaign)


@require_POST
@reader_required
@never_cache
def campaign_invite(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """Make links and show them, this once: the page is the answer, since no redirect could carry them."""
    campaign = _campaign_or_404(campaign_id)
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _people_page(request, campaign, invite_form=form, status=INVALID)
    try:
        made = invite(
            campaign=campaign,
            annotator_type=AnnotatorType(form.cleaned_data["annotator_type"]),
            n_people=form.cleaned_data["n_people"],
            n_days=form.cleaned_data["n_days"],
            actor=request.user,
        )
    except DomainError as error:
        form.add_error(None, error.message)
        return _people_page(request, campaign, invite_form=form, status=status_of(error))
    return _people_page(request, campaign, links=_links(request, made))


@require_POST
@reader_required
def revoke(request: SignedInRequest, campaign_id: str, invitation_id: str) -> HttpResponse:
    """Take an unused link back."""
    campaign = _campaign_or_404(campaign_id)
    invitation = get_object_or_404(Invitation, campaign=campaign, public_id=invitation_id)
    try:
        revoke_invitation(invitation=invitation, actor=request.user)
    except DomainError as error:
        messages.error(request, error.message)
        return _people_page(request, campaign, status=status_of(error))
    messages.success(request, "The link was taken back. It lets nobody in any more.")
    return _to_people(campaign)


@require_POST
@reader_required
def deactivate_person(request: SignedInRequest, campaign_id: str, annotator_id: str) -> HttpResponse:
    """Take a person off the campaign; labels stay."""
    campaign = _campaign_or_404(campaign_id)
    annotator = _member_or_404(campaign, annotator_id)
    deactivate(campaign=campaign, annotator=annotator, actor=request.user)
    messages.success(request, f"{annotator.code} is deactivated. The labels stay.")
    return _to_people(campaign)


@require_POST
@reader_required
def reactivate_person(request: SignedInRequest, campaign_id: str, annotator_id: str) -> HttpResponse:
    """Let a deactivated person go on."""
    campaign = _campaign_or_404(campaign_id)
    annotator = _member_or_404(campaign, annotator_id)
    reactivate(campaign=campaign, annotator=annotator, actor=request.user)
    messages.success(request, f"{annotator.code} can go on.")
    return _to_people(campaign)


@require_http_methods(["GET", "HEAD", "POST"])
@reader_required
def withdraw_person(request: SignedInRequest, campaign_id: str, annotator_id: str) -> HttpResponse:
    """What a person's withdrawal would do; by POST it is done, for a person who asked for it elsewhere."""
    campaign = _campaign_or_404(campaign_id)
    annotator = _member_or_404(campaign, annotator_id)
    if request.method == "POST":
        done = withdraw_consent(campaign=campaign, annotator=annotator, actor=request.user)
        fate = "deleted" if done.deletes else "kept under the code"
        messages.success(request, f"{annotator.code} has withdrawn. Answers {fate}: {done.n_answers:,}.")
        return _to_people(campaign)
    context = _frame(campaign) | {
        "annotator": annotator,
        "withdrawal": plan_withdrawal(campaign=campaign, annotator=annotator),
    }
    return render(request, "annotation/roster_withdraw.html", context)


@require_safe
@reader_required
def person_items(request: SignedInRequest, campaign_id: str, annotator_id: str) -> HttpResponse:
    """Why a person gets no item, or that one waits for them: what each side is told."""
    campaign = _campaign_or_404(campaign_id)
    membership = membership_by_id(campaign, annotator_id)
    if membership is None:
        raise Http404
    context = _frame(campaign) | {"annotator": membership.annotator, "no_item": why_no_item(membership)}
    return render(request, "annotation/roster_items.html", context)


def _people_page(
    request: SignedInRequest,
    campaign: Campaign,
    *,
    add_form: AddAnnotatorForm | None = None,
    invite_form: InviteForm | None = None,
    links: Sequence[NewLink] = (),
    status: int = 200,
) -> HttpResponse:
    people, invitations = roster_of(campaign), invitations_of(campaign)
    n_active = sum(person.deactivated_at is None and not person.has_withdrawn for person in people)
    n_consented = sum(person.has_consented for person in people)
    context = _frame(campaign) | {
        "answer": _answer(n_active, n_consented),
        "basis": f"In the campaign at any time: {len(people):,} · Links not used yet: "
        f"{sum(link.state == LinkState.OPEN for link in invitations):,}",
        "people": people,
        "n_labelled": sum(person.n_labelled for person in people),
        "n_skipped": sum(person.n_skipped for person in people),
        "n_open": sum(person.n_open for person in people),
        "invitations": invitations,
        "links": links,
        "add_form": add_form or AddAnnotatorForm(campaign=campaign),
        "invite_form": invite_form or InviteForm(),
        "is_closed": campaign.state == CampaignState.CLOSED,
    }
    return render(request, "annotation/roster.html", context, status=status)


def _answer(n_active: int, n_consented: int) -> str:
    if not n_active:
        return "Nobody is working in this campaign."
    people = "1 person is" if n_active == 1 else f"{n_active:,} people are"
    return f"{people} in this campaign; {n_consented:,} agreed to its present text."


def _links(request: HttpRequest, made: Sequence[NewInvitation]) -> list[NewLink]:
    return [
        NewLink(
            number=number,
            kind=new.invitation.get_annotator_type_display(),
            address=request.build_absolute_uri(reverse("annotation:join", args=[new.secret])),
        )
        for number, new in enumerate(made, start=1)
    ]


def _to_people(campaign: Campaign) -> HttpResponse:
    return redirect("annotation:campaign_people", campaign_id=campaign.public_id)


def _frame(campaign: Campaign) -> dict[str, Any]:
    """What the researcher's frame needs."""
    return {
        "campaign": campaign,
        "benchmark": campaign.benchmark,
        "benchmarks": Benchmark.objects.order_by("name"),
        "tab": "labels",
    }


def _campaign_or_404(campaign_id: str) -> Campaign:
    return get_object_or_404(Campaign.objects.select_related("benchmark"), public_id=campaign_id)


def _member_or_404(campaign: Campaign, annotator_id: str) -> Annotator:
    annotator = member_by_id(campaign, annotator_id)
    if annotator is None:
        raise Http404
    return annotator
