"""Amounts of money as whole numbers: millionths of the unit in which the endpoints file gives prices."""

from decimal import Decimal

MICROS = 1_000_000


def to_micros(amount: Decimal | None) -> int | None:
    """An amount in whole millionths, rounded down; None for none."""
    return None if amount is None else int(amount * MICROS)


def show_micros(micros: int) -> str:
    """An amount in the prices' unit, with as many decimals as it needs and at least two."""
    text = f"{Decimal(micros) / MICROS:.6f}".rstrip("0")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals:0<2}"
