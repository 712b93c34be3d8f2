"""Forms of the annotator pages and of campaign management."""

from annotation.forms.answering import MAX_NOTE_LENGTH, LabelForm, SkipForm, UndoForm
from annotation.forms.campaigns import MAX_LABELS_PER_RESPONSE, CampaignForm, CampaignStateForm
from annotation.forms.people import AddAnnotatorForm

__all__ = [
    "MAX_LABELS_PER_RESPONSE",
    "MAX_NOTE_LENGTH",
    "AddAnnotatorForm",
    "CampaignForm",
    "CampaignStateForm",
    "LabelForm",
    "SkipForm",
    "UndoForm",
]
