"""Labels that people gave elsewhere, stored in bulk."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.audit import record_event
from annotation.choices import AnnotatorType, ItemKind, Rating
from annotation.models import Account, Annotator, Campaign, CampaignItem, Label

CHUNK_SIZE = 500


@dataclass(frozen=True)
class ImportedLabel:
    """One label row of a file. No annotator means an anonymous label."""

    response_id: int
    annotator: Annotator | None
    rating: Rating
    rating_raw: str | None
    severity: int | None
    annotator_type: AnnotatorType
    annotator_type_raw: str | None


def import_labels(*, campaign: Campaign, rows: Sequence[ImportedLabel], actor: Account | None = None) -> int:
    """Store labels that people gave elsewhere, as they stand in `rows`.

    The caller has already left out rows that are stored; a second label of one annotator on one
    response is refused by the database.

    Args:
        campaign: usually `campaigns.imported_campaign`; missing items are added to it.
        rows: in file order, which becomes the order of the stored rows.
        actor: who imports; None for a command.

    Returns:
        How many labels were stored.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        item_ids = _regular_items(campaign, [row.response_id for row in rows])
        Label.objects.bulk_create(
            [
                Label(
                    submission_id=uuid.uuid4(),
                    item_id=item_ids[row.response_id],
                    annotator=row.annotator,
                    rating=row.rating,
                    rating_raw=row.rating_raw,
                    severity=row.severity,
                    annotator_type=row.annotator_type,
                    annotator_type_raw=row.annotator_type_raw,
                    instructions_version=campaign.instructions_version,
                    is_imported=True,
                )
                for row in rows
            ],
            batch_size=CHUNK_SIZE,
        )
        record_event(
            actor=actor,
            action="labels.imported",
            subject=f"campaign:{campaign.public_id}",
            n_labels=len(rows),
        )
    return len(rows)


def _regular_items(campaign: Campaign, response_ids: Sequence[int]) -> dict[int, int]:
    """Item id by response id, adding the items that the campaign lacks. The campaign must be locked."""
    items = CampaignItem.objects.filter(campaign=campaign, kind=ItemKind.REGULAR)
    item_ids = dict(items.values_list("response_id", "id"))
    missing = [pk for pk in dict.fromkeys(response_ids) if pk not in item_ids]
    added = CampaignItem.objects.bulk_create(
        [CampaignItem(campaign=campaign, response_id=pk) for pk in missing], batch_size=CHUNK_SIZE
    )
    return item_ids | {item.response_id: item.pk for item in added}
