"""What the search for exemplars left out is kept, for each response of a pass."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial"), ("judging", "0018_simulated_embeddings")]
    operations = [
        migrations.CreateModel(
            name="ExclusionProof",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("n_pool", models.PositiveIntegerField()),
                ("n_excluded", models.PositiveIntegerField()),
                ("n_same_response", models.PositiveIntegerField()),
                ("n_same_case", models.PositiveIntegerField()),
                ("n_same_text", models.PositiveIntegerField()),
                ("n_too_similar", models.PositiveIntegerField()),
                ("nearest", models.JSONField(default=list)),
                (
                    "judge_pass",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exclusion_proofs",
                        to="judging.judgepass",
                    ),
                ),
                (
                    "response",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="annotation.response",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("judge_pass", "response"), name="exclusion_proof_once"),
                    models.CheckConstraint(
                        condition=Q(
                            n_excluded__lte=F("n_pool"),
                            n_same_response__lte=F("n_excluded"),
                            n_same_case__lte=F("n_excluded"),
                            n_same_text__lte=F("n_excluded"),
                            n_too_similar__lte=F("n_excluded"),
                        ),
                        name="exclusion_proof_counts_fit",
                    ),
                ],
            },
        ),
    ]
