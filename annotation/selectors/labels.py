"""Labels as figures count them."""

from django.db.models import QuerySet

from annotation.choices import ItemKind
from annotation.models import (
    Benchmark,
    Campaign,
    Label,
)


def current_labels(benchmark: Benchmark, campaign: Campaign | None = None) -> QuerySet[Label]:
    """Current labels of REGULAR items, oldest first, with item and annotator loaded. One query.

    Args:
        benchmark: whose labels.
        campaign: only this one; all campaigns of the benchmark when None.
    """
    labels = Label.objects.filter(
        is_current=True, item__kind=ItemKind.REGULAR, item__campaign__benchmark=benchmark
    )
    if campaign is not None:
        labels = labels.filter(item__campaign=campaign)
    return labels.select_related("item", "annotator").order_by("created_at", "pk")
