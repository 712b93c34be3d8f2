"""The order in which one person reads: their own, with milder items mixed in."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.choices import ItemKind
from annotation.labelling.ordering import GOLD_EVERY, Candidate, personal_order
from annotation.models import GRAVE_UP_TO


def candidates(levels: list[int], kind: ItemKind = ItemKind.REGULAR, first_id: int = 0) -> list[Candidate]:
    return [
        Candidate(item_id=number, public_id=f"{number:016x}", kind=kind, mildness=level)
        for number, level in enumerate(levels, start=first_id)
    ]


def longest_run_of_grave(order: list[Candidate]) -> int:
    return max(
        (len([*run]) for is_grave, run in groupby(order, lambda one: one.is_grave) if is_grave), default=0
    )


levels = st.lists(st.integers(1, 5), max_size=60)


@given(levels=levels, person=st.text("0123456789abcdef", min_size=16, max_size=16))
def test_order_holds_every_candidate_once(levels: list[int], person: str) -> None:
    order = personal_order(candidates(levels), person=person)

    assert sorted(one.item_id for one in order) == list(range(len(levels)))


@given(levels=levels, person=st.text("0123456789abcdef", min_size=16, max_size=16))
def test_grave_items_stand_apart_as_far_as_milder_ones_last(levels: list[int], person: str) -> None:
    order = personal_order(candidates(levels), person=person)

    n_grave = sum(level <= GRAVE_UP_TO for level in levels)
    n_milder = len(levels) - n_grave
    if n_milder:
        assert longest_run_of_grave(order) <= -(-n_grave // n_milder)
    if n_milder and n_grave <= n_milder:
        assert not order[0].is_grave


@given(levels=levels)
def test_every_stretch_from_the_start_holds_its_share_of_grave_items(levels: list[int]) -> None:
    order = personal_order(candidates(levels), person="a")

    n_grave = sum(level <= GRAVE_UP_TO for level in levels)
    for n_read in range(len(order) + 1):
        n_grave_read = sum(one.is_grave for one in order[:n_read])
        assert abs(n_grave_read - n_grave * n_read / max(len(order), 1)) < 1


def test_order_does_not_depend_on_the_sequence_of_the_candidates() -> None:
    items = candidates([1, 2, 3, 4, 5] * 6)

    assert personal_order(items, person="a") == personal_order(items[::-1], person="a")


def test_two_people_read_in_different_orders() -> None:
    items = candidates([3] * 20)

    assert personal_order(items, person="a") != personal_order(items, person="b")


def test_every_item_comes_first_for_some_person() -> None:
    items = candidates([3] * 6)

    firsts = {personal_order(items, person=f"person {number}")[0].item_id for number in range(120)}

    assert firsts == {0, 1, 2, 3, 4, 5}


def test_gold_items_are_one_in_ten_while_they_last() -> None:
    regular = candidates([3] * 90)
    golden = candidates([3] * 5, ItemKind.GOLD, first_id=100)

    order = personal_order([*regular, *golden], person="a")

    places = [place for place, one in enumerate(order) if one.kind == ItemKind.GOLD]
    assert [place // GOLD_EVERY for place in places] == [0, 1, 2, 3, 4]


def test_gold_items_stand_at_other_places_for_other_people() -> None:
    items = [*candidates([3] * 30), *candidates([3], ItemKind.GOLD, first_id=100)]

    places = {
        [one.kind for one in personal_order(items, person=f"person {number}")].index(ItemKind.GOLD)
        for number in range(80)
    }

    assert places == set(range(GOLD_EVERY))


@pytest.mark.parametrize(
    ("percent", "every"), [(10, 10), (25, 4), (100, 2)], ids=["a tenth", "a quarter", "all"]
)
def test_repeats_come_as_densely_as_they_arise_and_at_most_every_other(percent: int, every: int) -> None:
    items = [*candidates([3] * 60), *candidates([3] * 4, ItemKind.REPEAT, first_id=100)]

    order = personal_order(items, person="a", repeat_percent=percent)

    places = [place for place, one in enumerate(order) if one.kind == ItemKind.REPEAT]
    assert [place // every for place in places] == [0, 1, 2, 3]


def test_gold_items_without_regular_ones_still_come() -> None:
    golden = candidates([1, 3, 5], ItemKind.GOLD)

    assert len(personal_order(golden, person="a")) == 3
