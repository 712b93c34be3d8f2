"""How many a stratified sample takes from each group, and that a seed settles which."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.choices import Allocation, Strata
from annotation.models import Response
from annotation.selectors import choose_responses
from annotation.selectors.sampling import stratified_sample
from tests.factories import make_benchmark, make_prompt, make_response, make_target_model

SIZES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 30), max_size=8)


def members(sizes: Mapping[str, int]) -> dict[str, list[int]]:
    """Groups of these sizes; a member's hundreds name its group."""
    return {
        key: list(range(100 * place, 100 * place + size)) for place, (key, size) in enumerate(sizes.items())
    }


def taken(sizes: Mapping[str, int], n_at_most: int, allocation: Allocation, seed: int = 0) -> list[int]:
    groups = members(sizes)
    drawn = stratified_sample(groups, n_at_most=n_at_most, allocation=allocation, seed=seed)
    assert len(set(drawn)) == len(drawn)
    return [len(set(drawn) & set(group)) for group in groups.values()]


@pytest.mark.parametrize(
    ("sizes", "n_at_most", "shares"),
    [
        ({"a": 10, "b": 10, "c": 10}, 6, [2, 2, 2]),
        ({"a": 1, "b": 10, "c": 10}, 7, [1, 3, 3]),
        ({"a": 1, "b": 2, "c": 20}, 12, [1, 2, 9]),
        ({"a": 2, "b": 3}, 9, [2, 3]),
        ({"a": 0, "b": 4}, 2, [0, 2]),
    ],
)
def test_equal_shares_spread_what_small_groups_lack(
    sizes: dict[str, int], n_at_most: int, shares: list[int]
) -> None:
    assert taken(sizes, n_at_most, Allocation.EQUAL) == shares


@pytest.mark.parametrize(
    ("sizes", "n_at_most", "shares"),
    [
        # Quotas 5, 3 and 2; then 3.5, 2.1 and 1.4, where the largest remainder is that of a.
        ({"a": 50, "b": 30, "c": 20}, 10, [5, 3, 2]),
        ({"a": 50, "b": 30, "c": 20}, 7, [4, 2, 1]),
        ({"a": 1, "b": 1, "c": 1}, 2, [1, 1, 0]),
        ({"a": 2, "b": 3}, 9, [2, 3]),
    ],
)
def test_proportional_shares_follow_the_sizes(
    sizes: dict[str, int], n_at_most: int, shares: list[int]
) -> None:
    assert taken(sizes, n_at_most, Allocation.PROPORTIONAL) == shares


@given(
    sizes=SIZES, n_at_most=st.integers(0, 300), allocation=st.sampled_from(Allocation), seed=st.integers(0)
)
def test_sample_has_the_size_asked_for_and_no_group_gives_more_than_it_has(
    sizes: dict[str, int], n_at_most: int, allocation: Allocation, seed: int
) -> None:
    shares = taken(sizes, n_at_most, allocation, seed)

    assert sum(shares) == min(n_at_most, sum(sizes.values()))
    assert all(share <= size for share, size in zip(shares, sizes.values(), strict=True))


@given(sizes=SIZES, n_at_most=st.integers(0, 300))
def test_equal_shares_differ_by_one_at_most_where_groups_have_room(
    sizes: dict[str, int], n_at_most: int
) -> None:
    shares = taken(sizes, n_at_most, Allocation.EQUAL)

    of_groups_with_room = [share for share, size in zip(shares, sizes.values(), strict=True) if share < size]
    assert max(of_groups_with_room, default=0) - min(of_groups_with_room, default=0) <= 1
    assert all(share <= min(of_groups_with_room, default=share) + 1 for share in shares)


def test_what_does_not_divide_goes_to_groups_drawn_by_the_seed() -> None:
    sizes = {"a": 5, "b": 5, "c": 5}

    draws = [taken(sizes, 4, Allocation.EQUAL, seed) for seed in range(20)]

    assert {tuple(shares) for shares in draws} == {(2, 1, 1), (1, 2, 1), (1, 1, 2)}
    assert taken(sizes, 4, Allocation.EQUAL, 7) == draws[7]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("strata", "field", "shares"),
    [
        (Strata.CATEGORY, "prompt__risk_category", {"Emotional Dependency": 2, "Technical Misuse": 2}),
        (Strata.MODEL, "target_model__slug", {"model-a": 2, "model-b": 2}),
    ],
)
def test_choice_takes_the_same_number_from_each_group(
    strata: Strata, field: str, shares: dict[str, int]
) -> None:
    benchmark = make_benchmark()
    models = [make_target_model(slug=slug) for slug in ("model-a", "model-b")]
    for category, n_prompts in (("Emotional Dependency", 5), ("Technical Misuse", 2)):
        for _ in range(n_prompts):
            prompt = make_prompt(benchmark=benchmark, risk_category=category)
            for model in models:
                make_response(prompt=prompt, target_model=model)

    chosen = choose_responses(benchmark, n_at_most=4, strata=strata, seed=1)

    names = list(Response.objects.filter(pk__in=chosen).values_list(field, flat=True))
    assert {name: names.count(name) for name in names} == shares
    assert choose_responses(benchmark, n_at_most=4, strata=strata, seed=1) == chosen
