"""What a researcher types when writing a version of a rubric."""

from typing import Any

from django import forms

from judging.errors import DomainError
from judging.models import Rubric
from judging.rubrics import MAX_CHARACTERS, MAX_NAME_CHARACTERS


class RubricForm(forms.Form):
    """Name and text of the next version. The domain checks both; what it refuses stays in its field."""

    name = forms.CharField(
        label="Name",
        max_length=MAX_NAME_CHARACTERS,
        help_text="The next version of this name is stored. A new name begins with version 1.",
    )
    text = forms.CharField(
        label="Text",
        strip=False,
        widget=forms.Textarea(attrs={"rows": 28, "spellcheck": "true", "class": "rubric-text"}),
        help_text=(
            "Sections begin with a line such as === user ===: scale, system, user, and where wanted exemplar "
            "and repair. The user section holds {{prompt}} and {{response}}, and where wanted "
            f"{{{{risk_category}}}} and {{{{exemplars}}}}. At most {MAX_CHARACTERS:,} characters."
        ),
    )

    @classmethod
    def to_edit(cls, parent: Rubric) -> "RubricForm":
        """A form that holds the text of another version."""
        return cls(initial={"name": parent.name, "text": parent.text})

    def refuse(self, error: DomainError) -> None:
        """Put the refusal of the domain beside the field that it speaks of."""
        self.add_error("name" if error.code == "bad_rubric_name" else "text", error.message)

    def clean_text(self) -> Any:
        # Django passes a browser's line ends on; the same text must have the same hash however it came.
        return self.cleaned_data["text"].replace("\r\n", "\n")
