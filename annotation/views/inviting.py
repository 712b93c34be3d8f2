"""Where an invitation link leads: one page to choose a password, one to note the sign-in name."""

from typing import Any

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation.accounts import InvalidAccount
from annotation.campaigns import InvitationGone, accept_invitation, join_by_invitation, open_invitation
from annotation.choices import Role
from annotation.errors import DomainError
from annotation.forms import PasswordForm
from annotation.models import Account
from annotation.permissions import SignedInRequest, own_membership
from annotation.views.refusals import INVALID, annotator_page, status_of

PASSWORD_BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_http_methods(["GET", "POST"])
@never_cache
def join(request: HttpRequest, secret: str) -> HttpResponse:
    """Let one person in. Looking at the page uses nothing up; the button does."""
    try:
        if isinstance(request.user, Account):
            return _join_as(request, request.user, secret)
        return _join_anew(request, secret)
    except InvitationGone as gone:
        context = {"message": gone.message, "sign_in_name": gone.sign_in_name}
        return render(request, "annotation/invitation_gone.html", context, status=status_of(gone))


@require_GET
@annotator_page
def welcome(request: SignedInRequest, campaign_id: str) -> HttpResponse:
    """The sign-in name, to be noted before going on."""
    membership = own_membership(request.user, campaign_id)
    context = {
        "campaign": membership.campaign,
        "is_simulated": membership.campaign.benchmark.is_simulated,
        "sign_in_name": request.user.get_username(),
    }
    return render(request, "annotation/welcome.html", context)


def _join_anew(request: HttpRequest, secret: str) -> HttpResponse:
    """A person without an account here, who chooses a password and gets one."""
    invitation = open_invitation(secret)
    form = PasswordForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            annotator = accept_invitation(secret=secret, password=form.cleaned_data["password"])
        except InvalidAccount as error:
            form.add_error("password", error.message)
        else:
            login(request, annotator.account, backend=PASSWORD_BACKEND)
            return redirect("annotation:welcome", campaign_id=invitation.campaign.public_id)
    context = {"form": form, "is_simulated": invitation.campaign.benchmark.is_simulated}
    return render(request, "annotation/invitation.html", context, status=INVALID if form.errors else 200)


def _join_as(request: HttpRequest, account: Account, secret: str) -> HttpResponse:
    """A person who is signed in: one press adds the task to the others."""
    invitation = open_invitation(secret)
    context: dict[str, Any] = {
        "is_simulated": invitation.campaign.benchmark.is_simulated,
        "is_annotator": account.role == Role.ANNOTATOR,
    }
    status = 200
    if request.method == "POST":
        try:
            join_by_invitation(secret=secret, account=account)
        except InvitationGone:
            raise
        except DomainError as error:
            context["message"], status = error.message, status_of(error)
        else:
            return redirect("annotation:next", campaign_id=invitation.campaign.public_id)
    return render(request, "annotation/invitation_signed_in.html", context, status=status)
