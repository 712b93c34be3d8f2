"""What a response was before its text was corrected is kept, append-only."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers

REASONS = [
    ("DAMAGED", "damaged in the file (encoding, line ends)"),
    ("INCOMPLETE", "not copied in full"),
    ("MIXED_UP", "the text of another response"),
    ("OTHER", "another reason"),
]
STATES = [
    ("OK", "complete"),
    ("EMPTY", "empty"),
    ("ERROR", "failed to generate"),
    ("FILTERED", "filtered by the provider"),
    ("TRUNCATED", "cut off"),
]


def protect(apps, schema_editor):
    meta = apps.get_model("annotation", "ResponseRevision")._meta
    columns = [field.column for field in meta.local_concrete_fields]
    create_triggers(schema_editor.connection, table=meta.db_table, columns=columns)


def release(apps, schema_editor):
    table = apps.get_model("annotation", "ResponseRevision")._meta.db_table
    drop_triggers(schema_editor.connection, table=table)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_collected_responses")]
    operations = [
        migrations.CreateModel(
            name="ResponseRevision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField(blank=True)),
                ("text_hash", models.CharField(max_length=64)),
                ("state", models.CharField(choices=STATES, max_length=16)),
                ("error", models.TextField(null=True)),
                ("finish_reason", models.CharField(max_length=32, null=True)),
                ("reason", models.CharField(choices=REASONS, max_length=16)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="revisions",
                        to="annotation.response",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason__in", [code for code, _ in REASONS])),
                        name="response_revision_reason_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", [code for code, _ in STATES])),
                        name="response_revision_state_known",
                    ),
                ],
            },
        ),
        migrations.RunPython(protect, release),
    ]
