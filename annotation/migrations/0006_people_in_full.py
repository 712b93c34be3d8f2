"""People in full: how they read, invitations, sittings, categories that they do not read."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from annotation.models import new_public_id


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_campaigns_in_full")]
    operations = [
        migrations.CreateModel(
            name="CategoryOptOut",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("risk_category", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
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
                ("secret_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("used_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="account",
            name="account_role_known",
        ),
        migrations.AddField(
            model_name="account",
            name="language",
            field=models.CharField(blank=True, max_length=16),
        ),
        migrations.AddField(
            model_name="account",
            name="text_size",
            field=models.CharField(
                choices=[("NORMAL", "normal"), ("LARGE", "large"), ("LARGEST", "largest")],
                default="NORMAL",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="account",
            name="text_view",
            field=models.CharField(
                choices=[("PLAIN", "as plain text"), ("MARKDOWN", "with headings and lists")],
                default="PLAIN",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="account",
            name="theme",
            field=models.CharField(
                choices=[("SYSTEM", "as the device"), ("LIGHT", "light"), ("DARK", "dark")],
                default="SYSTEM",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="consent",
            name="locale",
            field=models.CharField(default="en", max_length=16),
        ),
        migrations.AddField(
            model_name="membership",
            name="break_ended_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="deactivated_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="last_seen_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="n_grave_since_break",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="membership",
            name="n_shown_in_sitting",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="membership",
            name="sitting_began_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="trained_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="training_round",
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AlterField(
            model_name="account",
            name="role",
            field=models.CharField(
                choices=[
                    ("ANNOTATOR", "annotator"),
                    ("ADJUDICATOR", "adjudicator"),
                    ("AUDITOR", "auditor"),
                    ("RESEARCHER", "researcher"),
                    ("ADMIN", "admin"),
                ],
                default="ANNOTATOR",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("role__in", ["ANNOTATOR", "ADJUDICATOR", "AUDITOR", "RESEARCHER", "ADMIN"])
                ),
                name="account_role_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("text_size__in", ["NORMAL", "LARGE", "LARGEST"])),
                name="account_text_size_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("theme__in", ["SYSTEM", "LIGHT", "DARK"])), name="account_theme_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("text_view__in", ["PLAIN", "MARKDOWN"])), name="account_text_view_known"
            ),
        ),
        migrations.AddField(
            model_name="categoryoptout",
            name="membership",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="opt_outs",
                to="annotation.membership",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="annotator",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="invitations",
                to="annotation.annotator",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="campaign",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="invitations",
                to="annotation.campaign",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="created_by",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="categoryoptout",
            constraint=models.UniqueConstraint(
                fields=("membership", "risk_category"), name="opt_out_once_per_category"
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(("annotator_type__in", ["PARENT", "SPECIALIST", "CROWD", "OTHER"])),
                name="invitation_type_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="invitation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("annotator", None), ("used_at", None)),
                    models.Q(("annotator__isnull", False), ("revoked_at", None), ("used_at__isnull", False)),
                    _connector="OR",
                ),
                name="invitation_used_by_one",
            ),
        ),
    ]
