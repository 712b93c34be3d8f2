"""What annotators send."""

import uuid
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.choices import Rating, SkipReason, TextSize, TextView, Theme
from annotation.flags import MAX_FLAG_NOTE
from annotation.labelling import MAX_ACTIVE_MS
from annotation.models import (
    FIRST_SEVERITY,
    LAST_SEVERITY,
    Campaign,
    Draft,
    Label,
)

MAX_NOTE_LENGTH = 2000
SEVERITIES = [(str(step), str(step)) for step in range(FIRST_SEVERITY, LAST_SEVERITY + 1)]


class LabelForm(forms.Form):
    """One answer. `value` is the rating, sent by the button that was pressed."""

    value = forms.ChoiceField(
        choices=Rating.choices,
        error_messages={"required": _("Press Acceptable or Unacceptable to answer.")},
    )
    severity = forms.TypedChoiceField(
        choices=SEVERITIES,
        coerce=int,
        empty_value=None,
        required=False,
        widget=forms.RadioSelect,
        label=_("How severe is it? 1 not at all, 5 very"),
        error_messages={"required": _("Choose how severe it is, from 1 to 5, then answer.")},
    )
    note = forms.CharField(
        required=False,
        max_length=MAX_NOTE_LENGTH,
        label=_("Note"),
        widget=forms.Textarea(attrs={"rows": 3, "form": "label-form"}),
    )
    submission_id = forms.UUIDField(widget=forms.HiddenInput)
    revises = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)
    text_view = forms.ChoiceField(required=False, choices=TextView.choices, widget=forms.HiddenInput)
    # Our script measures it; without scripts it is not known.
    active_ms = forms.IntegerField(
        required=False, min_value=0, max_value=MAX_ACTIVE_MS, widget=forms.HiddenInput
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if campaign.asks_severity:
            self.fields["severity"].required = True
        else:
            del self.fields["severity"]

    @classmethod
    def to_show(
        cls, campaign: Campaign, label: Label | None, draft: Draft | None, text_view: TextView
    ) -> "LabelForm":
        """An empty form with a submission id of its own, or one that revises `label`.

        What was typed and not sent (`draft`) goes before what the label says.
        """
        initial: dict[str, Any] = {"submission_id": uuid.uuid4(), "text_view": text_view}
        if label:
            initial |= {"revises": label.public_id, "severity": label.severity, "note": label.note}
        if draft:
            initial |= {"severity": draft.severity, "note": draft.note}
        return cls(campaign=campaign, initial=initial)

    def answer(self) -> dict[str, Any]:
        """The checked values, as the labelling functions take them."""
        values = self.cleaned_data
        return {
            "submission_id": values["submission_id"],
            "rating": Rating(values["value"]),
            "severity": values.get("severity"),
            "note": values["note"] or None,
            "text_view": TextView(values["text_view"]) if values["text_view"] else None,
            "active_ms": values["active_ms"],
        }


class DraftForm(forms.Form):
    """What was typed and chosen so far. `revises` is the answer that the page showed."""

    note = forms.CharField(required=False, max_length=MAX_NOTE_LENGTH)
    severity = forms.TypedChoiceField(
        choices=SEVERITIES, coerce=int, empty_value=None, required=False, widget=forms.HiddenInput
    )
    revises = forms.CharField(required=False, max_length=16)


class SkipForm(forms.Form):
    """Why an item is put aside."""

    reason = forms.ChoiceField(choices=SkipReason.choices)


class UndoForm(forms.Form):
    """Which label is taken back."""

    label = forms.CharField(max_length=16)
    submission_id = forms.UUIDField()


class FlagForm(forms.Form):
    """What the lead of the study should look at."""

    note = forms.CharField(
        required=False,
        max_length=MAX_FLAG_NOTE,
        label=_("What should they look at?"),
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class LookForm(forms.Form):
    """How texts should look; what is left out stays as it is. `next` is the page to go back to."""

    text_size = forms.ChoiceField(required=False, choices=TextSize.choices)
    theme = forms.ChoiceField(required=False, choices=Theme.choices)
    text_view = forms.ChoiceField(required=False, choices=TextView.choices)
    next = forms.CharField(required=False)

    def look(self) -> dict[str, Any]:
        """The checked values, as `change_look` takes them."""
        values = self.cleaned_data
        return {
            "text_size": TextSize(values["text_size"]) if values["text_size"] else None,
            "theme": Theme(values["theme"]) if values["theme"] else None,
            "text_view": TextView(values["text_view"]) if values["text_view"] else None,
        }
