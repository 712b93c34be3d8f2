"""What a researcher chooses when starting a pass, in the shape of `PassRequest`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms import BoundField
from django.utils.datastructures import MultiValueDict

from annotation.models import Benchmark, Campaign
from judging.choices import AnswerForm, EmptyPolicy, ExclusionPolicy, RubricScale
from judging.forms.offered import offered_words
from judging.llm.offers import OfferedModel
from judging.passes.configuration import MAX_SHOTS
from judging.passes.starting import DEFAULT_EMBEDDER, PassRequest
from judging.rubrics import DEFAULT_RUBRIC, OfferedRubric


@dataclass(frozen=True)
class Section:
    """Fields that belong together, under one heading."""

    title: str
    fields: Sequence[BoundField]


class CampaignChoiceField(forms.ModelChoiceField):
    """A campaign, shown by its name."""

    def label_from_instance(self, obj: Campaign) -> str:
        return obj.name


class ChoiceWithDefault(forms.ChoiceField):
    """A choice whose first value also stands for none, as a script may leave it out."""

    def __init__(self, choices: Sequence[tuple[str, Any]], *, label: str, help_text: str) -> None:
        super().__init__(choices=choices, label=label, help_text=help_text, initial=str(choices[0][0]))

    def clean(self, value: Any) -> str:
        return super().clean(value or self.initial)


class StartPassForm(forms.Form):
    """What a pass is to do. The cleaned data are the fields of `PassRequest`."""

    judges = forms.MultipleChoiceField(label="Judges", widget=forms.CheckboxSelectMultiple)
    rubric = forms.ChoiceField(
        label="Rubric",
        help_text="What each judge is asked. Rubrics never change; a new version has a new name.",
    )
    output = ChoiceWithDefault(
        AnswerForm.choices,
        label="Answers as",
        help_text="Both are read by the same rules. A model that refuses a schema is asked for a text.",
    )
    shots = forms.IntegerField(
        label="Exemplars of each kind",
        min_value=0,
        max_value=MAX_SHOTS,
        initial=2,
        help_text="The nearest labelled responses, never the case itself, are shown to the judge. 0: none.",
    )
    embedder = ChoiceWithDefault(
        [(DEFAULT_EMBEDDER, "TF-IDF: words in common, worked out here")],
        label="Nearness by",
        help_text="How like two responses are. Models of the endpoints file cost a little for each text.",
    )
    exclusion = ChoiceWithDefault(
        ExclusionPolicy.choices,
        label="The case itself is",
        help_text="Copies under another id and near copies are left out either way.",
    )
    pool_campaign = CampaignChoiceField(
        label="Exemplars from the labels of",
        queryset=Campaign.objects.none(),
        required=False,
        empty_label="every campaign",
    )
    campaign = CampaignChoiceField(
        label="Only the responses of",
        queryset=Campaign.objects.none(),
        required=False,
        empty_label="the whole benchmark",
    )
    limit = forms.IntegerField(
        label="Only the first responses",
        min_value=1,
        required=False,
        help_text="In the order of import, to try things out. It is no sample.",
    )
    empty_policy = ChoiceWithDefault(
        EmptyPolicy.choices,
        label="An empty response is",
        help_text="A response that failed to generate is never judged, whatever is chosen here.",
    )
    max_calls = forms.IntegerField(
        label="At most so many calls",
        min_value=1,
        required=False,
        help_text="The pass pauses there. Retries count.",
    )
    max_cost = forms.DecimalField(
        label="At most so much money",
        min_value=0,
        decimal_places=2,
        required=False,
        help_text="In the unit of the endpoints file's prices, which must be known for every judge.",
    )
    again = forms.BooleanField(
        label="Judge again although this configuration is finished",
        required=False,
        help_text="Otherwise you are led to the finished pass, and nothing is called.",
    )

    SECTIONS: Mapping[str, tuple[str, ...]] = {
        "What judges are asked": ("judges", "rubric", "output"),
        "What they are shown beside it": ("shots", "embedder", "exclusion", "pool_campaign"),
        "Which responses": ("campaign", "limit", "empty_policy"),
        "Where it stops": ("max_calls", "max_cost", "again"),
    }

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        judges: Sequence[OfferedModel],
        rubrics: Sequence[OfferedRubric],
        embedders: Sequence[OfferedModel],
        benchmark: Benchmark,
    ) -> None:
        super().__init__(data)
        self._set_choices("judges", [(judge.slug, offered_words(judge)) for judge in judges])
        self._set_choices("rubric", [(rubric.slug, _rubric_words(rubric)) for rubric in rubrics])
        self._set_choices("embedder", [(embedder.slug, _embedder_words(embedder)) for embedder in embedders])
        self.fields["judges"].initial = [judge.slug for judge in judges if judge.has_key]
        self.fields["rubric"].initial = DEFAULT_RUBRIC
        campaigns = Campaign.objects.filter(benchmark=benchmark).order_by("name", "pk")
        for name in ("campaign", "pool_campaign"):
            field = self.fields[name]
            if isinstance(field, forms.ModelChoiceField):
                field.queryset = campaigns

    def clean_judges(self) -> tuple[str, ...]:
        return tuple(self.cleaned_data["judges"])

    @property
    def request(self) -> PassRequest:
        """What a valid form asks for."""
        return PassRequest(**self.cleaned_data)

    @property
    def sections(self) -> list[Section]:
        """The fields in the order in which a person decides."""
        return [Section(title, [self[name] for name in names]) for title, names in self.SECTIONS.items()]

    @property
    def sent(self) -> list[tuple[str, str]]:
        """Name and value of everything that was chosen, to be sent again as it is."""
        data = self.data
        if not isinstance(data, MultiValueDict):
            return []
        return [(name, value) for name in self.fields for value in data.getlist(name) if value]

    @property
    def in_words(self) -> list[tuple[str, str]]:
        """Label and choice of every field of a valid form that has a value."""
        return [(str(field.label), words) for field in self if (words := ", ".join(self._words(field)))]

    def _words(self, field: BoundField) -> Iterator[str]:
        value = self.cleaned_data[field.name]
        if isinstance(field.field, forms.ModelChoiceField):
            yield value.name if value else str(field.field.empty_label)
        elif isinstance(field.field, forms.ChoiceField):
            chosen = value if isinstance(value, tuple) else (value,)
            # The widget's copy is a plain list, also where the field's would be worked out anew.
            yield from (str(words) for code, words in field.field.widget.choices if code in chosen)
        elif value is True:
            yield "yes"
        elif value not in (None, False):
            yield str(value)

    def _set_choices(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        if isinstance(field, forms.ChoiceField):
            field.choices = choices


def _embedder_words(embedder: OfferedModel) -> str:
    if embedder.endpoint_name is None:
        return f"{embedder.short_name}, words in common, worked out here"
    return offered_words(embedder)


def _rubric_words(rubric: OfferedRubric) -> str:
    asks = "flag or no flag"
    if rubric.scale == RubricScale.LIKERT:
        asks = "two scores of 1-5" if rubric.asks_jailbreak else "one score of 1-5"
    return f"{rubric.slug} ({asks}{'' if rubric.takes_exemplars else ', no place for exemplars'})"
