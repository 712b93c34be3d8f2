"""Tables of the monitoring pages, from the document that `watch_campaign` makes."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from annotation.choices import AnnotatorType, ItemKind, SkipReason
from annotation.models import Campaign
from annotation.selectors.adjudication import UnnamedLabel
from judging.views.tables import Cell, Column, Row, Table, text_column

Counts = Mapping[str, Any]
SHOWN_ID_LENGTH = 8
MS_PER_SECOND = 1000
TALLY_COLUMNS = (
    ("n_labels", Column("Labels", help="Labels that stand; those taken back or erased are not counted")),
    ("n_acceptable", Column("Acceptable")),
    ("n_unacceptable", Column("Unacceptable")),
    ("n_extra", Column("Extra", unit="of the labels", help="Given when the item had all it needs")),
    ("n_again", Column("Asked again", unit="items")),
    ("n_in_hand", Column("Being read", unit="items", help="Held for somebody, and the lease runs")),
    ("n_skipped", Column("Skipped", unit="times")),
    ("n_flags", Column("Flags")),
)


def progress_table(document: Counts) -> Table:
    """Regular items by the number of labels that they have."""
    return Table(
        id="progress",
        caption="Responses by number of labels",
        note=f"Regular items. Wanted on each: {document['labels_per_response']:,}.",
        columns=[text_column("Labels on each"), Column("Responses")],
        rows=[
            Row([Cell(entry["n_labels"], kind="count"), Cell(entry["n"], kind="count")])
            for entry in document["n_items_by_labels"]
        ],
        total=Row([Cell("All"), Cell(document["n_regular_items"], kind="count")]),
    )


def annotator_table(document: Counts) -> Table:
    """What each person did."""
    return _tally_table(
        "annotators",
        "By annotator",
        text_column("Code"),
        [
            (Cell(entry["annotator"], reason="anonymous: imported without an annotator"), entry)
            for entry in document["annotators"]
        ],
        document["total"],
        note="Under their codes, items of every kind.",
    )


def type_table(document: Counts) -> Table:
    """What each kind of rater did."""
    rows = [
        (Cell(AnnotatorType(entry["annotator_type"]).label), entry) for entry in document["annotator_types"]
    ]
    return _tally_table(
        "annotator-types",
        "By kind of rater",
        text_column("Kind"),
        rows,
        document["total"],
        note="Labels under the kind that the person had when giving them.",
    )


def kind_table(document: Counts) -> Table:
    """What was done on each kind of item."""
    rows = [(Cell(ItemKind(entry["kind"]).label), entry) for entry in document["item_kinds"]]
    return _tally_table(
        "item-kinds",
        "By kind of item",
        text_column("Kind"),
        rows,
        document["total"],
        note="Only regular items count in agreement and in every other figure.",
    )


def category_table(document: Counts) -> Table:
    """What was done in each risk category: the mix of labels."""
    rows = [(Cell(entry["risk_category"]), entry) for entry in document["risk_categories"]]
    return _tally_table(
        "risk-categories", "By risk category", text_column("Risk category"), rows, document["total"]
    )


def skip_table(document: Counts) -> Table:
    """Why people skipped."""
    return Table(
        id="skips",
        caption="Why people skipped",
        columns=[text_column("Reason"), Column("Skipped", unit="times")],
        rows=[
            Row([Cell(SkipReason(entry["reason"]).label), Cell(entry["n"], kind="count")])
            for entry in document["skips"]
        ],
        total=Row([Cell("All"), Cell(document["total"]["n_skipped"], kind="count")]),
    )


def quality_table(document: Counts) -> Table:
    """How reliably people answer, and how long they read."""
    *people, everybody = document["quality"]
    return Table(
        id="quality",
        caption="Known answers, repeats and reading time",
        note="Kept out of agreement. Reading time is with the page in use; idle is with it open and unused. "
        "It shows how the work goes and is no target.",
        columns=[
            text_column("Code"),
            Column("Training", unit="answers"),
            Column("Right", help="Answered as expected"),
            Column("Gold", unit="answers"),
            Column("Right", help="Answered as expected"),
            Column("Repeats", unit="pairs"),
            Column("Alike", help="Answered the same both times"),
            Column("Days", unit="median", help="Between the two answers"),
            Column("Reading", unit="median"),
            Column("Idle", unit="median"),
            Column("Not timed", unit="labels"),
        ],
        rows=[_quality_row(Cell(entry["annotator"]), entry) for entry in people],
        total=_quality_row(Cell("All"), everybody),
    )


def item_table(campaign: Campaign, entries: Sequence[Counts]) -> Table:
    """Some of the items, each with its counts and the way to its labels."""
    return Table(
        id="items",
        caption="Items",
        columns=[
            text_column("Item"),
            text_column("Kind"),
            text_column("Risk category"),
            *(column for _, column in TALLY_COLUMNS),
        ],
        rows=[
            Row(
                [
                    Cell(
                        entry["item"][:SHOWN_ID_LENGTH],
                        href=reverse("judging:watch_item", args=[campaign.public_id, entry["item"]]),
                    ),
                    Cell(ItemKind(entry["kind"]).label),
                    Cell(entry["risk_category"]),
                    *_tally_cells(entry),
                ]
            )
            for entry in entries
        ],
    )


def label_table(labels: list[UnnamedLabel]) -> Table:
    """What people said about one item, under no name."""
    return Table(
        id="labels",
        caption="What people said",
        note="Each label under a number of this item's own, in shuffled order: the same person has "
        "another number on another item.",
        columns=[
            text_column("Label"),
            text_column("Kind of rater"),
            text_column("Rating"),
            Column("Severity", unit="1-5"),
            text_column("Note"),
        ],
        rows=[
            Row(
                [
                    Cell(f"Label {label.number}"),
                    Cell(AnnotatorType(label.annotator_type).label),
                    Cell(label.rating, kind="verdict"),
                    Cell(label.severity, kind="count", reason="no severity"),
                    Cell(label.note or None, reason="no note"),
                ]
            )
            for label in labels
        ],
    )


def _tally_table(
    table_id: str,
    caption: str,
    first: Column,
    rows: Sequence[tuple[Cell, Counts]],
    total: Counts,
    *,
    note: str | None = None,
) -> Table:
    return Table(
        id=table_id,
        caption=caption,
        note=note,
        columns=[first, *(column for _, column in TALLY_COLUMNS)],
        rows=[Row([cell, *_tally_cells(counts)]) for cell, counts in rows],
        total=Row([Cell("All"), *_tally_cells(total)]),
    )


def _tally_cells(counts: Counts) -> list[Cell]:
    return [Cell(counts[name], kind="count") for name, _ in TALLY_COLUMNS]


def _quality_row(name: Cell, entry: Counts) -> Row:
    counts = (*("n_training", "n_training_right", "n_gold", "n_gold_right", "n_repeats", "n_repeats_equal"),)
    return Row(
        [
            name,
            *(Cell(entry[count], kind="count") for count in counts),
            Cell(entry["median_days_between"], kind="score", reason="no repeat was answered"),
            _duration(entry["median_active_ms"]),
            _duration(entry["median_idle_ms"]),
            Cell(entry["n_untimed"], kind="count"),
        ]
    )


def _duration(ms: float | None) -> Cell:
    seconds = None if ms is None else ms / MS_PER_SECOND
    return Cell(seconds, kind="duration", reason="no time is known")
