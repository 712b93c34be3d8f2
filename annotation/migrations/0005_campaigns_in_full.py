"""Campaigns in full: dates, care, quotas, mildness, training and gold items, texts in every version."""

import hashlib

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers


def keep_texts(apps, schema_editor):
    """The texts that campaigns have now become the version that their labels and consents name."""
    text_class = apps.get_model("annotation", "CampaignText")
    for campaign in apps.get_model("annotation", "Campaign").objects.order_by("pk"):
        consent = f"{campaign.content_warning}\n\n{campaign.consent_text}"
        for kind, version, text in (
            ("INSTRUCTIONS", campaign.instructions_version, campaign.instructions),
            ("CONSENT", campaign.consent_version, consent),
        ):
            text_class.objects.create(
                campaign=campaign,
                kind=kind,
                version=version,
                text=text,
                text_hash=hashlib.sha256(text.encode()).hexdigest(),
                created_at=campaign.created_at,
            )


def forget_texts(apps, schema_editor):
    apps.get_model("annotation", "CampaignText").objects.all().delete()


def protect(apps, schema_editor):
    meta = apps.get_model("annotation", "CampaignText")._meta
    columns = [field.column for field in meta.local_concrete_fields]
    create_triggers(schema_editor.connection, table=meta.db_table, columns=columns)


def release(apps, schema_editor):
    drop_triggers(schema_editor.connection, table=apps.get_model("annotation", "CampaignText")._meta.db_table)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_response_revisions")]
    operations = [
        migrations.CreateModel(
            name="CampaignText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("INSTRUCTIONS", "instructions"), ("CONSENT", "consent")], max_length=16
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("text", models.TextField(blank=True)),
                ("text_hash", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="CategoryMildness",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("risk_category", models.CharField(max_length=200)),
                ("mildness", models.PositiveSmallIntegerField(default=3)),
            ],
        ),
        migrations.CreateModel(
            name="TypeQuota",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "annotator_type",
                    models.CharField(
                        choices=[
                            ("PARENT", "parent"),
                            ("SPECIALIST", "specialist"),
                            ("CROWD", "crowd"),
                            ("OTHER", "other"),
                        ],
                        max_length=16,
                    ),
                ),
                ("n_labels", models.PositiveSmallIntegerField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="campaignitem",
            name="item_regular_once",
        ),
        migrations.AddField(
            model_name="campaign",
            name="adjudication_overrides",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="campaign",
            name="break_after_grave",
            field=models.PositiveSmallIntegerField(blank=True, default=10, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="break_after_minutes",
            field=models.PositiveSmallIntegerField(blank=True, default=30, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="closes_on",
            field=models.DateField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="daily_cap",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="opens_on",
            field=models.DateField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="pass_mark",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="repeat_after_days",
            field=models.PositiveSmallIntegerField(default=7),
        ),
        migrations.AddField(
            model_name="campaign",
            name="repeat_percent",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="campaign",
            name="selection",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="session_cap",
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="campaign",
            name="withdrawal_policy",
            field=models.CharField(
                choices=[("KEEP", "kept without a link to the person"), ("DELETE", "deleted")],
                default="KEEP",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="campaignitem",
            name="expected_rating",
            field=models.CharField(
                blank=True,
                choices=[("ACCEPTABLE", "Acceptable"), ("UNACCEPTABLE", "Unacceptable")],
                max_length=16,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="campaignitem",
            name="feedback",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="campaignitem",
            name="repeats",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="repeated",
                to="annotation.campaignitem",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(("withdrawal_policy__in", ["KEEP", "DELETE"])),
                name="campaign_withdrawal_policy_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("opens_on", None),
                    ("closes_on", None),
                    ("closes_on__gte", models.F("opens_on")),
                    _connector="OR",
                ),
                name="campaign_dates_in_order",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("pass_mark", None), ("pass_mark__lte", 100), _connector="OR"),
                    ("repeat_after_days__gte", 1),
                    ("repeat_percent__lte", 100),
                ),
                name="campaign_shares_in_range",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaign",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("break_after_minutes", None), ("break_after_minutes__gte", 1), _connector="OR"),
                    models.Q(("break_after_grave", None), ("break_after_grave__gte", 1), _connector="OR"),
                    models.Q(("daily_cap", None), ("daily_cap__gte", 1), _connector="OR"),
                    models.Q(("session_cap", None), ("session_cap__gte", 1), _connector="OR"),
                ),
                name="campaign_care_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("repeats__isnull", False)), fields=("repeats",), name="item_repeated_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignitem",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind", "REPEAT"), _negated=True),
                fields=("campaign", "response"),
                name="item_once_per_response",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("expected_rating__isnull", False), ("kind__in", ["TRAINING", "GOLD"])),
                    models.Q(
                        models.Q(("kind__in", ["TRAINING", "GOLD"]), _negated=True), ("expected_rating", None)
                    ),
                    _connector="OR",
                ),
                name="item_expects_an_answer",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("expected_rating", None),
                    ("expected_rating__in", ["ACCEPTABLE", "UNACCEPTABLE"]),
                    _connector="OR",
                ),
                name="item_expected_rating_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="campaignitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "REPEAT"), ("repeats__isnull", False)),
                    models.Q(models.Q(("kind", "REPEAT"), _negated=True), ("repeats", None)),
                    _connector="OR",
                ),
                name="item_repeat_of_another",
            ),
        ),
        migrations.AddField(
            model_name="campaigntext",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="texts", to="annotation.campaign"
            ),
        ),
        migrations.AddField(
            model_name="campaigntext",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="categorymildness",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="mildness", to="annotation.campaign"
            ),
        ),
        migrations.AddField(
            model_name="typequota",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="quotas", to="annotation.campaign"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaigntext",
            constraint=models.UniqueConstraint(
                fields=("campaign", "kind", "version"), name="campaign_text_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="campaigntext",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["INSTRUCTIONS", "CONSENT"])), name="campaign_text_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="categorymildness",
            constraint=models.UniqueConstraint(
                fields=("campaign", "risk_category"), name="mildness_once_per_category"
            ),
        ),
        migrations.AddConstraint(
            model_name="categorymildness",
            constraint=models.CheckConstraint(
                condition=models.Q(("mildness__gte", 1), ("mildness__lte", 5)), name="mildness_in_range"
            ),
        ),
        migrations.AddConstraint(
            model_name="typequota",
            constraint=models.UniqueConstraint(
                fields=("campaign", "annotator_type"), name="quota_once_per_type"
            ),
        ),
        migrations.AddConstraint(
            model_name="typequota",
            constraint=models.CheckConstraint(
                condition=models.Q(("annotator_type__in", ["PARENT", "SPECIALIST", "CROWD", "OTHER"])),
                name="quota_type_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="typequota",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_labels__gte", 1)), name="quota_positive"
            ),
        ),
        migrations.RunPython(keep_texts, forget_texts),
        migrations.RunPython(protect, release),
    ]
