"""The rule that a benchmark is to follow."""

from django import forms

from judging.reports import MAX_RULE_CHARACTERS


class AdoptRuleForm(forms.Form):
    """The rule of a report, and the name to keep it under."""

    rule = forms.CharField(max_length=MAX_RULE_CHARACTERS)
    name = forms.CharField(max_length=64, strip=True)
