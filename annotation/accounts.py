"""Accounts: how people and their scripts get in. Every new way in leaves an audit event."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from rest_framework.authtoken.models import Token

from annotation.audit import record_event
from annotation.choices import Role
from annotation.errors import Conflict, DomainError, NotAllowed
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
    except ValidationError as error:
        raise InvalidAccount(" ".join(error.messages)) from error
    if password is not None:
        _check_password(password, account)
    account.set_password(password if password is not None else generated)
    with transaction.atomic():
        account.save()
        record_event(actor=actor, action="account.created", subject=f"account:{account.pk}", role=role)
    return NewAccount(account, generated)


def set_password(account: Account, password: str, *, actor: Account | None = None) -> None:
    """Give an account another password; its sessions end.

    Raises:
        InvalidAccount: the password breaks a rule.
    """
    _check_password(password, account)
    with recording_password_change(account, actor=actor):
        account.set_password(password)
        account.save(update_fields=["password"])


@contextmanager
def recording_password_change(account: Account, *, actor: Account | None) -> Iterator[None]:
    """Run the block in a transaction, and record it if it stored another password for the account."""
    with transaction.atomic():
        before = Account.objects.values_list("password", flat=True).get(pk=account.pk)
        yield
        after = Account.objects.values_list("password", flat=True).get(pk=account.pk)
        if after != before:
            record_event(actor=actor, action="account.password_changed", subject=f"account:{account.pk}")


def create_token(account: Account, *, actor: Account | None = None) -> str:
    """A new API token of the account, to be shown once; an earlier one stops working.

    Raises:
        NotAllowed: an annotator's or a deactivated account, to which the API does not answer.
    """
    if not account.is_researcher:
        raise NotAllowed(
            f"{account.username} is not an active researcher or admin, and the API answers no one else. "
            "Name another account."
        )
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        n_replaced, _ = Token.objects.filter(user=account).delete()
        token = Token.objects.create(user=account)
        record_event(
            actor=actor,
            action="account.token_created",
            subject=f"account:{account.pk}",
            replaces_one=n_replaced > 0,
        )
    return token.key


def _check_password(password: str, account: Account) -> None:
    try:
        validate_password(password, account)
    except ValidationError as error:
        raise InvalidAccount(" ".join(error.messages)) from error


def staff_flags(role: Role) -> dict[str, bool]:
    """Django's own flags, which follow from the role alone: only admins enter the admin site."""
    is_admin = role == Role.ADMIN
    return {"is_staff": is_admin, "is_superuser": is_admin}
