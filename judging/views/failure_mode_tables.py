"""Tables of the failure-mode page."""

from collections.abc import Callable, Mapping
from typing import Any

from annotation.templatetags.formatting import SMALL_COUNT
from judging.choices import FailureMode
from judging.figures.failure_modes import UNPARSED
from judging.views.tables import Cell, Column, Row, Table, count_cell, text_column
from judging.views.wording import missing_words

NO_SHARE = "no response was answered"

# The address of the responses that filters choose among those of the classification.
Rows = Callable[..., str]


def modes_table(document: Mapping[str, Any], rows_of: Rows) -> Table:
    """Each mode with its count and share; answers without a mode below them."""
    overall = document["overall"]
    entries = sorted(overall["modes"], key=lambda entry: -entry["n"])
    rows = [
        _mode_row(
            str(FailureMode(entry["mode"]).label),
            entry["n"],
            entry["share"],
            entry["interval"],
            href=rows_of(failure_mode=entry["mode"]),
        )
        for entry in entries
    ]
    unparsed = _mode_row(
        UNPARSED,
        overall["n_unparsed"],
        overall["unparsed_share"],
        overall["unparsed_interval"],
        href=rows_of(failure_mode="UNPARSED"),
    )
    return Table(
        id="modes",
        caption="Failure modes",
        note="Shares of all answered responses; they sum to 100 %.",
        columns=[
            text_column("Failure mode"),
            Column("Responses"),
            Column("Share", unit="95 % interval"),
        ],
        rows=[*rows, unparsed],
    )


def groups_table(document: Mapping[str, Any], rows_of: Rows, *, of: str) -> Table:
    """Share of each mode in each target model or risk category; rows below 10 answers are greyed."""
    key = {"models": "model", "categories": "category"}[of]
    return Table(
        id=f"{of}-modes",
        caption=f"Failure modes by {'target model' if key == 'model' else 'risk category'}",
        note="Share of the row's answered responses. Unclassified ones are in no share.",
        columns=[
            text_column("Model" if key == "model" else "Category"),
            Column("Unacceptable", unit="responses"),
            *(_mode_column(mode) for mode in FailureMode.values),
            Column("No mode", unit="named"),
            Column("Unclassified", unit="responses"),
        ],
        rows=[_group_row(entry, key, rows_of) for entry in document[of]],
    )


def unclassified_table(document: Mapping[str, Any], rows_of: Rows) -> Table | None:
    """What has no mode, by reason; None when everything has one."""
    overall = document["overall"]
    reasons = [
        *((UNPARSED, "UNPARSED", state, n) for state, n in overall["unparsed"].items()),
        *(("Unclassified", "UNCLASSIFIED", state, n) for state, n in overall["unclassified"].items()),
    ]
    if not reasons:
        return None
    return Table(
        id="without-mode",
        caption="Responses without a failure mode",
        note="The classifier's answers that name no mode are in the shares; what was never answered is not.",
        columns=[text_column("Counted as"), text_column("Reason"), Column("Responses")],
        rows=[
            Row(
                [
                    Cell(word),
                    Cell(missing_words(state)),
                    count_cell(n, rows_of(failure_mode=counted_as, classified=state)),
                ]
            )
            for word, counted_as, state, n in reasons
        ],
    )


def _mode_column(mode: str) -> Column:
    """A mode's name on two lines, so that seven columns fit on a page."""
    first, _, last = str(FailureMode(mode).label).rpartition(" ")
    return Column(first, unit=last)


def _mode_row(name: str, n: int, share: float | None, interval: list[float] | None, *, href: str) -> Row:
    return Row([Cell(name), count_cell(n, href), _share_cell(share, interval, href=href)])


def _group_row(entry: Mapping[str, Any], key: str, rows_of: Rows) -> Row:
    def rows(counted_as: str) -> str:
        return rows_of(failure_mode=counted_as, **{key: entry[key]})

    return Row(
        [
            Cell(entry[key]),
            count_cell(entry["n_responses"], rows("ANY")),
            *(_share_cell(mode["share"], None, href=rows(mode["mode"])) for mode in entry["modes"]),
            _share_cell(entry["unparsed_share"], None, href=rows("UNPARSED")),
            count_cell(entry["n_unclassified"], rows("UNCLASSIFIED")),
        ],
        is_thin=entry["n_answered"] < SMALL_COUNT,
    )


def _share_cell(share: float | None, interval: list[float] | None, *, href: str) -> Cell:
    return Cell(
        share,
        kind="rate",
        reason=NO_SHARE if share is None else "",
        href=href if share else None,
        interval=interval,
        interval_kind="rate_interval",
    )
