"""Storing a plan. Runs inside the importer's one transaction; database constraints have the last word."""

from annotation.campaigns import imported_campaign
from annotation.importing.content import Content
from annotation.importing.planning import LabelPlan
from annotation.labelling import ImportedLabel, import_labels
from annotation.models import Annotator, Prompt, Response, TargetModel

BATCH_SIZE = 500


def write_content(content: Content) -> None:
    """Store the planned prompts, models and responses; they get their ids here.

    Raises:
        IntegrityError: another import stored one of the keys meanwhile.
    """
    Prompt.objects.bulk_create(content.new_prompts, batch_size=BATCH_SIZE)
    TargetModel.objects.bulk_create(content.new_models, batch_size=BATCH_SIZE)
    Response.objects.bulk_create(content.new_responses, batch_size=BATCH_SIZE)


def write_labels(content: Content, plan: LabelPlan) -> None:
    """Store the planned labels in the benchmark's campaign `imported`, annotators first."""
    if not plan.new_labels:
        return
    new_annotators = {
        label.annotator_code: Annotator(
            benchmark=content.benchmark, code=label.annotator_code, annotator_type=label.annotator_type
        )
        for label in reversed(plan.new_labels)
        if label.annotator_code is not None and label.annotator_code not in plan.annotators
    }
    created = Annotator.objects.bulk_create(
        [new_annotators[code] for code in sorted(new_annotators)], batch_size=BATCH_SIZE
    )
    annotators = plan.annotators | {annotator.code: annotator for annotator in created}
    import_labels(
        campaign=imported_campaign(content.benchmark),
        rows=[
            ImportedLabel(
                response_id=label.response.pk,
                annotator=annotators[label.annotator_code] if label.annotator_code is not None else None,
                rating=label.rating,
                rating_raw=label.rating_raw,
                severity=label.severity,
                annotator_type=label.annotator_type,
                annotator_type_raw=label.annotator_type_raw,
            )
            for label in plan.new_labels
        ],
    )
