"""Whether a row was claimed ahead of a free slot."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0016_slots_wanted")]
    operations = [
        migrations.AddField(
            model_name=name, name="is_ahead", field=models.BooleanField(default=False, db_default=False)
        )
        for name in ("verdict", "generation")
    ]
