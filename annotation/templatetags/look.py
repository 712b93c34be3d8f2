"""How a person's pages look, and the name under which their device keeps what is not sent yet."""

from dataclasses import dataclass

from django import template
from django.db.models import TextChoices
from django.utils.crypto import salted_hmac
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.choices import TextSize, TextView, Theme
from annotation.models import Account

register = template.Library()

DEVICE_KEY_LENGTH = 16


@dataclass(frozen=True)
class LookChoice:
    """One thing that a person may choose about the look of their pages."""

    name: str
    label: Promise
    options: list[tuple[str, str]]
    chosen: str


@register.simple_tag
def look_choices(account: Account) -> list[LookChoice]:
    """What may be chosen, and what the account has chosen."""
    asked: list[tuple[str, Promise, type[TextChoices]]] = [
        ("text_size", _("Size"), TextSize),
        ("theme", _("Colours"), Theme),
        ("text_view", _("The texts"), TextView),
    ]
    return [
        LookChoice(name, label, list(known.choices), getattr(account, name)) for name, label, known in asked
    ]


@register.simple_tag
def device_key(account: Account) -> str:
    """A name for the account that says nothing about it: the same each time, another for each person.

    Two people may use one device. Answers that wait there are sent by the one who gave them.
    """
    return salted_hmac("carebench.device", str(account.pk), algorithm="sha256").hexdigest()[
        :DEVICE_KEY_LENGTH
    ]
