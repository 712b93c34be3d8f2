"""How a refusal reaches an annotator: a calm page, or its code for our script."""

from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from annotation.errors import Conflict, DomainError, Gone, NotAllowed
from annotation.permissions import View, annotator_required, wants_json

STATUS_OF_REFUSAL: dict[type[DomainError], int] = {NotAllowed: 403, Conflict: 409, Gone: 404}
INVALID = 422


def status_of(error: DomainError) -> int:
    """HTTP status of a refusal; what is none of the three known kinds is bad input."""
    return next(
        (STATUS_OF_REFUSAL[kind] for kind in type(error).__mro__ if kind in STATUS_OF_REFUSAL), INVALID
    )


def annotator_page(view: View) -> View:
    """A page for annotators: never cached anywhere, and a refusal is a page too."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except DomainError as error:
            status = status_of(error)
            if wants_json(request):
                return JsonResponse({"detail": error.message, "code": error.code}, status=status)
            return render(request, "annotation/refused.html", {"message": error.message}, status=status)

    return never_cache(annotator_required(wrapped))
