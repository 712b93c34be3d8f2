"""The right text of a response."""

from django import forms

from annotation.choices import CorrectionReason


class CorrectionForm(forms.Form):
    """The right text of a response, exactly as it is typed, and what was wrong with the other."""

    text = forms.CharField(
        label="Text", strip=False, widget=forms.Textarea(attrs={"rows": 14, "dir": "auto"})
    )
    reason = forms.ChoiceField(label="What was wrong with it", choices=CorrectionReason.choices)

    def clean_text(self) -> str:
        # A browser sends every line end as two characters; a text that had only line feeds keeps them.
        text: str = self.cleaned_data["text"]
        return text if "\r\n" in (self.initial.get("text") or "") else text.replace("\r\n", "\n")
