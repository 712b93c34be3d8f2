"""Labels and audit events refuse UPDATE and DELETE."""

from django.db import migrations

from annotation.append_only import create_triggers, drop_triggers

TABLES = {"Label": ("is_current",), "AuditEvent": ()}


def protect(apps, schema_editor):
    for name, mutable in TABLES.items():
        meta = apps.get_model("annotation", name)._meta
        create_triggers(
            schema_editor.connection,
            table=meta.db_table,
            columns=[field.column for field in meta.local_concrete_fields],
            mutable=mutable,
        )


def release(apps, schema_editor):
    for name in TABLES:
        drop_triggers(schema_editor.connection, table=apps.get_model("annotation", name)._meta.db_table)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]
    operations = [migrations.RunPython(protect, release)]
