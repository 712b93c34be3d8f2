"""Parts that the tables share."""

import secrets

from django.db import models
from django.db.models import Q


def new_public_id() -> str:
    """A random id for addresses and files: 16 hexadecimal digits, never a row number."""
    return secrets.token_hex(8)


def one_of(field: str, choices: type[models.TextChoices], *, name: str) -> models.CheckConstraint:
    """Check that `field` holds one of the stored codes."""
    return models.CheckConstraint(condition=Q(**{f"{field}__in": choices.values}), name=name)
