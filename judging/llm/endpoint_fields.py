"""Typed reading of one table of an endpoints file. What it refuses, it refuses by name and place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from judging.errors import EndpointError

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,99}")
_MOST_PRICE = Decimal(1_000_000)


def read_fields(table: Mapping[str, Any], *, place: str, allowed: frozenset[str]) -> "Fields":
    """The table, once it is known to hold no key but the allowed ones.

    Raises:
        EndpointError: an unknown key, named with those that are known.
    """
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise EndpointError(
            f"{place} has the unknown key {unknown[0]!r}. Known are: {', '.join(sorted(allowed))}."
        )
    return Fields(table, place)


@dataclass(frozen=True)
class Fields:
    """One table and where it stands; each method reads one key or raises `EndpointError`."""

    table: Mapping[str, Any]
    place: str

    def text(self, key: str, *, default: str | None = None) -> str:
        value = self.table.get(key, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self._bad(key, "a text")
        return value.strip()

    def slug(self, key: str) -> str:
        value = self.text(key)
        if not _SLUG.fullmatch(value):
            raise self._bad(key, "letters, digits, dots, hyphens and underscores")
        return value

    def variable(self, key: str) -> str | None:
        """The name of an environment variable. The refusal does not repeat the value: it may be a key."""
        value = self.table.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not _VARIABLE.fullmatch(value):
            raise self._bad(
                key,
                "the NAME of an environment variable in capitals, never the key itself",
                shows_value=False,
            )
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            raise self._bad(key, "true or false")
        return value

    def whole(self, key: str, *, default: int, most: int) -> int:
        value = self.table.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise self._bad(key, f"a whole number from 1 to {most}")
        return value

    def optional_whole(self, key: str, *, most: int = 1_000_000_000) -> int | None:
        return self.whole(key, default=1, most=most) if key in self.table else None

    def price(self, key: str) -> Decimal | None:
        """A price per million tokens, exact: a text, a whole number or a decimal."""
        value = self.table.get(key)
        if value is None:
            return None
        expected = 'a price per million tokens such as "1.25", from 0 to 1000000'
        if isinstance(value, bool) or not isinstance(value, (str, int, Decimal)):
            raise self._bad(key, expected)
        try:
            price = Decimal(value)
        except InvalidOperation as error:
            raise self._bad(key, expected) from error
        if not price.is_finite() or not 0 <= price <= _MOST_PRICE:
            raise self._bad(key, expected)
        return price

    def words(self, key: str, *, known: Sequence[str], default: tuple[str, ...]) -> tuple[str, ...]:
        value = self.table.get(key, list(default))
        if not isinstance(value, list) or not all(word in known for word in value):
            raise self._bad(key, f"a list of {', '.join(known)}")
        return tuple(value)

    def _bad(self, key: str, expected: str, *, shows_value: bool = True) -> EndpointError:
        if key not in self.table:
            return EndpointError(f"{self.place} has no {key!r}; expected {expected}.")
        given = f" {str(self.table[key])[:80]!r}" if shows_value else ""
        return EndpointError(
            f"{key!r} of {self.place} is not usable:{given or ' a value'} given, expected {expected}."
        )
