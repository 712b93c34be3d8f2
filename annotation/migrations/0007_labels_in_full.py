"""Labels in full: how they were read, erasure, drafts, flags and adjudication.

The triggers of labels are set aside while the table is rebuilt, and then let an erasure through.
"""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers
from annotation.models import new_public_id

MUTABLE = ("is_current",)
ERASABLE = ("rating", "severity", "note", "rating_raw")


def _protect(apps, schema_editor, name, erasable=()):
    meta = apps.get_model("annotation", name)._meta
    create_triggers(
        schema_editor.connection,
        table=meta.db_table,
        columns=[field.column for field in meta.local_concrete_fields],
        mutable=MUTABLE,
        erasable=erasable,
    )


def _release(apps, schema_editor, name):
    drop_triggers(schema_editor.connection, table=apps.get_model("annotation", name)._meta.db_table)


def release_labels(apps, schema_editor):
    _release(apps, schema_editor, "Label")


def protect_labels_as_before(apps, schema_editor):
    _protect(apps, schema_editor, "Label")


def protect(apps, schema_editor):
    _protect(apps, schema_editor, "Label", ERASABLE)
    _protect(apps, schema_editor, "Adjudication")


def release(apps, schema_editor):
    for name in ("Label", "Adjudication"):
        _release(apps, schema_editor, name)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_people_in_full")]
    operations = [
        migrations.RunPython(release_labels, protect_labels_as_before),
        migrations.CreateModel(
            name="Adjudication",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=new_public_id,
                        editable=False,
                        max_length=16,
                        unique=True,
                    ),
                ),
                (
                    "decision",
                    models.CharField(
                        choices=[("ACCEPTABLE", "Acceptable"), ("UNACCEPTABLE", "Unacceptable")],
                        max_length=16,
                    ),
                ),
                ("reason", models.TextField()),
                ("labels_digest", models.CharField(max_length=64)),
                ("is_current", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("severity", models.PositiveSmallIntegerField(null=True)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "public_id",
                    models.CharField(
                        default=new_public_id,
                        editable=False,
                        max_length=16,
                        unique=True,
                    ),
                ),
                ("note", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                ("resolution", models.TextField(blank=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="assignment",
            name="assignment_state_known",
        ),
        migrations.RemoveConstraint(
            model_name="label",
            name="label_rating_unless_retracted",
        ),
        migrations.AddField(
            model_name="assignment",
            name="first_shown_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="label",
            name="active_ms",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="label",
            name="erased_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="label",
            name="text_view",
            field=models.CharField(
                choices=[("PLAIN", "as plain text"), ("MARKDOWN", "with headings and lists")],
                max_length=16,
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="state",
            field=models.CharField(
                choices=[
                    ("OPEN", "being read"),
                    ("LABELLED", "labelled"),
                    ("AGAIN", "asked again"),
                    ("SKIPPED", "skipped"),
                ],
                default="OPEN",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["OPEN", "LABELLED", "AGAIN", "SKIPPED"])),
                name="assignment_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("action", "RETRACTED"), ("is_current", False), ("rating", None), ("severity", None)
                    ),
                    models.Q(
                        models.Q(("action", "RETRACTED"), _negated=True),
                        ("rating__in", ["ACCEPTABLE", "UNACCEPTABLE"]),
                        ("rating__isnull", False),
                    ),
                    ("erased_at__isnull", False),
                    _connector="OR",
                ),
                name="label_rating_unless_retracted",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("erased_at", None),
                    models.Q(
                        ("is_current", False),
                        ("note", None),
                        ("rating", None),
                        ("rating_raw", None),
                        ("severity", None),
                    ),
                    _connector="OR",
                ),
                name="label_erased_is_blank",
            ),
        ),
        migrations.AddConstraint(
            model_name="label",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("text_view", None), ("text_view__in", ["PLAIN", "MARKDOWN"]), _connector="OR"
                ),
                name="label_text_view_known",
            ),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="adjudicator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="adjudication",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="adjudications",
                to="annotation.campaignitem",
            ),
        ),
        migrations.AddField(
            model_name="draft",
            name="assignment",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="draft", to="annotation.assignment"
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="annotator",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="flags", to="annotation.annotator"
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="item",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="flags",
                to="annotation.campaignitem",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="resolved_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_current", True)), fields=("item",), name="adjudication_one_current"
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(("decision__in", ["ACCEPTABLE", "UNACCEPTABLE"])),
                name="adjudication_decision_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="adjudication",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="adjudication_has_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("severity", None), models.Q(("severity__gte", 1), ("severity__lte", 5)), _connector="OR"
                ),
                name="draft_severity_in_scale",
            ),
        ),
        migrations.AddConstraint(
            model_name="flag",
            constraint=models.UniqueConstraint(
                condition=models.Q(("resolved_at", None)), fields=("item", "annotator"), name="flag_one_open"
            ),
        ),
        migrations.RunPython(protect, release),
    ]
