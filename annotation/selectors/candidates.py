"""Responses that could become training or gold items of a campaign."""

from django.db.models import Case, Count, OuterRef, Q, QuerySet, Subquery, Value, When

from annotation.choices import ItemKind, Rating
from annotation.models import Campaign, CampaignItem, Response
from annotation.selectors.responses import readable_responses

KNOWN_FIRST = Case(When(item_kind__in=[ItemKind.TRAINING, ItemKind.GOLD], then=Value(0)), default=Value(1))


def known_answer_candidates(campaign: Campaign, *, risk_category: str | None = None) -> QuerySet[Response]:
    """Readable responses of the benchmark with what each is in the campaign; known answers come first.

    Each has `item_kind`, `item_expected` and `item_feedback`, None outside the campaign; and
    `n_acceptable` and `n_unacceptable`, the current labels that people gave it in all campaigns. One query.

    Args:
        risk_category: only this one; all when None.
    """
    item = CampaignItem.objects.filter(campaign=campaign, response=OuterRef("pk")).exclude(
        kind=ItemKind.REPEAT
    )
    responses = readable_responses(campaign.benchmark)
    if risk_category is not None:
        responses = responses.filter(prompt__risk_category=risk_category)
    return (
        responses.select_related("prompt", "target_model")
        .annotate(
            item_kind=Subquery(item.values("kind")[:1]),
            item_expected=Subquery(item.values("expected_rating")[:1]),
            item_feedback=Subquery(item.values("feedback")[:1]),
            n_acceptable=_labels(Rating.ACCEPTABLE),
            n_unacceptable=_labels(Rating.UNACCEPTABLE),
        )
        .order_by(KNOWN_FIRST, "pk")
    )


def _labels(rating: Rating) -> Count:
    return Count("items__labels", filter=Q(items__labels__is_current=True, items__labels__rating=rating))
