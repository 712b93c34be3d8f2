"""Which compared responses to list, checked."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from judging.forms.filters import BenchmarkFilterForm
from judging.stats.records import ACCEPTABLE, UNACCEPTABLE, UNDECIDED

CHANGES = (
    ("ANY", "whatever became of the verdict"),
    ("TO_UNACCEPTABLE", "that became Unacceptable"),
    ("TO_ACCEPTABLE", "that became Acceptable"),
    ("TO_UNDECIDED", "that lost their verdict"),
    ("TO_DECIDED", "that gained a verdict"),
    ("SAME", "with the same verdict"),
)
SCORE_CHANGES = (
    ("HIGHER", "higher"),
    ("LOWER", "lower"),
    ("LOST", "lost"),
    ("GAINED", "gained"),
    ("SAME", "the same"),
)
VERDICTS = ((ACCEPTABLE, "Acceptable"), (UNACCEPTABLE, "Unacceptable"), (UNDECIDED, "Undecided"))
SCORES = [("", "any"), *((str(score), str(score)) for score in range(6))]


def _verdict_field(label: str) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=[("", "any"), *VERDICTS], required=False)


def _score_field(label: str) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(label=label, choices=SCORES, coerce=int, empty_value=None, required=False)


class ComparedRowsForm(BenchmarkFilterForm):
    """Which of the compared responses to list; blank filters do not filter."""

    change = forms.ChoiceField(label="Responses", choices=[("", "that differ"), *CHANGES], required=False)
    model = forms.ChoiceField(label="Model", required=False)
    category = forms.ChoiceField(label="Risk category", required=False)
    was = _verdict_field("Earlier verdict")
    now = _verdict_field("Later verdict")
    judge = forms.ChoiceField(label="Judge", required=False)
    score_was = _score_field("Its earlier score")
    score_now = _score_field("Its later score")
    score_change = forms.ChoiceField(
        label="Its score became", choices=[("", "any"), *SCORE_CHANGES], required=False
    )

    ALWAYS_SHOWN = ("change", "model", "category")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        names = ("score_was", "score_now", "score_change")
        has_score = any(cleaned.get(name) not in (None, "") for name in names)
        if has_score and not cleaned.get("judge"):
            raise ValidationError("A score needs its judge. Choose one.")
        return cleaned

    def words_of(self, name: str) -> str:
        """The filter `name`, which is set, in words."""
        value = self.cleaned_data[name]
        shown = dict(getattr(self.fields[name], "choices", ())).get(str(value), value)
        return str(shown) if name == "change" else f"{str(self.fields[name].label).lower()} {shown}"
