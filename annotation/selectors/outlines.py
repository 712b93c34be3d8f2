"""What a campaign comes to: its items, what it asks for, and what it still lacks."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.choices import AnnotatorType, ItemKind
from annotation.models import GRAVE_UP_TO, USUAL_MILDNESS, Campaign, CampaignItem


@dataclass(frozen=True)
class CategoryOutline:
    """How many items of each kind one risk category has, and how mild it is."""

    risk_category: str
    mildness: int
    n_regular: int
    n_training: int
    n_gold: int

    @property
    def is_grave(self) -> bool:
        """True when its items count towards a break."""
        return self.mildness <= GRAVE_UP_TO

    @property
    def n_items(self) -> int:
        return self.n_regular + self.n_training + self.n_gold


@dataclass(frozen=True)
class CampaignOutline:
    """A campaign in numbers, before anybody has answered."""

    categories: list[CategoryOutline]
    n_regular_by_model: Mapping[str, int]
    quotas: Mapping[AnnotatorType, int]
    n_regular: int
    n_training: int
    n_gold: int
    labels_wanted: int


def campaign_outline(campaign: Campaign) -> CampaignOutline:
    """Counts for the pages on which a campaign is prepared; repeats are no items of their own. Four queries.

    `labels_wanted` is what the regular items need. Training and gold items are answered by everybody, so
    what they take depends on how many people there are.
    """
    items = CampaignItem.objects.filter(campaign=campaign)
    mildness = dict(campaign.mildness.values_list("risk_category", "mildness"))
    by_category = (
        items.order_by("response__prompt__risk_category")
        .values_list("response__prompt__risk_category")
        .annotate(
            n_regular=Count("pk", filter=Q(kind=ItemKind.REGULAR)),
            n_training=Count("pk", filter=Q(kind=ItemKind.TRAINING)),
            n_gold=Count("pk", filter=Q(kind=ItemKind.GOLD)),
        )
    )
    categories = [
        CategoryOutline(name, mildness.get(name, USUAL_MILDNESS), *counts) for name, *counts in by_category
    ]
    by_model = (
        items.filter(kind=ItemKind.REGULAR)
        .order_by("response__target_model__slug")
        .values_list("response__target_model__slug")
        .annotate(n=Count("pk"))
    )
    n_regular = sum(category.n_regular for category in categories)
    return CampaignOutline(
        categories=categories,
        n_regular_by_model=dict(by_model),
        quotas={
            AnnotatorType(kind): n
            for kind, n in campaign.quotas.order_by("annotator_type").values_list(
                "annotator_type", "n_labels"
            )
        },
        n_regular=n_regular,
        n_training=sum(category.n_training for category in categories),
        n_gold=sum(category.n_gold for category in categories),
        labels_wanted=n_regular * campaign.labels_per_response,
    )


def missing_before_opening(campaign: Campaign, outline: CampaignOutline | None = None) -> list[str]:
    """A sentence for each thing that a draft lacks before people can begin, with the way out.

    Args:
        outline: of this campaign, where the caller has it; read anew otherwise (four queries).
    """
    outline = outline or campaign_outline(campaign)
    missing: list[str] = []
    if not outline.n_regular:
        missing.append("It has no regular item to label. Choose responses.")
    n_from_kinds = sum(outline.quotas.values())
    if outline.quotas and n_from_kinds != campaign.labels_per_response:
        missing.append(
            f"Labels from the kinds of raters together: {n_from_kinds}; wanted for each response: "
            f"{campaign.labels_per_response}. Make the two equal."
        )
    if campaign.pass_mark is not None and not outline.n_training:
        missing.append("It has a pass mark but no training item. Add one, or take the pass mark away.")
    if not campaign.instructions.strip():
        missing.append("It has no instructions. Write them.")
    if not campaign.consent_text.strip():
        missing.append("It has no consent text. Write it.")
    return missing
