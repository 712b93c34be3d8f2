"""A table on its way into a file: typed columns, rows, what was left out and what it rests on."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from annotation.models import Campaign
from judging.models import JudgePass

Flat = str | int | float | bool | None
Value = Flat | Mapping[str, Any] | Sequence[Any]
Row = tuple[Value, ...]


class Kind(StrEnum):
    """What the cells of a column hold; every kind may be missing (null)."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. Ids are TEXT, whatever they look like."""

    name: str
    kind: Kind = Kind.TEXT

    def flatten(self, value: Value) -> Flat:
        """The value as one cell: a JSON value becomes its text, keys in ascending order."""
        if self.kind is Kind.JSON and value is not None:
            return json.dumps(value, ensure_ascii=False, sort_keys=True)
        if isinstance(value, str | int | float) or value is None:
            return value
        raise TypeError(f"column {self.name} of kind {self.kind} cannot hold {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Basis:
    """What a table's rows follow from, apart from the benchmark. None where it plays no part.

    `digest` is the one of the report that rests on the same input.
    """

    judge_pass: JudgePass | None = None
    rule: Mapping[str, Any] | None = None
    rule_name: str | None = None
    rule_source: str | None = None
    rule_in_words: str | None = None
    campaign: Campaign | None = None
    digest: str | None = None
    seed: int | None = None


@dataclass
class Table:
    """Rows that can be read once. `left_out` (by reason) is complete when they have been read.

    `figures` are numbers that belong to the table and fit in no row of it.
    """

    columns: tuple[Column, ...]
    rows: Iterable[Row]
    basis: Basis = field(default_factory=Basis)
    left_out: Counter[str] = field(default_factory=Counter)
    figures: Mapping[str, Any] | None = None


def texts(*names: str) -> tuple[Column, ...]:
    """Text columns of these names."""
    return tuple(Column(name) for name in names)


def integers(*names: str) -> tuple[Column, ...]:
    """Whole-number columns of these names."""
    return tuple(Column(name, Kind.INTEGER) for name in names)


def numbers(*names: str) -> tuple[Column, ...]:
    """Columns of floating-point numbers of these names."""
    return tuple(Column(name, Kind.NUMBER) for name in names)


def utc_text(moment: datetime | None) -> str | None:
    """A time as ISO 8601 in UTC, None for none."""
    return None if moment is None else moment.astimezone(UTC).isoformat()
