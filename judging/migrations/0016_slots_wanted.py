"""How many slots a loop could use, so that loops can share an endpoint fairly."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0015_revisions")]
    operations = [
        migrations.AddField(
            model_name="slotlease", name="wanted", field=models.PositiveIntegerField(default=0)
        )
    ]
