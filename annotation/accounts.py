"""Accounts: how people get in. Passwords are made here or checked here, never stored in clear."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.audit import record_event
from annotation.choices import Role
from annotation.errors import Conflict, DomainError
from annotation.models import Account


class InvalidAccount(DomainError):
    """The name or the password cannot be used."""

    code = "invalid_account"


@dataclass(frozen=True)
class NewAccount:
    """An account and the password that was made for it; None when the caller chose one."""

    account: Account
    generated_password: str | None


def create_account(
    *, username: str, role: Role, password: str | None = None, actor: Account | None = None
) -> NewAccount:
    """Make an account. Without a password a random one is made and returned once.

    Raises:
        Conflict: the name is taken.
        InvalidAccount: the name or the password breaks a rule.
    """
    generated = None if password is not None else secrets.token_urlsafe(12)
    account = Account(username=username, role=role, **staff_flags(role))
    if Account.objects.filter(username=username).exists():
        raise Conflict(
            f"There is already an account named {username}. Choose another name.", code="name_taken"
        )
    try:
        account.clean_fields(exclude=["password"])
        if password is not None:
            validate_password(password, account)
    except ValidationError as error:
        raise InvalidAccount(" ".join(error.messages)) from error
    account.set_password(password if password is not None else generated)
    with transaction.atomic():
        account.save()
        record_event(actor=actor, action="account.created", subject=f"account:{account.pk}", role=role)
    return NewAccount(account, generated)


def staff_flags(role: Role) -> dict[str, bool]:
    """Django's own flags, which follow from the role alone: only admins enter the admin site."""
    is_admin = role == Role.ADMIN
    return {"is_staff": is_admin, "is_superuser": is_admin}
