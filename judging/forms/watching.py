"""What was done about a flag."""

from django import forms

from annotation.flags import MAX_FLAG_NOTE


class ResolveForm(forms.Form):
    """The sentence that settles a flag."""

    resolution = forms.CharField(
        label="What was done",
        max_length=MAX_FLAG_NOTE,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
        help_text="In a sentence. Researchers read it; the person who raised the flag does not.",
    )
