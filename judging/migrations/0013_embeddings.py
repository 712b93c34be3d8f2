"""Vectors are kept, so that no text is embedded twice."""

import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0012_endpoint_limits")]
    operations = [
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("embedder", models.CharField(max_length=200)),
                ("text_hash", models.CharField(max_length=64)),
                ("n_dimensions", models.PositiveIntegerField()),
                ("vector", models.BinaryField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.AddConstraint(
            model_name="embedding",
            constraint=models.UniqueConstraint(
                fields=("embedder", "text_hash"), name="embedding_once_per_text"
            ),
        ),
        migrations.AddConstraint(
            model_name="embedding",
            constraint=models.CheckConstraint(
                condition=models.Q(("n_dimensions__gte", 1)), name="embedding_has_dimensions"
            ),
        ),
    ]
