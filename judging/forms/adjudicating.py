"""A decision on a contested item, and which items to list."""

from django import forms

from annotation.adjudicating import MAX_REASON_LENGTH
from annotation.choices import Rating
from judging.contested import STANDING_WORDS, Standing


class DecisionForm(forms.Form):
    """What the adjudicator decides and why, with what stood on the page at that time."""

    decision = forms.ChoiceField(label="Your decision", choices=Rating.choices, widget=forms.RadioSelect)
    reason = forms.CharField(
        label="Why",
        max_length=MAX_REASON_LENGTH,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text="In a sentence or two. Researchers read it, and it is exported with the decision.",
    )
    labels_seen = forms.CharField(max_length=64, widget=forms.HiddenInput)
    decision_seen = forms.CharField(max_length=16, required=False, widget=forms.HiddenInput)


class StandingForm(forms.Form):
    """Where the listed items stand; blank lists all."""

    standing = forms.ChoiceField(
        label="Items",
        required=False,
        choices=[("", "All"), *((standing.value, STANDING_WORDS[standing]) for standing in Standing)],
    )
