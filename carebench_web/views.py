"""Pages that belong to neither app: the front door, health and the error pages."""

import logging
from http import HTTPStatus
from typing import cast

from django.contrib import admin
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET

from annotation.accounts import recording_password_change
from annotation.models import Account
from judging.monitoring.stalls import find_stalls

logger = logging.getLogger(__name__)


def socket_address(request: HttpRequest) -> str:
    """The address of the other end of the socket; forwarded addresses can be invented."""
    return str(request.META.get("REMOTE_ADDR", ""))


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Send each person to their own work."""
    is_researcher = getattr(request.user, "is_researcher", False)
    return redirect("judging:home" if is_researcher else "annotation:home")


def change_own_password(request: HttpRequest) -> HttpResponse:
    """The admin site's page for it, with a trace in the audit."""
    account = cast(Account, request.user)
    with recording_password_change(account, actor=account):
        return admin.site.password_change(request)


@csrf_exempt
def no_such_api_address(request: HttpRequest, rest: str) -> JsonResponse:
    """An address below the API that leads nowhere, in the API's own shape."""
    return JsonResponse({"detail": "There is nothing at this address.", "code": "not_found"}, status=404)


@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Answers 200 when the database answers and every running pass moves or has a reason to wait.

    Otherwise 503, with `status` saying which it is. It is open to all, so a pass is named by its random
    id and nothing else.
    """
    try:
        stalled = sorted({stall.judge_pass.public_id for stall in find_stalls()})
    except DatabaseError as error:
        logger.error("health: the database does not answer (%s)", type(error).__name__)
        return _health("no database", status=HTTPStatus.SERVICE_UNAVAILABLE)
    if stalled:
        return _health("stalled", status=HTTPStatus.SERVICE_UNAVAILABLE, stalled_passes=stalled)
    return _health("ok")


def _health(word: str, *, status: int = HTTPStatus.OK, **more: object) -> JsonResponse:
    answer = JsonResponse({"status": word, "database": connection.vendor, **more}, status=status)
    answer.headers["Cache-Control"] = "no-store"
    return answer
