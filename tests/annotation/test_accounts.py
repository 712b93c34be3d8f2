"""Ways in: passwords and API tokens, and the traces they leave."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from rest_framework.authtoken.models import Token

from annotation.accounts import InvalidAccount, create_token, set_password
from annotation.choices import Role
from annotation.errors import NotAllowed
from annotation.models import Account, AuditEvent
from tests.factories import make_account

pytestmark = pytest.mark.django_db


def status_with(token: str) -> int:
    return Client().get("/api/v1/benchmarks/", headers={"Authorization": f"Token {token}"}).status_code


def test_set_password_lets_the_person_in_and_is_recorded(researcher: Account, admin_account: Account) -> None:
    set_password(researcher, "a long one for this test", actor=admin_account)

    researcher.refresh_from_db()
    event = AuditEvent.objects.get()
    assert researcher.check_password("a long one for this test")
    assert (event.action, event.subject, event.actor) == (
        "account.password_changed",
        f"account:{researcher.pk}",
        admin_account,
    )


def test_set_password_of_a_weak_one_is_refused(researcher: Account) -> None:
    before = researcher.password

    with pytest.raises(InvalidAccount, match="too short"):
        set_password(researcher, "short")

    researcher.refresh_from_db()
    assert researcher.password == before
    assert not AuditEvent.objects.exists()


def test_create_token_opens_the_api_and_is_recorded(researcher: Account) -> None:
    token = create_token(researcher)

    event = AuditEvent.objects.get()
    assert status_with(token) == 200
    assert (event.action, event.detail) == ("account.token_created", {"replaces_one": False})


def test_create_token_again_ends_the_first(researcher: Account) -> None:
    first = create_token(researcher)

    second = create_token(researcher)

    assert (status_with(first), status_with(second)) == (403, 200)
    assert AuditEvent.objects.latest("pk").detail == {"replaces_one": True}


@pytest.mark.parametrize(
    ("role", "is_active"), [(Role.ANNOTATOR, True), (Role.ADMIN, False)], ids=["annotator", "deactivated"]
)
def test_create_token_where_the_api_would_not_answer_is_refused(role: Role, is_active: bool) -> None:
    with pytest.raises(NotAllowed, match="answers no one else"):
        create_token(make_account(role=role, is_active=is_active))

    assert not Token.objects.exists()


def test_create_token_command_prints_it_once(researcher: Account) -> None:
    out = StringIO()

    call_command("create_token", researcher.username, stdout=out)

    token = Token.objects.get(user=researcher).key
    assert out.getvalue().count(token) == 1
    assert AuditEvent.objects.get().actor is None


def test_create_token_command_without_such_an_account_fails() -> None:
    with pytest.raises(CommandError, match="no account named nobody"):
        call_command("create_token", "nobody")
