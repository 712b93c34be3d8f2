"""Verdicts learn the hash of the text that they are about."""

from django.db import migrations, models


def fill_text_hashes(apps, schema_editor):
    # No text could change so far, so each verdict is about the text that its response has now.
    texts = apps.get_model("annotation", "Response").objects.filter(pk=models.OuterRef("response_id"))
    apps.get_model("judging", "Verdict").objects.update(
        text_hash=models.Subquery(texts.values("text_hash")[:1])
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_collected_responses"), ("judging", "0009_failure_modes")]
    operations = [migrations.RunPython(fill_text_hashes, migrations.RunPython.noop)]
