"""People of a campaign: adding and inviting them, what they agree to, what they do not read."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.campaigns import MOST_DAYS, MOST_INVITATIONS_AT_ONCE, USUAL_DAYS
from annotation.choices import AnnotatorType, Role
from annotation.models import Account, Campaign


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


class InviteForm(forms.Form):
    """How many links for whom."""

    prefix = "invite"

    annotator_type = forms.ChoiceField(choices=AnnotatorType.choices, label="Kind of rater")
    n_people = forms.IntegerField(
        initial=1, min_value=1, max_value=MOST_INVITATIONS_AT_ONCE, label="Number of links"
    )
    n_days = forms.IntegerField(
        initial=USUAL_DAYS, min_value=1, max_value=MOST_DAYS, label="Days until they end"
    )


class PasswordForm(forms.Form):
    """The password of a person who comes by an invitation. `accept_invitation` checks the rules."""

    password = forms.CharField(
        label=_("Choose a password"),
        help_text=_("At least 10 characters. Three or four words that you can remember are good."),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )


class ConsentForm(forms.Form):
    """Which text the person read, as its hash."""

    read = forms.CharField(max_length=64, widget=forms.HiddenInput)


class ThemesForm(forms.Form):
    """The themes that a person does not want to read."""

    not_read = forms.MultipleChoiceField(
        required=False,
        label=_("I do not want to read about"),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, risk_categories: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast(forms.MultipleChoiceField, self.fields["not_read"])
        field.choices = [(category, category) for category in risk_categories]
