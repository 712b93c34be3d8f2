"""Rubrics get a name, a version and a parent. Their triggers are set aside while the table is rebuilt."""

import re

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers

VERSIONED = re.compile(r"(?P<name>.+)-v(?P<version>[1-9][0-9]{0,5})")
SCALES = [
    ("LIKERT", "1-5"),
    ("BINARY", "flag or no flag"),
    ("FAILURE_MODE", "failure mode"),
    ("TEXT", "a text, no score"),
]


def protect(apps, schema_editor):
    meta = apps.get_model("judging", "Rubric")._meta
    columns = [field.column for field in meta.local_concrete_fields]
    create_triggers(schema_editor.connection, table=meta.db_table, columns=columns)


def release(apps, schema_editor):
    drop_triggers(schema_editor.connection, table=apps.get_model("judging", "Rubric")._meta.db_table)


def name_versions(apps, schema_editor):
    for rubric in apps.get_model("judging", "Rubric").objects.order_by("pk"):
        match = VERSIONED.fullmatch(rubric.slug)
        # A slug of another form stands for the first version of a rubric of that name.
        rubric.name = match["name"][:48] if match else rubric.slug[:48]
        rubric.version = int(match["version"]) if match else 1
        rubric.save(update_fields=["name", "version"])


class Migration(migrations.Migration):
    dependencies = [
        ("judging", "0005_forget_last_success"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.RunPython(release, protect),
        migrations.RemoveConstraint(model_name="rubric", name="rubric_scale_known"),
        migrations.AddField("rubric", "name", models.SlugField(max_length=48, null=True)),
        migrations.AddField("rubric", "version", models.PositiveIntegerField(null=True)),
        migrations.AddField(
            "rubric",
            "parent",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="judging.rubric",
            ),
        ),
        migrations.AddField(
            "rubric",
            "created_by",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField("rubric", "scale", models.CharField(choices=SCALES, max_length=16)),
        migrations.RunPython(name_versions, migrations.RunPython.noop),
    ]
