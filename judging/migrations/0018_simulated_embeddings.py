"""A vector says whether the loopback provider gave it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0017_rows_claimed_ahead")]
    operations = [
        migrations.AddField(
            model_name="embedding", name="is_simulated", field=models.BooleanField(default=False)
        )
    ]
