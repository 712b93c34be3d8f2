"""Which responses a campaign asks about, by what judges said of them."""

from decimal import Decimal
from typing import Any, cast

from django import forms

from annotation.models import Benchmark, Prompt, TargetModel
from judging.choices import Disagreement
from judging.choosing import ScoreCriteria, ScoredChoice, choose_by_scores
from judging.errors import DomainError
from judging.reports import fitting_rules
from judging.selectors import default_pass, find_pass, judges_of, passes_of

HIGHEST_SCORE = Decimal(5)


def _score_field(label: str, help_text: str = "") -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=0,
        max_value=HIGHEST_SCORE,
        max_digits=6,
        decimal_places=4,
        help_text=help_text,
    )


class ScoreChoiceForm(forms.Form):
    """A choice of responses; `chosen` is what it comes to."""

    judge_pass = forms.ChoiceField(label="Pass", required=False, help_text="Whose scores count.")
    rule = forms.ChoiceField(label="Rule", required=False)
    score_from = _score_field(
        "Weighted score from", "Ends included. A response with a judge missing has none."
    )
    score_to = _score_field("Weighted score to")
    near_threshold = _score_field(
        "At most this far from the threshold", "On the scale of the scores: 0.3, say."
    )
    disagreement = forms.ChoiceField(
        label="Disagreement of judges",
        required=False,
        choices=[("", "does not matter"), *Disagreement.choices],
    )
    risk_categories = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None chosen means all."
    )
    models = forms.MultipleChoiceField(
        label="Target models",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen means all.",
    )
    n_at_most = forms.IntegerField(
        label="At most this many responses",
        required=False,
        min_value=1,
        help_text="Drawn at random from those that fit.",
    )
    seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31, help_text="The same seed draws the same responses."
    )
    name = forms.CharField(
        label="Name of the campaign",
        max_length=200,
        required=False,
        help_text="Needed for the draft. For researchers; annotators do not see it.",
    )
    chosen: ScoredChoice

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        standing = default_pass(benchmark)
        rules = fitting_rules(benchmark, judges_of(standing))
        self._offer(
            "judge_pass",
            [("", "the newest finished"), *((p.public_id, p.name) for p in passes_of(benchmark))],
        )
        self._offer("rule", [("", "the default"), *((name, name) for name in rules)])
        categories = Prompt.objects.filter(benchmark=benchmark).order_by("risk_category")
        models = TargetModel.objects.filter(responses__prompt__benchmark=benchmark).order_by("slug")
        for field, values in (
            ("risk_categories", categories.values_list("risk_category", flat=True).distinct()),
            ("models", models.values_list("slug", flat=True).distinct()),
        ):
            self._offer(field, [(value, value) for value in values])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        cast(forms.ChoiceField, self.fields[name]).choices = choices

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.errors:
            return values
        low, high = values["score_from"], values["score_to"]
        if low is not None and high is not None and low > high:
            raise forms.ValidationError(f"The score band runs from {low} to {high}. Swap the two.")
        wanted = values["disagreement"]
        criteria = ScoreCriteria(
            judge_pass=find_pass(self.benchmark, values["judge_pass"]) if values["judge_pass"] else None,
            rule=values["rule"] or None,
            score_from=low,
            score_to=high,
            near_threshold=values["near_threshold"],
            disagreement=Disagreement(wanted) if wanted else None,
            risk_categories=values["risk_categories"],
            models=values["models"],
            n_at_most=values["n_at_most"],
            seed=values["seed"] or 0,
        )
        if self.makes_a_draft and not values["name"]:
            self.add_error("name", "The draft needs a name. Write one, then make it.")
        try:
            self.chosen = choose_by_scores(self.benchmark, criteria)
        except DomainError as error:
            raise forms.ValidationError(error.message, code=error.code) from error
        if self.makes_a_draft and not self.chosen.response_ids:
            raise forms.ValidationError(
                f"None of the {self.chosen.n_considered:,} readable responses fits this choice. Widen it."
            )
        return values

    @property
    def makes_a_draft(self) -> bool:
        """False when the choice is only to be counted."""
        return self.data.get("step") == "draft"
