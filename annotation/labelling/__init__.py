"""The only writer of labels: assign, submit, revise, take back, skip, and import in bulk."""

from annotation.labelling.answers import (
    Answer,
    InvalidAnswer,
    Receipt,
    StaleLabel,
    retract_label,
    revise_label,
    submit_label,
)
from annotation.labelling.assigning import next_assignment, skip_item
from annotation.labelling.bulk import ImportedLabel, import_labels

__all__ = [
    "Answer",
    "ImportedLabel",
    "InvalidAnswer",
    "Receipt",
    "StaleLabel",
    "import_labels",
    "next_assignment",
    "retract_label",
    "revise_label",
    "skip_item",
    "submit_label",
]
