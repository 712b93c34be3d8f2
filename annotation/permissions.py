"""Who may do what. Another person's things do not exist: asking for them gives 404."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import resolve_url

from annotation.choices import CampaignState, Role
from annotation.errors import Gone, NotAllowed
from annotation.models import Account, Campaign, Consent, Membership

View = Callable[..., HttpResponse]


class ConsentMissing(NotAllowed):
    """The person has not consented to the campaign's present text, or has withdrawn."""

    code = "consent_missing"


class SignedInRequest(HttpRequest):
    """The request of a page that one of the decorators below protects."""

    user: Account


def wants_json(request: HttpRequest) -> bool:
    """True when the caller is a script of ours rather than a page load."""
    return request.headers.get("Accept", "").startswith("application/json")


def annotator_required(view: View) -> View:
    """Open a page to annotators only. A script gets 401 instead of a redirect to the sign-in page."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            if wants_json(request):
                return JsonResponse({"detail": "You are signed out.", "code": "signed_out"}, status=401)
            return _to_sign_in(request)
        if request.user.role != Role.ANNOTATOR:
            raise PermissionDenied("Only annotators label.")
        return view(request, *args, **kwargs)

    return wrapped


def researcher_required(view: View) -> View:
    """Open a page to researchers and admins only. For annotators it does not exist (404)."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        if not request.user.is_researcher:
            raise Http404
        return view(request, *args, **kwargs)

    return wrapped


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """Back to this page after signing in, or to the front door when this was a form."""
    came_from = request.get_full_path() if request.method in ("GET", "HEAD") else resolve_url("home")
    return redirect_to_login(came_from)


def membership_of(account: Account, campaign_public_id: str) -> Membership:
    """The account's place in one open campaign, with campaign and annotator loaded. One query.

    Raises:
        Http404: no such campaign, or not a member.
        Gone: a member, but the campaign is not open.
    """
    membership = (
        Membership.objects.select_related("campaign__benchmark", "annotator")
        .filter(campaign__public_id=campaign_public_id, annotator__account=account)
        .first()
    )
    if membership is None:
        raise Http404
    require_open(membership.campaign)
    return membership


def has_consented(membership: Membership) -> bool:
    """True while a consent to the campaign's present text stands. One query."""
    return Consent.objects.filter(
        campaign=membership.campaign_id,
        annotator=membership.annotator_id,
        version=membership.campaign.consent_version,
        withdrawn_at=None,
    ).exists()


def require_open(campaign: Campaign) -> None:
    """Check that the campaign is taking labels.

    Raises:
        Gone: it is paused, closed or a draft.
    """
    if campaign.state != CampaignState.OPEN:
        raise Gone(
            "This task is not open at the moment, so nothing was saved just now. What you saved before is "
            "kept. The people who run the study decide when the task goes on.",
            code="campaign_not_open",
        )


def lock_membership(*, campaign_id: int, annotator_id: int) -> Membership:
    """The membership, locked until the transaction ends, with the campaign as it is now.

    Everything that one person does in one campaign takes this lock first, so that two tabs,
    or a label and a withdrawal of consent, happen one after the other.

    Raises:
        NotAllowed: the annotator is not in the campaign.
    """
    membership = (
        Membership.objects.select_for_update(of=("self",), no_key=True)
        .select_related("campaign")
        .filter(campaign_id=campaign_id, annotator_id=annotator_id)
        .first()
    )
    if membership is None:
        raise NotAllowed("You are not part of this task. Ask the person who runs the study to add you.")
    return membership


def require_may_label(membership: Membership) -> None:
    """Check that the campaign is open and the consent stands. Call with the membership locked.

    Raises:
        Gone: the campaign is paused or closed.
        ConsentMissing: no consent, or it was withdrawn.
    """
    require_open(membership.campaign)
    if not has_consented(membership):
        raise ConsentMissing(
            "Nothing was saved, because there is no consent from you for this task. "
            "Open the task again to read the text and decide."
        )
