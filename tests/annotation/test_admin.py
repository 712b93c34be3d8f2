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


def test_account_cannot_be_deleted(admin_client: Client) -> None:
    path = reverse("admin:annotation_account_delete", args=[make_account().pk])

    assert admin_client.post(path, {"post": "yes"}).status_code == 403


@pytest.mark.parametrize("who", ["annotator_client", "researcher_client"])
def test_admin_site_is_for_admins(who: str, request: pytest.FixtureRequest) -> None:
    assert request.getfixturevalue(who).get("/admin/annotation/label/").status_code == 302
