"""A configuration has at most one pass that has not ended: start pressed twice makes one run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0003_count_worker_deaths")]
    operations = [
        migrations.AddConstraint(
            model_name="judgepass",
            constraint=models.UniqueConstraint(
                condition=models.Q(("source", "JUDGED"), ("state__in", ["READY", "RUNNING", "PAUSED"])),
                fields=("benchmark", "digest"),
                name="pass_once_while_active",
            ),
        )
    ]
