"""Responses are collected from target models; their calls are append-only too."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers


def protect(apps, schema_editor):
    meta = apps.get_model("judging", "GenerationAttempt")._meta
    columns = [field.column for field in meta.local_concrete_fields]
    create_triggers(schema_editor.connection, table=meta.db_table, columns=columns)


def release(apps, schema_editor):
    drop_triggers(
        schema_editor.connection, table=apps.get_model("judging", "GenerationAttempt")._meta.db_table
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_collected_responses"), ("judging", "0013_embeddings")]
    operations = [
        migrations.CreateModel(
            name="Generation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("endpoint_name", models.CharField(max_length=100, null=True)),
                (
                    "failure_code",
                    models.CharField(
                        choices=[
                            ("rate_limited", "rate limited"),
                            ("timeout", "timed out"),
                            ("network", "network"),
                            ("auth", "key refused"),
                            ("bad_request", "request refused"),
                            ("server", "server error"),
                            ("bad_reply", "unusable reply"),
                            ("encoding", "text cannot be sent"),
                            ("poison", "stopped several workers"),
                            ("imported", "missing in the imported file"),
                        ],
                        max_length=32,
                        null=True,
                    ),
                ),
                ("detail", models.TextField(null=True)),
                ("token", models.PositiveIntegerField(default=0)),
                ("worker", models.CharField(max_length=100, null=True)),
                ("lease_until", models.DateTimeField(null=True)),
                ("not_before", models.DateTimeField(null=True)),
                ("n_deaths", models.PositiveSmallIntegerField(default=0)),
                ("counters", models.JSONField(default=dict)),
                ("settled_at", models.DateTimeField(null=True)),
                ("rollout", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("PENDING", "waiting"),
                            ("RUNNING", "being collected"),
                            ("COLLECTED", "collected"),
                            ("EMPTY", "answered without a text"),
                            ("FILTERED", "filtered by the provider"),
                            ("TRUNCATED", "answer cut off"),
                            ("CALL_FAILED", "call failed"),
                            ("CANCELLED", "cancelled"),
                        ],
                        default="PENDING",
                        max_length=16,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="GenerationAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token", models.PositiveIntegerField()),
                ("outcome", models.CharField(max_length=32)),
                ("http_status", models.PositiveSmallIntegerField(null=True)),
                ("parameters", models.JSONField(null=True)),
                ("tokens_in", models.PositiveIntegerField(null=True)),
                ("tokens_out", models.PositiveIntegerField(null=True)),
                ("cost_micros", models.PositiveBigIntegerField(null=True)),
                ("latency_ms", models.PositiveIntegerField(null=True)),
                ("reply_text", models.TextField(null=True)),
                ("detail", models.TextField(null=True)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddField(
            model_name="generation",
            name="judge_pass",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="generations",
                to="judging.judgepass",
            ),
        ),
        migrations.AddField(
            model_name="generation",
            name="prompt",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.prompt"
            ),
        ),
        migrations.AddField(
            model_name="generation",
            name="response",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="annotation.response",
            ),
        ),
        migrations.AddField(
            model_name="generation",
            name="target_model",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="annotation.targetmodel"
            ),
        ),
        migrations.AddField(
            model_name="generationattempt",
            name="generation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="attempts", to="judging.generation"
            ),
        ),
        migrations.AddIndex(
            model_name="generation",
            index=models.Index(
                condition=models.Q(("state", "PENDING")),
                fields=["judge_pass", "endpoint_name", "id"],
                name="generation_pending",
            ),
        ),
        migrations.AddIndex(
            model_name="generation",
            index=models.Index(
                condition=models.Q(("state", "RUNNING")),
                fields=["endpoint_name", "lease_until"],
                name="generation_running",
            ),
        ),
        migrations.AddIndex(
            model_name="generation",
            index=models.Index(fields=["judge_pass", "state"], name="generation_by_state"),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("failure_code__isnull", False), ("state", "CALL_FAILED")),
                    models.Q(models.Q(("state", "CALL_FAILED"), _negated=True), ("failure_code", None)),
                    _connector="OR",
                ),
                name="generation_failure_has_code",
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "RUNNING"), _negated=True),
                    models.Q(("lease_until__isnull", False), ("worker__isnull", False)),
                    _connector="OR",
                ),
                name="generation_running_has_lease",
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.UniqueConstraint(
                fields=("judge_pass", "prompt", "target_model", "rollout"), name="generation_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("response", None), ("state__in", ["PENDING", "RUNNING", "CANCELLED"])),
                    models.Q(
                        ("response__isnull", False),
                        ("state__in", ["COLLECTED", "EMPTY", "FILTERED", "TRUNCATED", "CALL_FAILED"]),
                    ),
                    _connector="OR",
                ),
                name="generation_settled_has_response",
            ),
        ),
        migrations.AddIndex(
            model_name="generationattempt",
            index=models.Index(fields=["at"], name="generation_attempt_at"),
        ),
        migrations.AddConstraint(
            model_name="generationattempt",
            constraint=models.UniqueConstraint(
                fields=("generation", "token"), name="generation_attempt_once_per_claim"
            ),
        ),
        migrations.RunPython(protect, release),
    ]
