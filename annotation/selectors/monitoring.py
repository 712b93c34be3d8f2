"""What has happened in a campaign so far, counted once and summed in every way that a researcher looks at it.

Labels, assignments and flags are read row by row and added to the sums by item, person, kind of rater,
kind of item and risk category at the same time, so that all of them have the same total. Erased labels
are not current, so they are in no count.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import BooleanField, Case, F, QuerySet, Value, When
from django.db.models.functions import Now

from annotation.choices import AnnotatorType, AssignmentState, ItemKind, Rating, SkipReason
from annotation.models import Annotator, Assignment, Campaign, CampaignItem, Flag, Label

Key = TypeVar("Key")


@dataclass(frozen=True)
class Tally:
    """Counts of one group. `n_in_hand` are being read under a running lease, `n_again` are asked again.

    A label that was asked for again stands and is among `n_labels`. `n_extra` of the labels came when
    their item was full.
    """

    n_labels: int = 0
    n_acceptable: int = 0
    n_unacceptable: int = 0
    n_extra: int = 0
    n_again: int = 0
    n_in_hand: int = 0
    n_skipped: int = 0
    n_flags: int = 0
    n_flags_open: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            n_labels=self.n_labels + other.n_labels,
            n_acceptable=self.n_acceptable + other.n_acceptable,
            n_unacceptable=self.n_unacceptable + other.n_unacceptable,
            n_extra=self.n_extra + other.n_extra,
            n_again=self.n_again + other.n_again,
            n_in_hand=self.n_in_hand + other.n_in_hand,
            n_skipped=self.n_skipped + other.n_skipped,
            n_flags=self.n_flags + other.n_flags,
            n_flags_open=self.n_flags_open + other.n_flags_open,
        )


@dataclass(frozen=True)
class ItemTally:
    """One item with its counts."""

    item_id: str
    response_id: str
    kind: ItemKind
    risk_category: str
    tally: Tally


@dataclass(frozen=True)
class AnnotatorTally:
    """One person with their counts; `annotator` is None for labels that were imported without one."""

    annotator: Annotator | None
    tally: Tally


@dataclass(frozen=True)
class CampaignTally:
    """A campaign's counts in every grouping. The sums of `items`, `annotators`, `annotator_types`,
    `item_kinds` and `risk_categories` are each `total`; those of `skips` are `total.n_skipped`.

    `n_items_by_labels`: how many regular items have 0, 1, 2, … current labels; `n_full` have those wanted.
    """

    total: Tally
    items: tuple[ItemTally, ...]
    annotators: tuple[AnnotatorTally, ...]
    annotator_types: Mapping[AnnotatorType, Tally]
    item_kinds: Mapping[ItemKind, Tally]
    risk_categories: Mapping[str, Tally]
    skips: Mapping[SkipReason, int]
    n_items_by_labels: Mapping[int, int]
    n_full: int


@dataclass(frozen=True)
class _Entry:
    """One row of a table: whose, on which item, and what it adds to the sums."""

    item: int
    annotator: int | None
    annotator_type: str
    adds: Tally


def tally_campaign(campaign: Campaign) -> CampaignTally:
    """Count everything in the campaign. Five queries, whatever its size.

    People are those of the campaign, and others who have a label in it. The kind of rater of a label is
    what the person was when giving it; of skips and flags, what they are now.
    """
    items = list(campaign.items.select_related("response__prompt").order_by("pk"))
    people = list(
        (
            Annotator.objects.filter(memberships__campaign=campaign)
            | Annotator.objects.filter(labels__item__campaign=campaign)
        )
        .distinct()
        .order_by("code", "pk")
    )
    skips: Counter[str] = Counter()
    entries = [*_labels(campaign), *_assignments(campaign, skips), *_flags(campaign)]
    by_item = _sums((entry.item, entry.adds) for entry in entries)
    by_person = _sums((entry.annotator, entry.adds) for entry in entries)
    by_type = _sums((entry.annotator_type, entry.adds) for entry in entries)
    item_tallies = tuple(_item_tally(item, by_item.get(item.pk, Tally())) for item in items)
    by_kind = _sums((row.kind, row.tally) for row in item_tallies)
    rows = [AnnotatorTally(person, by_person.get(person.pk, Tally())) for person in people]
    if None in by_person:
        rows.append(AnnotatorTally(None, by_person[None]))
    n_labels = Counter(row.tally.n_labels for row in item_tallies if row.kind == ItemKind.REGULAR)
    return CampaignTally(
        total=sum((entry.adds for entry in entries), Tally()),
        items=item_tallies,
        annotators=tuple(rows),
        annotator_types={kind: by_type[kind] for kind in AnnotatorType if kind in by_type},
        item_kinds={kind: by_kind[kind] for kind in ItemKind if kind in by_kind},
        risk_categories=dict(sorted(_sums((row.risk_category, row.tally) for row in item_tallies).items())),
        skips={reason: skips[reason] for reason in SkipReason},
        n_items_by_labels=dict(sorted(n_labels.items())),
        n_full=sum(n for each, n in n_labels.items() if each >= campaign.labels_per_response),
    )


def flags_of(campaign: Campaign) -> QuerySet[Flag]:
    """The campaign's flags, those that wait first, then the newest. No query yet."""
    flags = Flag.objects.filter(item__campaign=campaign)
    return flags.select_related("item__response__prompt", "resolved_by").order_by(
        F("resolved_at").desc(nulls_first=True), "-created_at", "-pk"
    )


