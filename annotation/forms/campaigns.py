"""Choosing responses for a campaign, and the labels that it asks for; moving it."""

from typing import Any, cast

from django import forms

from annotation.campaigns.planning import LabelPlan
from annotation.choices import Allocation, AnnotatorType, CampaignState, Scale, Strata, WithdrawalPolicy
from annotation.models import Benchmark, Campaign
from annotation.selectors.responses import choose_responses, offered_filters

MAX_LABELS_PER_RESPONSE = 20
BY_FILTERS = "filters"


class ResponsesForm(forms.Form):
    """Which responses a campaign is about."""

    name = forms.CharField(
        max_length=200, help_text="For researchers. Annotators do not see it, so it may name a model."
    )
    risk_categories = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None chosen means all."
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
        help_text="Drawn at random from the choice above. Blank takes all of it.",
    )
    strata = forms.ChoiceField(
        choices=Strata.choices, initial=Strata.NONE, required=False, label="Draw them from"
    )
    allocation = forms.ChoiceField(
        choices=Allocation.choices,
        initial=Allocation.EQUAL,
        required=False,
        label="From each group",
        help_text="Only where they are drawn from groups. What a small group lacks comes from the others.",
    )
    seed = forms.IntegerField(
        required=False, initial=0, min_value=0, help_text="The same seed draws the same responses."
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        for name, values in offered_filters(benchmark).items():
            field = cast(forms.MultipleChoiceField, self.fields[name])
            field.choices = [(value, value) for value in values]

    @staticmethod
    def initial_of(campaign: Campaign) -> dict[str, Any]:
        """The name, and the choice as it was made here; a choice made elsewhere begins anew."""
        selection = campaign.selection or {}
        chosen = selection if selection.get("chosen_by") == BY_FILTERS else {}
        return {"name": campaign.name, **chosen}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.errors:
            return values
        choice = {
            "n_at_most": values["n_at_most"],
            "strata": values["strata"] or Strata.NONE,
            "allocation": values["allocation"] or Allocation.EQUAL,
            "seed": values["seed"] or 0,
            "risk_categories": values["risk_categories"],
            "rollouts": values["rollouts"],
        }
        values["responses"] = choose_responses(self.benchmark, model_slugs=values["models"], **choice)
        values["selection"] = choice | {"chosen_by": BY_FILTERS, "models": values["models"]}
        if not values["responses"]:
            raise forms.ValidationError(
                "No response with a text fits this choice. Choose more categories, models or rollouts."
            )
        return values

    @property
    def chosen(self) -> dict[str, Any]:
        """Of a valid form: name, responses and selection, as the domain takes them."""
        return {name: self.cleaned_data[name] for name in ("name", "responses", "selection")}


class LabelsForm(forms.Form):
    """How many labels, from whom, on which scale, and what becomes of them."""

    scale = forms.ChoiceField(choices=Scale.choices, label="What is asked")
    labels_per_response = forms.IntegerField(
        min_value=1,
        max_value=MAX_LABELS_PER_RESPONSE,
        help_text="How many different people label each response. Agreement between people needs two.",
    )
    repeat_percent = forms.IntegerField(
        min_value=0,
        max_value=100,
        label="Per cent of a person's items that come again",
        help_text="Unannounced, to see whether the person answers the same. Kept out of agreement. 0: none.",
    )
    repeat_after_days = forms.IntegerField(
        min_value=1, max_value=365, label="Days after which they come again"
    )
    withdrawal_policy = forms.ChoiceField(
        choices=WithdrawalPolicy.choices,
        widget=forms.RadioSelect,
        label="When a person withdraws, their labels are",
        help_text="Stated beside the consent text, so it cannot change once the campaign is open.",
    )
    adjudication_overrides = forms.BooleanField(
        required=False, label="An adjudicator's decision takes the place of people's consensus"
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        quotas = dict(campaign.quotas.values_list("annotator_type", "n_labels"))
        for kind in AnnotatorType:
            self.fields[_quota_name(kind)] = forms.IntegerField(
                required=False,
                min_value=0,
                max_value=MAX_LABELS_PER_RESPONSE,
                initial=quotas.get(kind),
                label=f"Labels from raters of kind: {kind.label}",
            )
        for name in self.fields.keys() & vars(campaign).keys():
            self.fields[name].initial = getattr(campaign, name)
        kinds = [_quota_name(kind) for kind in AnnotatorType]
        self.order_fields(["scale", "labels_per_response", *kinds])

    @property
    def plan(self) -> LabelPlan:
        """What a valid form asks for."""
        values = self.cleaned_data
        return LabelPlan(
            scale=Scale(values["scale"]),
            labels_per_response=values["labels_per_response"],
            quotas={kind: n for kind in AnnotatorType if (n := values[_quota_name(kind)])},
            repeat_percent=values["repeat_percent"],
            repeat_after_days=values["repeat_after_days"],
            withdrawal_policy=WithdrawalPolicy(values["withdrawal_policy"]),
            adjudication_overrides=values["adjudication_overrides"],
        )


class CampaignStateForm(forms.Form):
    """The state a researcher asks for."""

    state = forms.ChoiceField(
        choices=[
            (state.value, state.label)
            for state in (CampaignState.OPEN, CampaignState.PAUSED, CampaignState.CLOSED)
        ]
    )


def _quota_name(kind: AnnotatorType) -> str:
    return f"from_{kind.lower()}"
