"""Storing a plan. Runs inside the importer's one transaction; database constraints have the last word."""

from annotation.campaigns import imported_campaign
from annotation.importing.content import Content
from annotation.importing.labels import LabelPlan
from annotation.labelling import ImportedLabel, import_labels
from annotation.models import Account, Annotator, Prompt, Response, TargetModel

BATCH_SIZE = 500


def write_content(content: Content) -> None:
    """Store the planned prompts, models and responses, which get their ids here, and the changed ones.

    Raises:
        IntegrityError: another import stored one of the keys meanwhile.
    """
    Prompt.objects.bulk_create(content.new_prompts, batch_size=BATCH_SIZE)
    TargetModel.objects.bulk_create(content.new_models, batch_size=BATCH_SIZE)
    Response.objects.bulk_create(content.new_responses, batch_size=BATCH_SIZE)
    Prompt.objects.bulk_update(content.filled_prompts, ["risk_mechanism"], batch_size=BATCH_SIZE)
    Response.objects.bulk_update(
        content.placed_responses, ["rollout", "state", "error"], batch_size=BATCH_SIZE
    )


def write_labels(content: Content, plan: LabelPlan, *, actor: Account | None) -> None:
    """Store the planned labels in the benchmark's campaign `imported`, annotators first.

    An annotator with rows of several types keeps the type of the first; each label keeps its own.
    """
    if not plan.new_labels:
        return
    types = {
        label.answer.annotator_code: label.answer.annotator_type
        for label in reversed(plan.new_labels)
        if label.answer.annotator_code is not None and label.answer.annotator_code not in plan.annotators
    }
    created = Annotator.objects.bulk_create(
        [
            Annotator(benchmark=content.benchmark, code=code, annotator_type=types[code])
            for code in sorted(types)
        ],
        batch_size=BATCH_SIZE,
    )
    annotators = plan.annotators | {annotator.code: annotator for annotator in created}
    import_labels(
        campaign=imported_campaign(content.benchmark),
        rows=[
            ImportedLabel(
                response_id=label.response.pk,
                annotator=annotators[label.answer.annotator_code] if label.answer.annotator_code else None,
                rating=label.answer.rating,
                rating_raw=label.answer.rating_raw,
                severity=label.answer.severity,
                annotator_type=label.answer.annotator_type,
                annotator_type_raw=label.answer.annotator_type_raw,
            )
            for label in plan.new_labels
        ],
        actor=actor,
    )
