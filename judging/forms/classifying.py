"""What researchers choose when they start a classification, checked."""

from collections.abc import Sequence
from typing import Any

from django import forms

from judging.classifying import ClassificationRequest
from judging.llm.offers import OfferedModel
from judging.models import JudgePass


class ClassifyForm(forms.Form):
    """The classifier and the caps; pass and rule are those of the page."""

    classifier = forms.ChoiceField(label="Classifier")
    max_calls = forms.IntegerField(
        label="At most so many calls",
        min_value=1,
        required=False,
        help_text="The classification pauses there. Retries count.",
    )
    max_cost = forms.DecimalField(
        label="At most so much money",
        min_value=0,
        decimal_places=2,
        required=False,
        help_text="In the unit of the endpoints file's prices, which must be known.",
    )

    def __init__(self, *args: Any, classifiers: Sequence[OfferedModel], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["classifier"]
        if isinstance(field, forms.ChoiceField):
            field.choices = [(offered.slug, _words(offered)) for offered in classifiers]

    def to_request(self, *, judge_pass: JudgePass | None, rule: str | None) -> ClassificationRequest:
        """The request to classify what the page grades."""
        return ClassificationRequest(judge_pass=judge_pass, rule=rule, **self.cleaned_data)


def _words(offered: OfferedModel) -> str:
    missing = "" if offered.has_key else " (its key is not set)"
    return f"{offered.slug} at {offered.endpoint_name}{missing}"
