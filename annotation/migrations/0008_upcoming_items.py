"""What a person reads next, worked out some items at a time."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_labels_in_full")]
    operations = [
        migrations.AddField(
            model_name="membership",
            name="n_in_reach",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="membership",
            name="upcoming",
            field=models.JSONField(blank=True, default=list),
        ),
    ]
