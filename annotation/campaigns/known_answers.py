"""Responses whose answer is known: training items, and gold items among the others."""

from dataclasses import dataclass

from django.db import transaction

from annotation.audit import record_event
from annotation.campaigns.changing import InvalidPlan, lock_draft, lock_unclosed
from annotation.choices import CampaignState, ItemKind, Rating
from annotation.errors import Conflict
from annotation.models import Account, Assignment, Campaign, CampaignItem, Response
from annotation.selectors import readable_responses

KNOWN = (ItemKind.TRAINING, ItemKind.GOLD)


@dataclass(frozen=True)
class Place:
    """What a response is in a campaign. `kind` None: it is not in it."""

    kind: ItemKind | None
    expected_rating: Rating | None = None
    feedback: str = ""


def place_response(*, campaign: Campaign, response: Response, place: Place, actor: Account | None) -> None:
    """Make a response a regular, training or gold item of a campaign, or take it out.

    While the campaign is a draft everything can change. Later only gold items may come and go, and only
    among items that nobody was given, as a person's training and results must stay what they were.

    Raises:
        Conflict: the campaign is closed, the item is in somebody's hands, or training items would change
            after opening.
        InvalidPlan: no text to read, another benchmark's, no expected answer for a known one, no
            feedback for training, or either where it does not belong.
    """
    _check(place)
    if not readable_responses(campaign.benchmark).filter(pk=response.pk).exists():
        raise InvalidPlan(
            "This response has no text to read or belongs to another benchmark. Choose another.",
            code="not_readable",
        )
    with transaction.atomic():
        stored = lock_unclosed(campaign)
        item = (
            CampaignItem.objects.select_for_update(no_key=True)
            .filter(campaign=stored, response=response)
            .exclude(kind=ItemKind.REPEAT)
            .first()
        )
        if item is None and place.kind is None:
            return
        if stored.state != CampaignState.DRAFT:
            _check_after_opening(item, place)
        if item is not None and place.kind is None:
            item.delete()
        elif place.kind is not None:
            item = item or CampaignItem(campaign=stored, response=response)
            item.kind, item.expected_rating, item.feedback = place.kind, place.expected_rating, place.feedback
            item.save()
        record_event(
            actor=actor,
            action="campaign.response_placed",
            subject=f"campaign:{stored.public_id}",
            response=response.public_id,
            kind=place.kind,
            expected_rating=place.expected_rating,
        )


def set_pass_mark(*, campaign: Campaign, pass_mark: int | None, actor: Account | None) -> None:
    """Settle what share of the training items must be answered as expected, in per cent; None is no mark.

    Raises:
        Conflict: it is no draft any more.
        InvalidPlan: the mark is outside 1-100.
    """
    if pass_mark is not None and not 1 <= pass_mark <= 100:
        raise InvalidPlan(
            f"The pass mark is {pass_mark} per cent; expected 1 to 100, or none.", code="pass_mark_outside"
        )
    with transaction.atomic():
        stored = lock_draft(campaign)
        stored.pass_mark = pass_mark
        stored.save(update_fields=["pass_mark"])
        record_event(
            actor=actor,
            action="campaign.pass_mark_set",
            subject=f"campaign:{stored.public_id}",
            pass_mark=pass_mark,
        )


def _check(place: Place) -> None:
    if place.kind == ItemKind.REPEAT:
        raise InvalidPlan("Repeats are made from people's own labels, not chosen.", code="repeat_chosen")
    if (place.kind in KNOWN) != (place.expected_rating is not None):
        raise InvalidPlan(
            "Training and gold items need the answer that is expected; other items have none. "
            "Choose Acceptable or Unacceptable, or make the item a regular one.",
            code="expected_rating_missing",
        )
    if (place.kind == ItemKind.TRAINING) != bool(place.feedback.strip()):
        raise InvalidPlan(
            "A training item needs a sentence that is shown after the answer, and only a training item "
            "has one, since gold items are not known as such. Write it, or leave it out.",
            code="feedback_misplaced",
        )


def _check_after_opening(item: CampaignItem | None, place: Place) -> None:
    if place.kind == ItemKind.TRAINING or (item and item.kind == ItemKind.TRAINING):
        raise Conflict(
            "Training items can change only while the campaign is a draft, as people may have been "
            "through them.",
            code="no_draft",
        )
    if place.kind != ItemKind.GOLD and (item is None or item.kind == ItemKind.REGULAR):
        raise Conflict(
            "Regular items are chosen while the campaign is a draft. Make a new campaign for more.",
            code="no_draft",
        )
    if item and Assignment.objects.filter(item=item).exists():
        raise Conflict(
            "Somebody was given this item already, so it stays what it is. Choose one that nobody was given.",
            code="item_in_use",
        )
