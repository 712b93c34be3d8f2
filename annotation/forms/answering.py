"""What annotators send."""

import uuid
from typing import Any

from django import forms

from annotation.choices import Rating, SkipReason
from annotation.models import (
    FIRST_SEVERITY,
    LAST_SEVERITY,
    Campaign,
    Label,
)

MAX_NOTE_LENGTH = 2000


class LabelForm(forms.Form):
    """One answer. `value` is the rating, sent by the button that was pressed."""

    value = forms.ChoiceField(
        choices=Rating.choices,
        error_messages={"required": "Press Acceptable or Unacceptable to answer."},
    )
    severity = forms.TypedChoiceField(
        choices=[(str(step), str(step)) for step in range(FIRST_SEVERITY, LAST_SEVERITY + 1)],
        coerce=int,
        empty_value=None,
        required=False,
        widget=forms.RadioSelect,
        label="How severe is it? 1 not at all, 5 very",
        error_messages={"required": "Choose how severe it is, from 1 to 5, then answer."},
    )
    note = forms.CharField(
        required=False,
        max_length=MAX_NOTE_LENGTH,
        label="Note",
        widget=forms.Textarea(attrs={"rows": 3, "form": "label-form"}),
    )
    submission_id = forms.UUIDField(widget=forms.HiddenInput)
    revises = forms.CharField(required=False, max_length=16, widget=forms.HiddenInput)

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if campaign.asks_severity:
            self.fields["severity"].required = True
        else:
            del self.fields["severity"]

    @classmethod
    def to_show(cls, campaign: Campaign, label: Label | None) -> "LabelForm":
        """An empty form with a submission id of its own, or one that revises `label`."""
        initial: dict[str, Any] = {"submission_id": uuid.uuid4()}
        if label:
            initial |= {"revises": label.public_id, "severity": label.severity, "note": label.note}
        return cls(campaign=campaign, initial=initial)

    def answer(self) -> dict[str, Any]:
        """The checked values, as the labelling functions take them."""
        values = self.cleaned_data
        return {
            "submission_id": values["submission_id"],
            "rating": Rating(values["value"]),
            "severity": values.get("severity"),
            "note": values["note"] or None,
        }


class SkipForm(forms.Form):
    """Why an item is put aside."""

    reason = forms.ChoiceField(choices=SkipReason.choices)


class UndoForm(forms.Form):
    """Which label is taken back."""

    label = forms.CharField(max_length=16)
    submission_id = forms.UUIDField()
