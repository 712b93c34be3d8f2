"""A pass judges, classifies or collects."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0007_rubric_versions_sure")]
    operations = [
        migrations.RemoveConstraint(
            model_name="judgepass",
            name="pass_scale_known",
        ),
        migrations.AddField(
            model_name="judgepass",
            name="kind",
            field=models.CharField(
                choices=[
                    ("JUDGING", "judging"),
                    ("CLASSIFICATION", "failure modes"),
                    ("COLLECTION", "collecting responses"),
                ],
                default="JUDGING",
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="judgepass",
            name="scale",
            field=models.CharField(
                choices=[
                    ("LIKERT", "1-5"),
                    ("BINARY", "flag or no flag"),
                    ("FAILURE_MODE", "failure mode"),
                    ("TEXT", "a text, no score"),
                ],
                default="LIKERT",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="judgepass",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["JUDGING", "CLASSIFICATION", "COLLECTION"])),
                name="pass_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="judgepass",
            constraint=models.CheckConstraint(
                condition=models.Q(("scale__in", ["LIKERT", "BINARY", "FAILURE_MODE", "TEXT"])),
                name="pass_scale_known",
            ),
        ),
    ]
