"""Files that a researcher hands over, and what is said about them."""

import codecs
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from judging.importing.files import IMPORTED_PASS_NAME, BenchmarkNotices

ENCODINGS = (
    ("utf-8", "UTF-8"),
    ("cp1252", "Windows Western (cp1252)"),
    ("latin-1", "Latin 1 (ISO 8859-1)"),
    ("utf-16", "UTF-16"),
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
