"""What one person reads next, worked out some items at a time.

Working an order out looks at every item of the campaign. So the next N_UPCOMING items are kept with the
membership, and each claim only asks which of those can still be had. When none can, the next ones are worked
out. Call everything here with the membership locked and its campaign and annotator loaded.
"""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Q

from annotation.choices import AssignmentState, ItemKind
from annotation.labelling.ordering import Candidate, personal_order
from annotation.labelling.repeats import due_repeats
from annotation.models import USUAL_MILDNESS, Assignment, CategoryMildness, CategoryOptOut, Membership
from annotation.selectors.places import SETTLED, Target, open_items, taking_a_place, unsettled_items

N_UPCOMING = 25
FREE_COLUMNS = ("pk", "kind", "response__prompt__risk_category")


@dataclass(frozen=True)
class FreeItem:
    """An item that the person may be given now, unless someone else is quicker.

    `is_held`: they had it before, and their lease ended.
    """

    item_id: int
    kind: str
    risk_category: str
    is_held: bool = False


def free_items(membership: Membership, target: Target, *, apart_from: int | None = None) -> list[FreeItem]:
    """The items that the person may be given, in their order; some of them, or none when there are none.

    Args:
        apart_from: primary key of an item that they have in hand and that does not count.

    Two queries, and eight more each time that the items worked out before are used up.
    """
    free = _still_free(membership, target, apart_from)
    if not free:
        _work_out(membership, target)
        free = _still_free(membership, target, apart_from)
    return free


def training_items(membership: Membership, *, apart_from: int | None = None) -> list[FreeItem]:
    """The training items that the person has not settled, in the researcher's sequence. One query."""
    items = unsettled_items(membership).filter(kind=ItemKind.TRAINING).order_by("pk")
    return [FreeItem(*row) for row in items.values_list(*FREE_COLUMNS) if row[0] != apart_from]


def _still_free(membership: Membership, target: Target, apart_from: int | None) -> list[FreeItem]:
    """Of the items worked out before, those that can still be had. Two plain queries; none without items."""
    if not membership.upcoming:
        return []
    n_others: Counter[int] = Counter()
    own_states: dict[int, str] = {}
    assignments = Assignment.objects.filter(
        Q(annotator=membership.annotator_id) | taking_a_place(),
        item__in=[item_id for item_id, *_ in membership.upcoming],
    )
    for item_id, annotator_id, annotator_type, state in assignments.values_list(
        "item", "annotator", "annotator__annotator_type", "state"
    ):
        if annotator_id == membership.annotator_id:
            own_states[item_id] = state
        elif target.annotator_type in (None, annotator_type):
            n_others[item_id] += 1
    not_read = set(
        CategoryOptOut.objects.filter(membership=membership).values_list("risk_category", flat=True)
    )
    return [
        FreeItem(item_id, kind, category, is_held=item_id in own_states)
        for item_id, kind, category in membership.upcoming
        if item_id != apart_from
        and own_states.get(item_id, AssignmentState.OPEN) == AssignmentState.OPEN
        and category not in not_read
        and (kind != ItemKind.REGULAR or n_others[item_id] < target.n_labels)
    ]


def _work_out(membership: Membership, target: Target) -> None:
    """Store the person's next items, those still in their hands first."""
    campaign = membership.campaign
    mildness_of = dict(
        CategoryMildness.objects.filter(campaign=campaign.pk).values_list("risk_category", "mildness")
    )
    own = Assignment.objects.filter(annotator=membership.annotator_id, item__campaign=campaign.pk)
    columns = ("pk", "public_id", "kind", "response__prompt__risk_category")
    rows = [*open_items(membership, target).exclude(kind=ItemKind.TRAINING).values_list(*columns)]
    if repeats := due_repeats(membership):
        rows += unsettled_items(membership).filter(pk__in=repeats).values_list(*columns)
    held = set(own.filter(state=AssignmentState.OPEN).values_list("item", flat=True))
    n_settled = own.filter(state__in=SETTLED).count()
    ordered = personal_order(
        [
            Candidate(item_id, public_id, ItemKind(kind), mildness_of.get(category, USUAL_MILDNESS))
            for item_id, public_id, kind, category in rows
        ],
        person=membership.annotator.public_id,
        repeat_percent=campaign.repeat_percent,
    )
    ordered.sort(key=lambda candidate: candidate.item_id not in held)
    categories = {item_id: category for item_id, _, _, category in rows}
    membership.upcoming = [
        [candidate.item_id, candidate.kind, categories[candidate.item_id]]
        for candidate in ordered[:N_UPCOMING]
    ]
    membership.n_in_reach = n_settled + len(ordered)
    membership.save(update_fields=["upcoming", "n_in_reach"])
