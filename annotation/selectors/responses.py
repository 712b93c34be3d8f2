"""Which responses can be read, and which are chosen."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from annotation.choices import Allocation, ResponseState, Strata
from annotation.models import (
    Benchmark,
    Prompt,
    Response,
    TargetModel,
)
from annotation.selectors.sampling import stratified_sample

GROUPED_BY = {
    Strata.NONE: (),
    Strata.CATEGORY: ("prompt__risk_category",),
    Strata.MODEL: ("target_model__slug",),
    Strata.CATEGORY_AND_MODEL: ("prompt__risk_category", "target_model__slug"),
}

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
    strata: Strata = Strata.NONE,
    allocation: Allocation = Allocation.EQUAL,
    seed: int = 0,
) -> list[int]:
    """Primary keys of readable responses; an empty filter means all. One query.

    Args:
        n_at_most: draw this many at random; all when None or when there are fewer.
        strata: the groups that each give their share of the sample.
        allocation: how large the share of a group is; without groups it changes nothing.
        seed: the same seed draws the same responses from the same data.
    """
    responses = readable_responses(benchmark)
    if risk_categories:
        responses = responses.filter(prompt__risk_category__in=risk_categories)
    if model_slugs:
        responses = responses.filter(target_model__slug__in=model_slugs)
    if rollouts:
        responses = responses.filter(rollout__in=rollouts)
    rows = responses.order_by("pk").values_list("pk", *GROUPED_BY[strata])
    if n_at_most is None or n_at_most >= len(rows):
        return [pk for pk, *_ in rows]
    groups: dict[tuple[str, ...], list[int]] = {}
    for pk, *names in rows:
        groups.setdefault(tuple(names), []).append(pk)
    return stratified_sample(
        {names: groups[names] for names in sorted(groups)},
        n_at_most=n_at_most,
        allocation=allocation,
        seed=seed,
    )


@dataclass(frozen=True)
class ChosenCounts:
    """How many responses were chosen, in all, by category and by model, each in the order of names."""

    n: int
    by_category: Mapping[str, int]
    by_model: Mapping[str, int]


def count_chosen(benchmark: Benchmark, chosen: Collection[int]) -> ChosenCounts:
    """Count a choice of responses by their primary keys. One query."""
    keys = set(chosen)
    rows = readable_responses(benchmark).values_list("pk", "prompt__risk_category", "target_model__slug")
    among = [(category, model) for pk, category, model in rows if pk in keys]
    categories, models = Counter(category for category, _ in among), Counter(model for _, model in among)
    return ChosenCounts(
        n=len(among),
        by_category={name: categories[name] for name in sorted(categories)},
        by_model={name: models[name] for name in sorted(models)},
    )


def offered_filters(benchmark: Benchmark) -> dict[str, list[Any]]:
    """The categories, models and rollouts that a choice can name. Three queries."""
    prompts = Prompt.objects.filter(benchmark=benchmark).order_by("risk_category")
    models = TargetModel.objects.filter(responses__prompt__benchmark=benchmark).order_by("slug")
    rollouts = Response.objects.filter(prompt__benchmark=benchmark).exclude(rollout=None).order_by("rollout")
    return {
        "risk_categories": list(prompts.values_list("risk_category", flat=True).distinct()),
        "models": list(models.values_list("slug", flat=True).distinct()),
        "rollouts": list(rollouts.values_list("rollout", flat=True).distinct()),
    }
