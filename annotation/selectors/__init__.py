"""Reads of campaigns and labels."""

from annotation.selectors.labels import current_labels
from annotation.selectors.places import HAS_ROOM, items_with_room, taking_a_place
from annotation.selectors.progress import (
    AnnotatorProgress,
    ItemProgress,
    annotator_progress,
    item_progress,
    items_by_label_count,
)
from annotation.selectors.reading import (
    Progress,
    Reading,
    Task,
    last_label,
    own_assignment,
    own_label,
    own_label_by_id,
    progress_of,
    reading_of,
    tasks_of,
)
from annotation.selectors.responses import (
    MOST_EMPTY_PERCENT,
    EmptyShare,
    choose_responses,
    models_with_many_empty,
    readable_responses,
)

__all__ = [
    "HAS_ROOM",
    "MOST_EMPTY_PERCENT",
    "AnnotatorProgress",
    "EmptyShare",
    "ItemProgress",
    "Progress",
    "Reading",
    "Task",
    "annotator_progress",
    "choose_responses",
    "current_labels",
    "item_progress",
    "items_by_label_count",
    "items_with_room",
    "last_label",
    "models_with_many_empty",
    "own_assignment",
    "own_label",
    "own_label_by_id",
    "progress_of",
    "readable_responses",
    "reading_of",
    "taking_a_place",
    "tasks_of",
]
