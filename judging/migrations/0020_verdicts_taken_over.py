"""A verdict that was taken over from an earlier pass says from which."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0019_exclusion_proofs")]
    operations = [
        migrations.AddField(
            model_name="verdict",
            name="taken_from",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="judging.verdict",
            ),
        ),
    ]
