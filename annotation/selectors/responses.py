"""Which responses can be read, and which are chosen."""

import random
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotation.choices import ResponseState
from annotation.models import (
    Benchmark,
    Response,
)

# A model that leaves more than this share of its answers empty was probably not collected properly.
MOST_EMPTY_PERCENT = 20


@dataclass(frozen=True)
class EmptyShare:
    """How many of one model's responses are empty; failed ones with an error are not."""

    model: str
    n_empty: int
    n_responses: int

    @property
    def rate(self) -> float:
        """Share of empty responses, 0-1; 0 when there are none at all."""
        return self.n_empty / self.n_responses if self.n_responses else 0.0

    @property
    def is_large(self) -> bool:
        """True above 20 %."""
        return self.n_empty * 100 > MOST_EMPTY_PERCENT * self.n_responses


def readable_responses(benchmark: Benchmark) -> QuerySet[Response]:
    """Responses with a text that a person can read; failed and empty ones have none."""
    return (
        Response.objects.filter(prompt__benchmark=benchmark)
        .exclude(state__in=[ResponseState.EMPTY, ResponseState.ERROR])
        .exclude(text="")
    )


def models_with_many_empty(benchmark: Benchmark) -> list[EmptyShare]:
    """Models of whose responses in rollouts more than 20 % are empty, by slug. One query."""
    counts = (
        Response.objects.filter(prompt__benchmark=benchmark, rollout__isnull=False)
        .order_by("target_model__slug")
        .values_list("target_model__slug")
        .annotate(n_empty=Count("pk", filter=Q(state=ResponseState.EMPTY)), n=Count("pk"))
    )
    shares = [EmptyShare(model, n_empty, n) for model, n_empty, n in counts]
    return [share for share in shares if share.is_large]


def choose_responses(
    benchmark: Benchmark,
    *,
    risk_categories: Collection[str] = (),
    model_slugs: Collection[str] = (),
    rollouts: Collection[int] = (),
    n_at_most: int | None = None,
    seed: int = 0,
) -> list[int]:
    """Primary keys of readable responses; an empty filter means all. One query.

    Args:
        n_at_most: draw this many at random; all when None or when there are fewer.
        seed: the same seed draws the same responses from the same data.
    """
    responses = readable_responses(benchmark)
    if risk_categories:
        responses = responses.filter(prompt__risk_category__in=risk_categories)
    if model_slugs:
        responses = responses.filter(target_model__slug__in=model_slugs)
    if rollouts:
        responses = responses.filter(rollout__in=rollouts)
    chosen = list(responses.order_by("pk").values_list("pk", flat=True))
    if n_at_most is None or n_at_most >= len(chosen):
        return chosen
    return random.Random(seed).sample(chosen, n_at_most)
