"""The shape that `includes/_table.html` draws, and the cells that several pages share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judging.views.wording import reason_words


@dataclass(frozen=True)
class Column:
    label: str
    unit: str | None = None
    help: str | None = None
    is_number: bool = True


@dataclass(frozen=True)
class Cell:
    """One value; `kind` names how it is written (`formatting.SHOWN_AS`)."""

    value: Any
    kind: str = "text"
    reason: str = ""
    href: str | None = None
    interval: Sequence[float] | None = None
    interval_kind: str = "interval"


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell]
    is_thin: bool = False


@dataclass(frozen=True)
class Table:
    id: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row] = field(default_factory=list)
    note: str | None = None


def text_column(label: str, *, help: str | None = None) -> Column:
    return Column(label, help=help, is_number=False)


def count_cell(n: int, href: str | None = None) -> Cell:
    """A count that links to its rows; zero has none to show."""
    return Cell(n, kind="count", href=href if n else None)


def figure_cell(
    figures: Mapping[str, Any],
    name: str,
    kind: str,
    *,
    interval: Sequence[float] | None = None,
    href: str | None = None,
) -> Cell:
    """The figure `name` of a report's entry, with the reason when it is undefined."""
    value = figures[name]
    return Cell(
        value,
        kind=kind,
        reason=reason_words(figures["undefined"].get(name)) if value is None else "",
        href=href if value is not None else None,
        interval=interval if value is not None else None,
        interval_kind="rate_interval" if kind == "rate" else "interval",
    )
