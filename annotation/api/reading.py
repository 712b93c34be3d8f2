"""What every resource of the API is: listed, retrieved, never written, and strict in its parameters."""

from collections.abc import Collection
from typing import Any

from django_filters import FilterSet
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request

from annotation.errors import DomainError

PUBLIC_ID = "[0-9a-f]{16}"
SLUG = "[-a-zA-Z0-9_]+"


def refuse_unknown_parameters(request: Request, known: Collection[str]) -> None:
    """Refuse a query parameter that the address does not know.

    A misspelt filter would otherwise be ignored and give every row; a lookup through a relation
    (`annotator__password__startswith`) is refused by the same rule.

    Raises:
        DomainError: names the parameter and those that are known.
    """
    unknown = sorted(set(request.query_params) - set(known))
    if unknown:
        expected = ", ".join(sorted(known)) or "none"
        raise DomainError(
            f"There is no parameter {unknown[0][:80]!r} here. Known: {expected}. Correct or remove it.",
            code="unknown_parameter",
        )


class PublicIdSerializer(serializers.ModelSerializer):
    """A row under its random public id, shown as `id`."""

    id = serializers.CharField(source="public_id", read_only=True)


class ListedResource(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Rows that can be listed and filtered by the fields of `filterset_class`, and no others."""

    filterset_class: type[FilterSet]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        known: set[str] = set()
        if self.action == "list":
            known |= {"page", "page_size", *self.filterset_class.base_filters}
        refuse_unknown_parameters(request, known)


class ReadOnlyResource(mixins.RetrieveModelMixin, ListedResource):
    """As `ListedResource`, and each row can be retrieved by its public id."""

    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_regex = PUBLIC_ID
