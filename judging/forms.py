"""What researchers type and choose, checked and put into the shapes of the domain calls."""

import codecs
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from annotation.choices import CorrectionReason, ResponseState
from judging.choices import FailureMode
from judging.importing.files import IMPORTED_PASS_NAME, BenchmarkNotices
from judging.reports import MAX_RULE_CHARACTERS
from judging.stats.records import ACCEPTABLE, CONTESTED, UNACCEPTABLE, UNDECIDED

ENCODINGS = (
    ("utf-8", "UTF-8"),
    ("cp1252", "Windows Western (cp1252)"),
    ("latin-1", "Latin 1 (ISO 8859-1)"),
    ("utf-16", "UTF-16"),
)
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


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One or more files; the cleaned value is a list."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    """Files for a benchmark that exists."""

    csv_files = ManyFilesField(
        label="CSV files",
        help_text="prompts.csv, responses.csv, annotated_responses.csv, judge_scores.csv: any of them, in "
        "any order. You see what would be stored before anything is.",
    )
    encoding = forms.ChoiceField(label="Encoding", choices=ENCODINGS, initial="utf-8")
    pass_name = forms.CharField(
        label="Pass for judge scores",
        max_length=100,
        required=False,
        help_text="Scores go to the finished pass of this name; imported unless you name another.",
    )

    def clean_encoding(self) -> str:
        return codecs.lookup(self.cleaned_data["encoding"]).name

    def clean_pass_name(self) -> str:
        return self.cleaned_data["pass_name"] or IMPORTED_PASS_NAME

    @property
    def notices(self) -> BenchmarkNotices:
        """Licence and the like; a benchmark that exists keeps its own."""
        return BenchmarkNotices()


class NewBenchmarkForm(UploadForm):
    """Files and the notices of a benchmark that they bring into being."""

    benchmark = forms.SlugField(
        label="Short name",
        max_length=64,
        help_text="Letters, digits, hyphen and underscore. It stands in addresses and file names and stays.",
    )
    licence = forms.CharField(
        label="Licence", max_length=200, required=False, help_text="Carried by every export."
    )
    attribution = forms.CharField(
        label="Attribution",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Whom to name. Carried by every export.",
    )
    canary = forms.CharField(
        label="Canary",
        max_length=200,
        required=False,
        help_text="A text that shows up when a model was trained on this benchmark. Carried by every export.",
    )
    field_order = ("benchmark", "csv_files", "encoding", "pass_name", "licence", "attribution", "canary")

    @property
    def notices(self) -> BenchmarkNotices:
        """Licence, attribution and canary as typed; blank ones stay unset."""
        given = {name: self.cleaned_data[name] or None for name in ("licence", "attribution", "canary")}
        return BenchmarkNotices(**given)


class RowFilterForm(forms.Form):
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
    failure_mode = forms.ChoiceField(
        label="Failure mode", choices=[("", "any"), *FAILURE_MODE_FILTERS], required=False
    )
    classification = forms.CharField(label="Classification", max_length=100, required=False)
    classified = forms.CharField(label="Classifier's state", max_length=32, required=False)

    ALWAYS_SHOWN = ("model", "category", "verdict", "consensus", "judge", "score")

    def __init__(
        self, *args: Any, models: list[str], categories: list[str], judges: list[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for name, values in (("model", models), ("category", categories), ("judge", judges)):
            field = self.fields[name]
            if isinstance(field, forms.ChoiceField):
                field.choices = [("", "any"), *((value, value) for value in values)]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("pair") and not (cleaned.get("a") and cleaned.get("b")):
            raise ValidationError("A pair needs both of its readers, a and b.")
        if (cleaned.get("score") is not None or cleaned.get("state")) and not cleaned.get("judge"):
            raise ValidationError("A score or a state needs its judge. Choose one.")
        if (cleaned.get("classification") or cleaned.get("classified")) and not cleaned.get("failure_mode"):
            raise ValidationError("A classification or its state needs a failure mode; ANY takes all.")
        return cleaned


class RaiseCapsForm(forms.Form):
    """Higher caps for a paused pass. Blank ones stay as they are."""

    max_calls = forms.IntegerField(label="At most so many calls", min_value=1, required=False)
    max_cost = forms.DecimalField(
        label="At most so much money", min_value=0, decimal_places=2, required=False
    )


class RerunForm(RaiseCapsForm):
    """Caps for judging what is missing, and whether rows that stopped workers go along."""

    with_poison = forms.BooleanField(label="Also the rows that stopped several workers", required=False)


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


class AdoptRuleForm(forms.Form):
    """The rule of a report, and the name to keep it under."""

    rule = forms.CharField(max_length=MAX_RULE_CHARACTERS)
    name = forms.CharField(max_length=64, strip=True)
