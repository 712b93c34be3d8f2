"""Making and moving a campaign."""

from typing import Any, cast

from django import forms

from annotation import protocol
from annotation.choices import CampaignState, Scale
from annotation.models import (
    Benchmark,
    Prompt,
    Response,
    TargetModel,
)
from annotation.selectors import choose_responses

MAX_LABELS_PER_RESPONSE = 20


class CampaignForm(forms.Form):
    """One simple campaign made from a choice of responses."""

    name = forms.CharField(
        max_length=200, help_text="For researchers. Annotators do not see it, so it may name a model."
    )
    risk_categories = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all.",
    )
    models = forms.MultipleChoiceField(
        required=False,
        label="Target models",
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all. Annotators never see which model answered.",
    )
    rollouts = forms.TypedMultipleChoiceField(
        required=False,
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all, with responses outside any rollout.",
    )
    n_at_most = forms.IntegerField(
        required=False,
        min_value=1,
        label="At most this many responses",
        help_text="Drawn at random from the choice above.",
    )
    seed = forms.IntegerField(
        required=False,
        initial=0,
        min_value=0,
        help_text="The same seed draws the same responses.",
    )
    labels_per_response = forms.IntegerField(
        initial=2,
        min_value=1,
        max_value=MAX_LABELS_PER_RESPONSE,
        help_text="How many different people label each response. Agreement between people needs two.",
    )
    scale = forms.ChoiceField(choices=Scale.choices, initial=Scale.BINARY_AND_SEVERITY, label="What is asked")
    lease_minutes = forms.IntegerField(
        initial=60,
        min_value=5,
        max_value=7 * 24 * 60,
        label="Minutes an item is held",
        help_text="A person who does not come back within this time lets the item go to others.",
    )
    reveals_on_tap = forms.BooleanField(
        required=False, initial=True, label="Hide each text until the annotator asks for it"
    )
    instructions = forms.CharField(
        initial=protocol.INSTRUCTIONS, widget=forms.Textarea(attrs={"rows": 8}), help_text="Plain text."
    )
    content_warning = forms.CharField(
        initial=protocol.CONTENT_WARNING, widget=forms.Textarea(attrs={"rows": 4})
    )
    consent_text = forms.CharField(initial=protocol.CONSENT_TEXT, widget=forms.Textarea(attrs={"rows": 5}))
    support_text = forms.CharField(
        initial=protocol.SUPPORT_TEXT,
        widget=forms.Textarea(attrs={"rows": 4}),
        label="Where annotators find support",
        help_text="Name the helplines of the annotators' own country.",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        for name, values in _choices_of(benchmark).items():
            field = cast(forms.MultipleChoiceField, self.fields[name])
            field.choices = [(value, value) for value in values]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.errors:
            return values
        values["responses"] = choose_responses(
            self.benchmark,
            risk_categories=values.pop("risk_categories"),
            model_slugs=values.pop("models"),
            rollouts=values.pop("rollouts"),
            n_at_most=values.pop("n_at_most"),
            seed=values.pop("seed") or 0,
        )
        if not values["responses"]:
            raise forms.ValidationError(
                "No response with a text fits this choice. Choose more categories, models or rollouts."
            )
        values["scale"] = Scale(values["scale"])
        return values


class CampaignStateForm(forms.Form):
    """The state a researcher asks for."""

    state = forms.ChoiceField(
        choices=[
            (state.value, state.label)
            for state in (CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED)
        ]
    )


def _choices_of(benchmark: Benchmark) -> dict[str, list[Any]]:
    """What can be chosen from; three queries."""
    responses = Response.objects.filter(prompt__benchmark=benchmark)
    return {
        "risk_categories": list(
            Prompt.objects.filter(benchmark=benchmark)
            .order_by("risk_category")
            .values_list("risk_category", flat=True)
            .distinct()
        ),
        "models": list(
            TargetModel.objects.filter(responses__prompt__benchmark=benchmark)
            .order_by("slug")
            .values_list("slug", flat=True)
            .distinct()
        ),
        "rollouts": list(
            responses.exclude(rollout=None).order_by("rollout").values_list("rollout", flat=True).distinct()
        ),
    }
