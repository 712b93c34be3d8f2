"""Amounts of money as whole millionths."""

from decimal import Decimal

import pytest

from judging.amounts import show_micros, to_micros


@pytest.mark.parametrize(
    ("micros", "shown"),
    [(0, "0.00"), (5_000_000, "5.00"), (1_250_000, "1.25"), (1, "0.000001"), (10_000_000_500, "10000.0005")],
)
def test_an_amount_is_shown_with_the_decimals_that_it_needs(micros: int, shown: str) -> None:
    assert show_micros(micros) == shown


def test_a_part_of_a_millionth_is_no_room_under_a_cap() -> None:
    assert to_micros(Decimal("0.0000019")) == 1


def test_no_amount_is_no_cap() -> None:
    assert to_micros(None) is None
