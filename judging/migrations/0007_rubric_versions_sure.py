"""Every rubric has a name and a version, each pair once; its triggers stand again."""

from importlib import import_module

from django.db import migrations, models

rubric_versions = import_module("judging.migrations.0006_rubric_versions")


class Migration(migrations.Migration):
    dependencies = [("judging", "0006_rubric_versions")]
    operations = [
        migrations.AlterField("rubric", "name", models.SlugField(max_length=48)),
        migrations.AlterField("rubric", "version", models.PositiveIntegerField()),
        migrations.AddConstraint(
            model_name="rubric",
            constraint=models.CheckConstraint(
                condition=models.Q(("scale__in", ["LIKERT", "BINARY", "FAILURE_MODE", "TEXT"])),
                name="rubric_scale_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="rubric",
            constraint=models.UniqueConstraint(fields=("name", "version"), name="rubric_version_once"),
        ),
        migrations.AddConstraint(
            model_name="rubric",
            constraint=models.CheckConstraint(
                condition=models.Q(models.Q(("name", ""), _negated=True), ("version__gte", 1)),
                name="rubric_has_version",
            ),
        ),
        migrations.RunPython(rubric_versions.protect, rubric_versions.release),
    ]
