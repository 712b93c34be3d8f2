"""How a person wants texts to look: size, colours, plain or with markdown. It holds on every device."""

from annotation.choices import TextSize, TextView, Theme
from annotation.models import Account


def change_look(
    *,
    account: Account,
    text_size: TextSize | None = None,
    theme: Theme | None = None,
    text_view: TextView | None = None,
) -> None:
    """Remember the choices that are given; the others stay. One query.

    Args:
        account: anybody's own.

    Raises:
        ValueError: a choice that does not exist; nothing is changed.
    """
    chosen = {
        "text_size": TextSize(text_size) if text_size else None,
        "theme": Theme(theme) if theme else None,
        "text_view": TextView(text_view) if text_view else None,
    }
    changes = {name: value for name, value in chosen.items() if value is not None}
    if changes:
        Account.objects.filter(pk=account.pk).update(**changes)
