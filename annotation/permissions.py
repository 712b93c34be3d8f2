"""Who may do what. Another person's things do not exist: asking for them gives 404."""

import datetime as dt
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import resolve_url
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from annotation.choices import CampaignState, Role
from annotation.errors import Gone, NotAllowed
from annotation.models import Account, Campaign, Consent, Membership

View = Callable[..., HttpResponse]
SAFE_METHODS = ("GET", "HEAD")


class ConsentMissing(NotAllowed):
    """The person has not consented to the campaign's present text, or has withdrawn."""

    code = "consent_missing"


class Deactivated(NotAllowed):
    """The person was taken off the task; their labels stay."""

    code = "deactivated"


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
                return JsonResponse({"detail": _("You are signed out."), "code": "signed_out"}, status=401)
            return _to_sign_in(request)
        if request.user.role != Role.ANNOTATOR:
            raise PermissionDenied("Only annotators label.")
        return view(request, *args, **kwargs)

    return wrapped


def researcher_required(view: View) -> View:
    """Open a page to researchers and admins only. For everybody else it does not exist (404)."""
    return _opened_to(view, may_read=_is_researcher, may_act=_is_researcher)


def reader_required(view: View) -> View:
    """Open a researcher's page to auditors as well, who read it and change nothing (403)."""
    return _opened_to(view, may_read=_is_reader, may_act=_is_researcher)


def adjudicator_required(view: View) -> View:
    """Open a page to adjudicators, researchers and admins; auditors read it and change nothing (403)."""
    return _opened_to(
        view,
        may_read=lambda account: account.is_adjudicator or account.is_reader,
        may_act=lambda account: account.is_adjudicator,
    )


def _opened_to(
    view: View, *, may_read: Callable[[Account], bool], may_act: Callable[[Account], bool]
) -> View:
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return _to_sign_in(request)
        if not may_read(request.user):
            raise Http404
        if request.method not in SAFE_METHODS and not may_act(request.user):
            raise PermissionDenied("Auditors read and change nothing.")
        return view(request, *args, **kwargs)

    return wrapped


def _is_researcher(account: Account) -> bool:
    return account.is_researcher


def _is_reader(account: Account) -> bool:
    return account.is_reader


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    """Back to this page after signing in, or to the front door when this was a form."""
    came_from = request.get_full_path() if request.method in SAFE_METHODS else resolve_url("home")
    return redirect_to_login(came_from)


def membership_of(account: Account, campaign_public_id: str) -> Membership:
    """The account's place in one open campaign, with campaign and annotator loaded. One query.

    Raises:
        Http404: no such campaign, or not a member.
        Gone: a member, but the campaign is not open.
        Deactivated: a member, but taken off the task.
    """
    membership = own_membership(account, campaign_public_id)
    require_open(membership.campaign)
    require_active(membership)
    return membership


def own_membership(account: Account, campaign_public_id: str) -> Membership:
    """As `membership_of`, whatever the state: consent can be withdrawn from a closed campaign as well.

    Raises:
        Http404: no such campaign, or not a member.
    """
    membership = (
        Membership.objects.select_related("campaign__benchmark", "annotator")
        .filter(campaign__public_id=campaign_public_id, annotator__account=account)
        .first()
    )
    if membership is None:
        raise Http404
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
    """Check that the campaign is taking labels today.

    Raises:
        Gone: it is paused, closed or a draft, or today (UTC) is before its first or after its last day.
    """
    today = timezone.now().astimezone(dt.UTC).date()
    if campaign.opens_on is not None and today < campaign.opens_on:
        raise Gone(
            _("This task begins on %(day)s, so there is nothing to do yet. Please come back then.")
            % {"day": date_format(campaign.opens_on)},
            code="campaign_not_begun",
        )
    if campaign.closes_on is not None and today > campaign.closes_on:
        raise Gone(
            _(
                "This task ended on %(day)s, so nothing was saved just now. What you saved before is kept. "
                "Thank you for your part in it."
            )
            % {"day": date_format(campaign.closes_on)},
            code="campaign_over",
        )
    if campaign.state != CampaignState.OPEN:
        raise Gone(
            _(
                "This task is not open at the moment, so nothing was saved just now. What you saved before "
                "is kept. The people who run the study decide when the task goes on."
            ),
            code="campaign_not_open",
        )


def require_active(membership: Membership) -> None:
    """Check that nobody has taken the person off the task.

    Raises:
        Deactivated: somebody has.
    """
    if membership.deactivated_at is not None:
        raise Deactivated(
            _(
                "You have been taken off this task, so nothing was saved just now. What you answered before "
                "is kept. If you do not know why, ask the person who runs the study."
            )
        )


def lock_membership(*, campaign_id: int, annotator_id: int) -> Membership:
    """The membership, locked until the transaction ends, with campaign and annotator as they are now.

    Everything that one person does in one campaign takes this lock first, so that two tabs,
    or a label and a withdrawal of consent, happen one after the other.

    Raises:
        NotAllowed: the annotator is not in the campaign.
    """
    membership = (
        Membership.objects.select_for_update(of=("self",), no_key=True)
        .select_related("campaign", "annotator")
        .filter(campaign_id=campaign_id, annotator_id=annotator_id)
        .first()
    )
    if membership is None:
        raise NotAllowed(_("You are not part of this task. Ask the person who runs the study to add you."))
    return membership


def require_may_label(membership: Membership) -> None:
    """Check that the campaign is open, the person active and the consent stands. Membership locked.

    Raises:
        Gone: the campaign is paused or closed.
        Deactivated: somebody has taken the person off the task.
        ConsentMissing: no consent, or it was withdrawn.
    """
    require_open(membership.campaign)
    require_active(membership)
    if not has_consented(membership):
        raise ConsentMissing(
            _(
                "Nothing was saved, because there is no consent from you for this task. "
                "Open the task again to read the text and decide."
            )
        )
