"""Texts, pace and care of a campaign, and its training and gold items."""

from typing import Any

from django import forms

from annotation.campaigns.known_answers import Place
from annotation.campaigns.planning import Pace
from annotation.campaigns.texts import Texts
from annotation.choices import ItemKind, Rating
from annotation.models import LEAST_MILD, MOST_MILD, USUAL_MILDNESS, Campaign

NOT_HERE = "OUT"
MILDNESS_WORDS = {LEAST_MILD: "gravest", USUAL_MILDNESS: "usual", MOST_MILD: "mildest"}


class TextsForm(forms.Form):
    """What annotators are told."""

    instructions = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 12}),
        help_text="Headings (#), lists (-), **bold** and *italic* are shown as such, links as plain words. "
        "No HTML.",
    )
    content_warning = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Read before consent. Plain text.",
    )
    consent_text = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 7}),
        help_text="Plain text. When this or the warning changes, everybody is asked again.",
    )
    support_text = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        label="More support",
        help_text="Added where the site's own support text stands in full. That one is on every page for "
        "annotators and is set by whoever runs the site. Plain text.",
    )

    @staticmethod
    def initial_of(campaign: Campaign) -> dict[str, str]:
        """The texts as they are now."""
        return {name: getattr(campaign, name) for name in TextsForm.base_fields}

    @property
    def texts(self) -> Texts:
        """What a valid form says."""
        return Texts(**self.cleaned_data)


class PaceForm(forms.Form):
    """When and how people work. `categories` are those whose mildness can be set."""

    opens_on = forms.DateField(
        required=False,
        label="First day",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="UTC. Blank: as soon as it is open.",
    )
    closes_on = forms.DateField(
        required=False,
        label="Last day",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="UTC. Blank: until it is closed.",
    )
    lease_minutes = forms.IntegerField(
        min_value=5,
        max_value=7 * 24 * 60,
        label="Minutes an item is held",
        help_text="A person who does not come back within this time lets the item go to others.",
    )
    reveals_on_tap = forms.BooleanField(
        required=False,
        label="Hide each text until the annotator asks for it",
        help_text="This gives people control over when they read. It is no protection from what they read.",
    )
    break_after_minutes = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=24 * 60,
        label="Offer a break after so many minutes",
        help_text="Blank: never by time.",
    )
    break_after_grave = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Offer a break after so many items of grave categories",
        help_text="Categories of mildness 1 and 2 are grave. Blank: never by items.",
    )
    daily_cap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000,
        label="Items shown to one person in a day, at most",
        help_text="A day in UTC. Blank: no cap.",
    )
    session_cap = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=10_000,
        label="Items shown to one person in one sitting, at most",
        help_text="Blank: no cap.",
    )

    def __init__(self, *args: Any, campaign: Campaign, categories: dict[str, int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.base_fields:
            self.fields[name].initial = getattr(campaign, name)
        self.category_fields = {f"mildness_{place}": category for place, category in enumerate(categories)}
        for name, category in self.category_fields.items():
            self.fields[name] = forms.TypedChoiceField(
                choices=[(step, _mildness_words(step)) for step in range(LEAST_MILD, MOST_MILD + 1)],
                coerce=int,
                initial=categories[category],
                label=category,
            )

    @property
    def general(self) -> list[forms.BoundField]:
        """The fields that are about no category."""
        return [self[name] for name in self.base_fields]

    @property
    def by_category(self) -> list[forms.BoundField]:
        """The mildness of each category."""
        return [self[name] for name in self.category_fields]

    @property
    def pace(self) -> Pace:
        """What a valid form asks for."""
        general = {name: self.cleaned_data[name] for name in self.base_fields}
        mildness = {category: self.cleaned_data[name] for name, category in self.category_fields.items()}
        return Pace(**general, mildness=mildness)


class KnownAnswerForm(forms.Form):
    """What one response is in a campaign, and the answer that is expected."""

    kind = forms.ChoiceField(
        choices=[
            (NOT_HERE, "not in this campaign"),
            (ItemKind.REGULAR, "a regular item"),
            (ItemKind.TRAINING, "a training item, answered with feedback"),
            (ItemKind.GOLD, "a gold item, silently among the others"),
        ],
        label="In this campaign it is",
    )
    expected_rating = forms.ChoiceField(
        choices=[("", "none"), *Rating.choices], required=False, label="Expected answer"
    )
    feedback = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Said after the answer",
        help_text="Only of a training item.",
    )

    @property
    def place(self) -> Place:
        """What a valid form asks for."""
        values = self.cleaned_data
        return Place(
            kind=None if values["kind"] == NOT_HERE else ItemKind(values["kind"]),
            expected_rating=Rating(values["expected_rating"]) if values["expected_rating"] else None,
            feedback=values["feedback"],
        )

    @property
    def place_in_words(self) -> str:
        """The chosen kind as the form names it."""
        return dict(self.fields["kind"].choices)[self.cleaned_data["kind"]]  # type: ignore[attr-defined]


class PassMarkForm(forms.Form):
    """How well the training items must go."""

    pass_mark = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        label="Pass mark in per cent of the training items",
        help_text="Who stays below it goes through them again. Blank: everybody goes on.",
    )


def _mildness_words(step: int) -> str:
    return f"{step} ({MILDNESS_WORDS[step]})" if step in MILDNESS_WORDS else str(step)
