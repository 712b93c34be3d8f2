"""The language in which a person reads."""

from django.conf import settings

from annotation.errors import DomainError
from annotation.models import Account


class UnknownLanguage(DomainError):
    """A language that the site does not speak."""

    code = "unknown_language"


def choose_language(*, account: Account, language: str) -> None:
    """Remember the language on the account, so that it holds on every device.

    Args:
        account: anybody's own.
        language: one of the codes in the setting LANGUAGES.

    Raises:
        UnknownLanguage: it is another one; nothing is changed.
    """
    require_known(language)
    Account.objects.filter(pk=account.pk).update(language=language)


def require_known(language: str) -> None:
    """Check that the site speaks the language.

    Raises:
        UnknownLanguage: it does not.
    """
    known = dict(settings.LANGUAGES)
    if language not in known:
        raise UnknownLanguage(
            f"The language {language[:16]!r} is not known here; expected one of {', '.join(known)}."
        )
