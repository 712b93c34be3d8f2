"""The filters of the page that lists the rows behind a number."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from annotation.choices import ResponseState
from judging.choices import FailureMode
from judging.forms.filters import BenchmarkFilterForm
from judging.stats.records import ACCEPTABLE, CONTESTED, UNACCEPTABLE, UNDECIDED

VERDICT_FILTERS = (
    (ACCEPTABLE, "Acceptable"),
    (UNACCEPTABLE, "Unacceptable"),
    (UNDECIDED, "Undecided"),
    ("DECIDED", "Acceptable or Unacceptable"),
)
CONSENSUS_FILTERS = (
    (ACCEPTABLE, "Acceptable"),
    (UNACCEPTABLE, "Unacceptable"),
    (CONTESTED, "Contested"),
    ("AGREED", "Acceptable or Unacceptable"),
    ("LABELLED", "Labelled at all"),
    ("NONE", "Not labelled"),
)
SEVERITY_FILTERS = (
    ("FLAGGED_WITH_SCORE", "Unacceptable with a weighted score"),
    ("SEVERE", "Weighted score 4 or more"),
    ("UNANIMOUS_5", "Every judge gave 5"),
)
PAIR_KIND_FILTERS = (
    ("rule-human", "Rule with people"),
    ("judge-human", "Judge with people"),
    ("human-human", "People with each other"),
    ("judge-judge", "Judges with each other"),
)
FAILURE_MODE_FILTERS = (
    *FailureMode.choices,
    ("UNPARSED", "Answered, no mode named"),
    ("UNCLASSIFIED", "Not classified"),
    ("ANY", "Taken up by the classification"),
)
CELL_FILTERS = (
    ("BOTH", "Read by both"),
    ("MISSING", "Missing on one side"),
    ("AA", "Both Acceptable"),
    ("AU", "First Acceptable, second Unacceptable"),
    ("UA", "First Unacceptable, second Acceptable"),
    ("UU", "Both Unacceptable"),
)


class RowFilterForm(BenchmarkFilterForm):
    """Which responses to list. Every filter of every link to rows; blank ones do not filter."""

    model = forms.ChoiceField(label="Model", required=False)
    category = forms.ChoiceField(label="Risk category", required=False)
    response_state = forms.ChoiceField(
        label="Response", choices=[("", "any"), *ResponseState.choices], required=False
    )
    verdict = forms.ChoiceField(
        label="Verdict of the rule", choices=[("", "any"), *VERDICT_FILTERS], required=False
    )
    consensus = forms.ChoiceField(
        label="People's consensus", choices=[("", "any"), *CONSENSUS_FILTERS], required=False
    )
    severity = forms.ChoiceField(label="Severity", choices=[("", "any"), *SEVERITY_FILTERS], required=False)
    judge = forms.ChoiceField(label="Judge", required=False)
    score = forms.TypedChoiceField(
        label="Its score",
        choices=[("", "any"), *((str(score), str(score)) for score in range(6))],
        coerce=int,
        empty_value=None,
        required=False,
    )
    state = forms.CharField(label="Its state", max_length=32, required=False)
    missing = forms.CharField(label="Missing verdict", max_length=32, required=False)
    annotator = forms.CharField(label="Annotator", max_length=100, required=False)
    pair = forms.ChoiceField(label="Pair", choices=[("", "any"), *PAIR_KIND_FILTERS], required=False)
    a = forms.CharField(label="First reader", max_length=200, required=False)
    b = forms.CharField(label="Second reader", max_length=200, required=False)
    cell = forms.ChoiceField(label="Readings", choices=[("", "any"), *CELL_FILTERS], required=False)
    graded = forms.BooleanField(label="Only responses of the report", required=False)
    rubric_like = forms.BooleanField(label="Holds text like a judge's answer", required=False)
    by_policy = forms.BooleanField(label="Empty, read as Acceptable by the pass", required=False)
    failure_mode = forms.ChoiceField(
        label="Failure mode", choices=[("", "any"), *FAILURE_MODE_FILTERS], required=False
    )
    classification = forms.CharField(label="Classification", max_length=100, required=False)
    classified = forms.CharField(label="Classifier's state", max_length=32, required=False)

    ALWAYS_SHOWN = ("model", "category", "verdict", "consensus", "judge", "score")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("pair") and not (cleaned.get("a") and cleaned.get("b")):
            raise ValidationError("A pair needs both of its readers, a and b.")
        if (cleaned.get("score") is not None or cleaned.get("state")) and not cleaned.get("judge"):
            raise ValidationError("A score or a state needs its judge. Choose one.")
        if (cleaned.get("classification") or cleaned.get("classified")) and not cleaned.get("failure_mode"):
            raise ValidationError("A classification or its state needs a failure mode; ANY takes all.")
        return cleaned
