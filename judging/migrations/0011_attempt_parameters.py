"""An attempt holds what was sent. Its triggers are set aside while the table is rebuilt."""

from django.db import migrations, models

from annotation.append_only import create_triggers, drop_triggers


def protect(apps, schema_editor):
    meta = apps.get_model("judging", "VerdictAttempt")._meta
    columns = [field.column for field in meta.local_concrete_fields]
    create_triggers(schema_editor.connection, table=meta.db_table, columns=columns)


def release(apps, schema_editor):
    drop_triggers(schema_editor.connection, table=apps.get_model("judging", "VerdictAttempt")._meta.db_table)


class Migration(migrations.Migration):
    dependencies = [("judging", "0010_text_hashes")]
    operations = [
        migrations.RunPython(release, protect),
        migrations.AddField(
            model_name="verdictattempt",
            name="parameters",
            field=models.JSONField(null=True),
        ),
        migrations.AddIndex(
            model_name="verdictattempt",
            index=models.Index(fields=["at"], name="verdict_attempt_at"),
        ),
        migrations.RunPython(protect, release),
    ]
