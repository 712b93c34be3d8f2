"""Who may do what. Another person's things do not exist: asking for them gives 404."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import resolve_url

from annotation.choices import CampaignState, Role
from annotation.errors import Gone, NotAllowed
from annotation.models import Account, Annotator, Campaign, Consent, Membership

P = ParamSpec("P")
Page = Callable[Concatenate[HttpRequest, P], HttpResponse]


def wants_json(request: HttpRequest) -> bool:
    """True when the caller is a script of ours rather than a page load."""
    return request.headers.get("Accept", "").startswith("application/json")


def annotator_required(view: Page[P]) -> Page[P]:
    """Open a page to annotators only. A script gets 401 instead of a redirect to the sign-in page."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            if wants_json(request):
                return JsonResponse({"detail": "You are signed out.", "code": "signed_out"}, status=401)
            return _to_sign_in(request)
        if request.user.role != Role.ANNOTATOR:
            raise PermissionDenied("Only annotators label.")
        return view(request, *args, **kwargs)

    return wrapped


def researcher_required(view: Page[P]) -> Page[P]:
    """Open a page to researchers and admins only. For annotators it does not exist (404)."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
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
        Http404: no such campaign, not a member, or the campaign is not open.
    """
    membership = (
        Membership.objects.select_related("campaign__benchmark", "annotator")
        .filter(
            campaign__public_id=campaign_public_id,
            campaign__state=CampaignState.OPEN,
            annotator__account=account,
        )
        .first()
    )
    if membership is None:
        raise Http404
    return membership


def has_consented(*, campaign: Campaign, annotator: Annotator) -> bool:
    """True while a consent to the campaign's present text stands. One query."""
    return Consent.objects.filter(
        campaign=campaign, annotator=annotator, version=campaign.consent_version, withdrawn_at=None
    ).exists()


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
        NotAllowed: no consent, or it was withdrawn.
    """
    if membership.campaign.state != CampaignState.OPEN:
        raise Gone(
            "This task is not open at the moment, so nothing was saved. "
            "The people who run the study decide when it goes on.",
            code="campaign_not_open",
        )
    consented = Consent.objects.filter(
        campaign_id=membership.campaign_id,
        annotator_id=membership.annotator_id,
        version=membership.campaign.consent_version,
        withdrawn_at=None,
    ).exists()
    if not consented:
        raise NotAllowed(
            "Nothing was saved, because there is no consent from you for this task. "
            "Open the task again to read the text and decide.",
            code="consent_missing",
        )
