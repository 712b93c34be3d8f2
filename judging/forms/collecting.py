"""What researchers choose when they collect responses, checked and put into the shape of the request."""

from collections.abc import Sequence
from typing import Any

from django import forms

from judging.collecting.planning import (
    MAX_TOKENS,
    MOST_ROLLOUTS,
    MOST_SYSTEM_PROMPT_CHARACTERS,
    MOST_TEMPERATURE,
    MOST_TOKENS,
    CollectionRequest,
)
from judging.forms.offered import offered_words
from judging.llm.offers import OfferedModel


class CollectForm(forms.Form):
    """What a collection is to ask for. The cleaned data are the fields of `CollectionRequest`."""

    models = forms.MultipleChoiceField(label="Target models", widget=forms.CheckboxSelectMultiple)
    rollouts = forms.IntegerField(
        label="Rollouts",
        min_value=1,
        max_value=MOST_ROLLOUTS,
        initial=1,
        help_text="Responses of each model to each prompt. Those that are there already count.",
    )
    limit = forms.IntegerField(
        label="Only the first prompts",
        min_value=1,
        required=False,
        help_text="In the order of import, to try things out. It is no sample.",
    )
    max_tokens = forms.IntegerField(
        label="Most tokens of an answer",
        min_value=1,
        max_value=MOST_TOKENS,
        initial=MAX_TOKENS,
        help_text="Hidden reasoning counts. An answer that reaches it is kept, marked as cut off.",
    )
    temperature = forms.DecimalField(
        label="Temperature",
        min_value=0,
        max_value=MOST_TEMPERATURE,
        max_digits=4,
        decimal_places=3,
        required=False,
        help_text="Blank: the provider's own, which is how people meet the model.",
    )
    system_prompt = forms.CharField(
        label="System prompt",
        max_length=MOST_SYSTEM_PROMPT_CHARACTERS,
        strip=False,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Sent before every prompt. Blank: none, and the prompt is all that a model sees.",
    )
    max_calls = forms.IntegerField(
        label="At most so many calls",
        min_value=1,
        required=False,
        help_text="The collection pauses there. Retries count.",
    )
    max_cost = forms.DecimalField(
        label="At most so much money",
        min_value=0,
        decimal_places=2,
        required=False,
        help_text="In the unit of the endpoints file's prices, which must be known for every model.",
    )

    def __init__(self, *args: Any, targets: Sequence[OfferedModel], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = self.fields["models"]
        if isinstance(models, forms.MultipleChoiceField):
            models.choices = [(target.slug, offered_words(target)) for target in targets]

    def clean_models(self) -> tuple[str, ...]:
        return tuple(self.cleaned_data["models"])

    def clean_system_prompt(self) -> str | None:
        """None when it is blank. A browser sends line ends as CR LF; the text has plain ones."""
        text = self.cleaned_data["system_prompt"].replace("\r\n", "\n")
        return text if text.strip() else None

    def to_request(self) -> CollectionRequest:
        """The request that the form asks for; only of a valid form."""
        return CollectionRequest(**self.cleaned_data)


class CollectLinkForm(forms.Form):
    """The choices that a link to the form brings with it."""

    model = forms.MultipleChoiceField(required=False)
    rollouts = forms.IntegerField(min_value=1, max_value=MOST_ROLLOUTS, required=False)

    def __init__(self, *args: Any, targets: Sequence[OfferedModel], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        models = self.fields["model"]
        if isinstance(models, forms.MultipleChoiceField):
            models.choices = [(target.slug, target.slug) for target in targets]

    def initial_choices(self) -> dict[str, Any]:
        """Initial values of `CollectForm`; only of a valid form."""
        return {"models": self.cleaned_data["model"], "rollouts": self.cleaned_data["rollouts"] or 1}
