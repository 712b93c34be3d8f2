"""What is said when a pass goes on."""

from django import forms


class RaiseCapsForm(forms.Form):
    """Higher caps for a pass that goes on. Blank ones stay as they are."""

    max_calls = forms.IntegerField(
        label="At most so many calls",
        help_text="In all, with those already made.",
        min_value=1,
        required=False,
    )
    max_cost = forms.DecimalField(
        label="At most so much money",
        help_text="In all, with what is already spent.",
        min_value=0,
        decimal_places=2,
        required=False,
    )


class RerunForm(RaiseCapsForm):
    """Caps for judging what is missing, and whether rows that stopped workers go along."""

    with_poison = forms.BooleanField(label="Also the rows that stopped several workers", required=False)
