"""Hidden repeats: some of a person's items come again after days, to see how steady their answers are.

A repeat is an item of its own, shared by all who get it, and its kind keeps it out of every figure.
"""

import datetime as dt
import hashlib

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from annotation.choices import ItemKind
from annotation.models import Assignment, CampaignItem, Label, Membership


def due_repeats(membership: Membership) -> list[int]:
    """Primary keys of the REPEAT items that the person should be given by now; made where missing.

    Of the person's standing answers to regular items that are at least `repeat_after_days` old,
    `repeat_percent` per cent come again, rounded down, once each. Which ones is drawn per person, by the
    random ids, so that neither the answer nor the category matters. No query in a campaign without
    repeats; at most three otherwise. Call with the membership locked and its campaign loaded.
    """
    campaign = membership.campaign
    if not campaign.repeat_percent:
        return []
    own_repeats = Assignment.objects.filter(item__repeats=OuterRef("item"), annotator=membership.annotator_id)
    answers = list(
        Label.objects.filter(
            item__campaign=campaign.pk,
            item__kind=ItemKind.REGULAR,
            annotator=membership.annotator_id,
            is_current=True,
            created_at__lte=Now() - dt.timedelta(days=campaign.repeat_after_days),
        )
        .annotate(was_repeated=Exists(own_repeats))
        .values_list("item", "item__public_id", "item__response", "was_repeated")
    )
    n_missing = len(answers) * campaign.repeat_percent // 100 - sum(repeated for *_, repeated in answers)
    waiting = sorted(
        (_draw(membership, public_id), item_id, response_id)
        for item_id, public_id, response_id, was_repeated in answers
        if not was_repeated
    )
    chosen = {item_id: response_id for _, item_id, response_id in waiting[: max(n_missing, 0)]}
    return _items_repeating(membership, chosen)


def _items_repeating(membership: Membership, chosen: dict[int, int]) -> list[int]:
    """The REPEAT items of regular items (given with their responses), made where nobody had one before."""
    if not chosen:
        return []
    # In one sequence everywhere, so that two people who make the same rows wait for each other in a line.
    CampaignItem.objects.bulk_create(
        [
            CampaignItem(
                campaign_id=membership.campaign_id,
                response_id=response_id,
                kind=ItemKind.REPEAT,
                repeats_id=item_id,
            )
            for item_id, response_id in sorted(chosen.items())
        ],
        ignore_conflicts=True,
    )
    return list(CampaignItem.objects.filter(repeats__in=chosen).values_list("pk", flat=True))


def _draw(membership: Membership, public_id: str) -> str:
    return hashlib.sha256(f"repeat {membership.annotator.public_id} {public_id}".encode()).hexdigest()