def skips_on(item: CampaignItem) -> list[tuple[SkipReason, int]]:
    """Why people skipped an item, with how many did, in the order in which reasons are offered. One query."""
    counts = Counter(
        Assignment.objects.filter(item=item, state=AssignmentState.SKIPPED).values_list(
            "skip_reason", flat=True
        )
    )
    return [(reason, counts[reason]) for reason in SkipReason if counts[reason]]


def _labels(campaign: Campaign) -> list[_Entry]:
    rows = Label.objects.filter(item__campaign=campaign, is_current=True)
    return [
        _Entry(
            item,
            annotator,
            annotator_type,
            Tally(
                n_labels=1,
                n_acceptable=int(rating == Rating.ACCEPTABLE),
                n_unacceptable=int(rating == Rating.UNACCEPTABLE),
                n_extra=int(is_extra),
            ),
        )
        for item, annotator, annotator_type, rating, is_extra in rows.values_list(
            "item", "annotator", "annotator_type", "rating", "is_extra"
        )
    ]


def _assignments(campaign: Campaign, skips: Counter[str]) -> list[_Entry]:
    """What is in people's hands, asked again or skipped; reasons are counted in `skips`."""
    rows = (
        Assignment.objects.filter(item__campaign=campaign)
        .exclude(state=AssignmentState.LABELLED)
        .annotate(
            is_running=Case(
                When(lease_until__gt=Now(), then=Value(True)),
                default=Value(False),
                output_field=BooleanField(),
            )
        )
    )
    entries = []
    for item, annotator, annotator_type, state, reason, is_running in rows.values_list(
        "item", "annotator", "annotator__annotator_type", "state", "skip_reason", "is_running"
    ):
        if state == AssignmentState.SKIPPED:
            skips[str(reason)] += 1
        adds = Tally(
            n_again=int(state == AssignmentState.AGAIN),
            n_in_hand=int(state == AssignmentState.OPEN and is_running),
            n_skipped=int(state == AssignmentState.SKIPPED),
        )
        entries.append(_Entry(item, annotator, annotator_type, adds))
    return entries


def _flags(campaign: Campaign) -> list[_Entry]:
    rows = Flag.objects.filter(item__campaign=campaign)
    return [
        _Entry(item, annotator, annotator_type, Tally(n_flags=1, n_flags_open=int(resolved_at is None)))
        for item, annotator, annotator_type, resolved_at in rows.values_list(
            "item", "annotator", "annotator__annotator_type", "resolved_at"
        )
    ]


def _item_tally(item: CampaignItem, tally: Tally) -> ItemTally:
    return ItemTally(
        item_id=item.public_id,
        response_id=item.response.public_id,
        kind=ItemKind(item.kind),
        risk_category=item.response.prompt.risk_category,
        tally=tally,
    )


def _sums(pairs: Iterable[tuple[Key, Tally]]) -> dict[Key, Tally]:
    sums: dict[Key, Tally] = {}
    for key, adds in pairs:
        sums[key] = sums.get(key, Tally()) + adds
    return sums
