"""REST wiring shared by both apps: who may call, page size, and the one error shape."""

from typing import Any

from rest_framework import exceptions, pagination, permissions, status
from rest_framework import views as rest_views
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.errors import Conflict, DomainError, Gone, NotAllowed

# Codes whose status says more than that of their kind.
STATUS_OF_CODE = {"upload_too_large": status.HTTP_413_REQUEST_ENTITY_TOO_LARGE}
STATUS_OF_ERROR: dict[type[DomainError], int] = {
    NotAllowed: status.HTTP_403_FORBIDDEN,
    Conflict: status.HTTP_409_CONFLICT,
    Gone: status.HTTP_410_GONE,
}


class IsResearcher(permissions.BasePermission):
    """Only researchers and admins: annotators have no path to numbers or verdicts.

    As with the pages, what an annotator may not see does not exist: any address gives 404.
    """

    def has_permission(self, request: Request, view: Any) -> bool:
        if request.user.is_authenticated and not request.user.is_researcher:
            raise exceptions.NotFound
        return bool(request.user.is_authenticated)


class Pages(pagination.PageNumberPagination):
    """A hundred rows a page, a thousand at most."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000


def handle_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """Every refusal as `{"detail", "code", "fields"?}`; anything unknown stays a server error."""
    if isinstance(error, DomainError):
        by_kind = next(
            (STATUS_OF_ERROR[kind] for kind in type(error).__mro__ if kind in STATUS_OF_ERROR), 400
        )
        code = STATUS_OF_CODE.get(error.code, by_kind)
        return Response({"detail": error.message, "code": error.code}, status=code)
    response = rest_views.exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        fields = error.detail if isinstance(error.detail, dict) else {"non_field_errors": error.detail}
        response.data = {
            "detail": "The request has values that cannot be used; `fields` names each.",
            "code": "invalid",
            "fields": fields,
        }
        return response
    detail = response.data.get("detail", str(error)) if isinstance(response.data, dict) else str(error)
    response.data = {"detail": str(detail), "code": getattr(detail, "code", "error")}
    return response
