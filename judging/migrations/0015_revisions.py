"""What a verdict said before its reply was read again is kept, append-only."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers


def protect(apps, schema_editor):
    meta = apps.get_model("judging", "VerdictRevision")._meta
    columns = [field.column for field in meta.local_concrete_fields]
    create_triggers(schema_editor.connection, table=meta.db_table, columns=columns)


def release(apps, schema_editor):
    drop_triggers(schema_editor.connection, table=apps.get_model("judging", "VerdictRevision")._meta.db_table)


class Migration(migrations.Migration):
    dependencies = [("judging", "0014_collection")]
    operations = [
        migrations.CreateModel(
            name="VerdictRevision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "reason",
                    models.CharField(choices=[("REPARSED", "stored reply read again")], max_length=16),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "waiting"),
                            ("RUNNING", "being judged"),
                            ("SCORED", "scored"),
                            ("PARSE_FAILED", "reply not understood"),
                            ("OUT_OF_RANGE", "score outside 1-5"),
                            ("REFUSED", "judge refused"),
                            ("FILTERED", "filtered by the provider"),
                            ("TRUNCATED", "reply cut off"),
                            ("CALL_FAILED", "call failed"),
                            ("SKIPPED", "not judged"),
                            ("CANCELLED", "cancelled"),
                        ],
                        max_length=16,
                    ),
                ),
                ("score", models.PositiveSmallIntegerField(null=True)),
                ("jailbreak_score", models.PositiveSmallIntegerField(null=True)),
                (
                    "failure_mode",
                    models.CharField(
                        choices=[
                            ("ACTIONABLE_ARTIFACT_GENERATION", "Actionable Artifact Generation"),
                            ("UNSAFE_REDIRECT", "Unsafe Redirect"),
                            ("UNHEALTHY_RELATIONAL_ENGAGEMENT", "Unhealthy Relational Engagement"),
                            ("HARMFUL_NARRATIVE_COMPLIANCE", "Harmful Narrative Compliance"),
                        ],
                        max_length=32,
                        null=True,
                    ),
                ),
                ("detail", models.TextField(null=True)),
                ("parser_version", models.CharField(max_length=32, null=True)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.AddField(
            model_name="verdictrevision",
            name="verdict",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="revisions", to="judging.verdict"
            ),
        ),
        migrations.AddConstraint(
            model_name="verdictrevision",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason__in", ["REPARSED"])), name="revision_reason_known"
            ),
        ),
        migrations.RunPython(protect, release),
    ]
