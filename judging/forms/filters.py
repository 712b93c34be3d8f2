"""What the filters of rows have in common."""

from typing import Any

from django import forms


class BenchmarkFilterForm(forms.Form):
    """Filters whose fields `model`, `category` and `judge` offer what the benchmark has."""

    def __init__(
        self, *args: Any, models: list[str], categories: list[str], judges: list[str], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for name, values in (("model", models), ("category", categories), ("judge", judges)):
            field = self.fields[name]
            if isinstance(field, forms.ChoiceField):
                field.choices = [("", "any"), *((value, value) for value in values)]
