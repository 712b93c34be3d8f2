"""Tokens a minute, and slots held under a lease by each loop."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0011_attempt_parameters")]
    operations = [
        migrations.CreateModel(
            name="SlotLease",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("endpoint_name", models.CharField(max_length=100)),
                ("worker", models.CharField(max_length=100)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("JUDGING", "judging"),
                            ("CLASSIFICATION", "failure modes"),
                            ("COLLECTION", "collecting responses"),
                        ],
                        default="JUDGING",
                        max_length=16,
                    ),
                ),
                ("slots", models.PositiveIntegerField()),
                ("lease_until", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="endpointgate",
            name="token_allowance",
            field=models.FloatField(default=0),
        ),
        migrations.AddConstraint(
            model_name="slotlease",
            constraint=models.UniqueConstraint(
                fields=("endpoint_name", "worker"), name="slot_lease_once_per_loop"
            ),
        ),
        migrations.AddConstraint(
            model_name="slotlease",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["JUDGING", "CLASSIFICATION", "COLLECTION"])),
                name="slot_lease_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="slotlease",
            constraint=models.CheckConstraint(
                condition=models.Q(("worker", ""), _negated=True), name="slot_lease_has_worker"
            ),
        ),
    ]
