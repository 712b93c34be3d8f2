"""How often a worker died while a row was being sent."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0002_append_only")]
    operations = [
        migrations.AddField(
            model_name="verdict", name="n_deaths", field=models.PositiveSmallIntegerField(default=0)
        )
    ]
