"""The only writer of labels: assign, submit, revise, take back, skip, and import in bulk."""

from annotation.labelling.answers import (
    MAX_ACTIVE_MS,
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
from annotation.labelling.drafts import drop_draft, save_draft
from annotation.labelling.why import NoItem, NoItemCode, why_no_item

__all__ = [
    "MAX_ACTIVE_MS",
    "Answer",
    "ImportedLabel",
    "InvalidAnswer",
    "NoItem",
    "NoItemCode",
    "Receipt",
    "StaleLabel",
    "drop_draft",
    "import_labels",
    "next_assignment",
    "retract_label",
    "revise_label",
    "save_draft",
    "skip_item",
    "submit_label",
    "why_no_item",
]
