"""The admin site: accounts can be managed, everything else is there to be read.

What has rules (campaigns, labels, consents) is changed through its own pages, which keep the rules.
"""

from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.authtoken import admin as token_admin  # noqa: F401  (registers what is taken out below)
from rest_framework.authtoken.models import TokenProxy

from annotation.accounts import recording_password_change, staff_flags
from annotation.audit import record_event
from annotation.choices import Role
from annotation.models import (
    Account,
    Annotator,
    AuditEvent,
    Benchmark,
    Campaign,
    Consent,
    Label,
    TargetModel,
)

# What a person may do follows from the role; Django's groups would be a second, unseen answer.
admin.site.unregister(Group)
# It lists every token in clear and records nothing; `create_token` shows a new one once.
admin.site.unregister(TokenProxy)

FIELDS_NOT_TAKEN = {"is_staff", "is_superuser", "groups", "user_permissions"}


@admin.register(Account)
class AccountAdmin(UserAdmin):
    """Accounts by name and role. Django's own flags follow from the role and are not on the form."""

    list_display = ("username", "role", "is_active", "last_login")
    list_filter = ("role", "is_active")
    search_fields = ("username",)
    filter_horizontal = ()
    fieldsets = ((None, {"fields": ("username", "password", "role", "is_active")}),)
    add_fieldsets = (
        (None, {"classes": ("wide",), "fields": ("username", "role", "password1", "password2")}),
    )

    def save_model(self, request: HttpRequest, obj: Account, form: Any, change: bool) -> None:
        for flag, value in staff_flags(Role(obj.role)).items():
            setattr(obj, flag, value)
        super().save_model(request, obj, form, change)
        record_event(
            actor=cast(Account, request.user),
            action="account.changed" if change else "account.created",
            subject=f"account:{obj.pk}",
            role=obj.role,
            is_active=obj.is_active,
            fields=sorted(form.changed_data),
            fields_ignored=sorted(FIELDS_NOT_TAKEN.intersection(request.POST)),
        )

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        account = self.get_object(request, unquote(id))
        if account is None:
            raise Http404
        with recording_password_change(account, actor=cast(Account, request.user)):
            return super().user_change_password(request, id, form_url)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Deactivate instead: labels and audit events name the account."""
        return False


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows to look at."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Benchmark)
class BenchmarkAdmin(ReadOnlyAdmin):
    list_display = ("slug", "name", "licence", "is_simulated")


@admin.register(TargetModel)
class TargetModelAdmin(ReadOnlyAdmin):
    list_display = ("slug", "family")


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    list_display = ("name", "benchmark", "state", "scale", "labels_per_response", "created_at")
    list_filter = ("benchmark", "state")


@admin.register(Annotator)
class AnnotatorAdmin(ReadOnlyAdmin):
    list_display = ("code", "benchmark", "annotator_type", "account")
    list_filter = ("benchmark", "annotator_type")
    list_select_related = ("benchmark", "account")


@admin.register(Consent)
class ConsentAdmin(ReadOnlyAdmin):
    list_display = ("campaign", "annotator", "version", "consented_at", "withdrawn_at")
    list_select_related = ("campaign", "annotator")


@admin.register(Label)
class LabelAdmin(ReadOnlyAdmin):
    list_display = (
        "public_id",
        "annotator",
        "rating",
        "severity",
        "revision",
        "action",
        "is_current",
        "created_at",
    )
    list_filter = ("action", "is_current", "is_imported")
    list_select_related = ("annotator",)
    show_full_result_count = False


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "action", "subject")
    list_filter = ("action",)
    list_select_related = ("actor",)
    date_hierarchy = "at"
