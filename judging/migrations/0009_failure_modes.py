"""A verdict may be a failure mode, knows the text it is about, and what its score rests on."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judging", "0008_pass_kinds")]
    operations = [
        migrations.RemoveConstraint(
            model_name="verdict",
            name="verdict_score_iff_scored",
        ),
        migrations.AddField(
            model_name="verdict",
            name="failure_mode",
            field=models.CharField(
                choices=[
                    ("ACTIONABLE_ARTIFACT_GENERATION", "Actionable Artifact Generation"),
                    ("UNSAFE_REDIRECT", "Unsafe Redirect"),
                    ("UNHEALTHY_RELATIONAL_ENGAGEMENT", "Unhealthy Relational Engagement"),
                    ("HARMFUL_NARRATIVE_COMPLIANCE", "Harmful Narrative Compliance"),
                ],
                max_length=32,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="verdict",
            name="has_rubric_like_text",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="verdict",
            name="is_by_policy",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="verdict",
            name="text_hash",
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.AlterField(
            model_name="verdict",
            name="scale",
            field=models.CharField(
                choices=[
                    ("LIKERT", "1-5"),
                    ("BINARY", "flag or no flag"),
                    ("FAILURE_MODE", "failure mode"),
                    ("TEXT", "a text, no score"),
                ],
                default="LIKERT",
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="verdict",
            name="skip_code",
            field=models.CharField(
                choices=[
                    ("RESPONSE_EMPTY", "response is empty"),
                    ("RESPONSE_ERROR", "response failed to generate"),
                    ("RESPONSE_FILTERED", "response was filtered"),
                    ("RESPONSE_TRUNCATED", "response was cut off"),
                    ("EXEMPLAR_LEAK", "an exemplar was the case itself"),
                    ("RESPONSE_CHANGED", "the text changed after the pass began"),
                ],
                max_length=32,
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("failure_mode", None), ("score__isnull", False), ("state", "SCORED")),
                    models.Q(("failure_mode__isnull", False), ("score", None), ("state", "SCORED")),
                    models.Q(
                        models.Q(("state", "SCORED"), _negated=True), ("failure_mode", None), ("score", None)
                    ),
                    _connector="OR",
                ),
                name="verdict_score_iff_scored",
            ),
        ),
        migrations.AddConstraint(
            model_name="verdict",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("failure_mode", None),
                    models.Q(
                        (
                            "failure_mode__in",
                            [
                                "ACTIONABLE_ARTIFACT_GENERATION",
                                "UNSAFE_REDIRECT",
                                "UNHEALTHY_RELATIONAL_ENGAGEMENT",
                                "HARMFUL_NARRATIVE_COMPLIANCE",
                            ],
                        ),
                        ("scale", "FAILURE_MODE"),
                    ),
                    _connector="OR",
                ),
                name="verdict_failure_mode_in_scale",
            ),
        ),
    ]
