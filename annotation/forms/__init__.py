"""Forms of the annotator pages and of campaign management."""

from annotation.forms.answering import (
    MAX_NOTE_LENGTH,
    DraftForm,
    FlagForm,
    LabelForm,
    LookForm,
    SkipForm,
    UndoForm,
)
from annotation.forms.campaigns import MAX_LABELS_PER_RESPONSE, CampaignStateForm
from annotation.forms.people import AddAnnotatorForm, ConsentForm, InviteForm, PasswordForm, ThemesForm

__all__ = [
    "MAX_LABELS_PER_RESPONSE",
    "MAX_NOTE_LENGTH",
    "AddAnnotatorForm",
    "CampaignStateForm",
    "ConsentForm",
    "DraftForm",
    "FlagForm",
    "InviteForm",
    "LabelForm",
    "LookForm",
    "PasswordForm",
    "SkipForm",
    "ThemesForm",
    "UndoForm",
]
