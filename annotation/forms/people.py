"""Adding people to a campaign."""

from typing import Any, cast

from django import forms

from annotation.choices import AnnotatorType, Role
from annotation.models import (
    Account,
    Campaign,
)


class AddAnnotatorForm(forms.Form):
    """An account to add to a campaign."""

    account = forms.ModelChoiceField(queryset=Account.objects.none(), empty_label="Choose an account")
    annotator_type = forms.ChoiceField(choices=AnnotatorType.choices, label="Kind of rater")

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.ModelChoiceField, self.fields["account"])
        field.queryset = (
            Account.objects.filter(role=Role.ANNOTATOR, is_active=True)
            .exclude(annotators__memberships__campaign=campaign)
            .order_by("username")
        )
