"""Pages that belong to neither app: the front door, health and the error pages."""

from django.contrib.auth.decorators import login_required
from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET


def socket_address(request: HttpRequest) -> str:
    """The address of the other end of the socket; forwarded addresses can be invented."""
    return str(request.META.get("REMOTE_ADDR", ""))


@require_GET
@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Send each person to their own work."""
    is_researcher = getattr(request.user, "is_researcher", False)
    return redirect("judging:home" if is_researcher else "annotation:home")


@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Answers 200 when the process runs and the database answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return JsonResponse({"status": "ok", "database": connection.vendor})
