"""The admin site: accounts by role, everything else to read."""

from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from annotation.admin import AccountAdmin
from annotation.models import Account, AuditEvent
from tests.factories import make_account

pytestmark = pytest.mark.django_db

PASSWORD = "a long one for this test"

READ_ONLY = [
    model
    for model, model_admin in admin.site._registry.items()
    if model._meta.app_label == "annotation" and not isinstance(model_admin, AccountAdmin)
]


def change_url(account: Account) -> str:
    return reverse("admin:annotation_account_change", args=[account.pk])


@pytest.mark.parametrize("model", READ_ONLY, ids=lambda model: model.__name__)
def test_rows_can_be_listed_and_not_added(admin_client: Client, model: Any) -> None:
    name = model._meta.model_name

    assert admin_client.get(reverse(f"admin:annotation_{name}_changelist")).status_code == 200
    assert admin_client.get(reverse(f"admin:annotation_{name}_add")).status_code == 403


def test_role_brings_its_flags_and_leaves_a_trace(admin_client: Client, admin_account: Account) -> None:
    account = make_account()

    admin_client.post(change_url(account), {"username": account.username, "role": "ADMIN", "is_active": "on"})

    account.refresh_from_db()
    event = AuditEvent.objects.get(action="account.changed")
    assert (account.is_staff, account.is_superuser) == (True, True)
    assert (event.actor, event.detail["fields"]) == (admin_account, ["role"])


def test_flags_cannot_be_posted(admin_client: Client) -> None:
    account = make_account()

    admin_client.post(
        change_url(account),
        {
            "username": account.username,
            "role": "ANNOTATOR",
            "is_active": "on",
            "is_superuser": "1",
            "is_staff": "1",
        },
    )

    account.refresh_from_db()
    assert (account.is_staff, account.is_superuser) == (False, False)


def test_flags_that_were_posted_are_recorded(admin_client: Client) -> None:
    account = make_account()

    admin_client.post(
        change_url(account),
        {"username": account.username, "role": "ANNOTATOR", "is_active": "on", "is_superuser": "1"},
    )

    event = AuditEvent.objects.get(action="account.changed")
    assert (event.detail["fields"], event.detail["fields_ignored"]) == ([], ["is_superuser"])


def test_password_set_for_someone_else_leaves_a_trace(admin_client: Client, admin_account: Account) -> None:
    account = make_account()

    admin_client.post(
        reverse("admin:auth_user_password_change", args=[account.pk]),
        {"password1": PASSWORD, "password2": PASSWORD, "usable_password": "true"},
    )

    account.refresh_from_db()
    event = AuditEvent.objects.get(action="account.password_changed")
    assert account.check_password(PASSWORD)
    assert (event.actor, event.subject) == (admin_account, f"account:{account.pk}")
    assert PASSWORD not in str(event.detail)


def test_own_password_changed_leaves_a_trace(admin_client: Client, admin_account: Account) -> None:
    admin_account.set_password("an old one of this admin")
    admin_account.save()
    admin_client.force_login(admin_account)

    admin_client.post(
        reverse("admin:password_change"),
        {"old_password": "an old one of this admin", "new_password1": PASSWORD, "new_password2": PASSWORD},
    )

    admin_account.refresh_from_db()
    assert admin_account.check_password(PASSWORD)
    assert AuditEvent.objects.get(action="account.password_changed").actor == admin_account


def test_password_refused_leaves_no_trace(admin_client: Client) -> None:
    account = make_account()

    admin_client.post(
        reverse("admin:auth_user_password_change", args=[account.pk]),
        {"password1": "short", "password2": "short", "usable_password": "true"},
    )

    assert not AuditEvent.objects.filter(action="account.password_changed").exists()


def test_password_of_an_unknown_account_is_not_found(admin_client: Client) -> None:
    path = reverse("admin:auth_user_password_change", args=[123456])

    assert admin_client.post(path, {"password1": PASSWORD, "password2": PASSWORD}).status_code == 404


def test_tokens_are_not_in_the_admin_site(admin_client: Client) -> None:
    assert admin_client.get("/admin/authtoken/tokenproxy/").status_code == 404


def test_account_cannot_be_deleted(admin_client: Client) -> None:
    path = reverse("admin:annotation_account_delete", args=[make_account().pk])

    assert admin_client.post(path, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("who", ["annotator_client", "researcher_client"])
def test_admin_site_is_for_admins(who: str, request: pytest.FixtureRequest) -> None:
    assert request.getfixturevalue(who).get("/admin/annotation/label/").status_code == 302
