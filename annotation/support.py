"""What every page for annotators carries: where to find support, and what to do for a real child."""

from django.conf import settings
from django.utils.translation import get_language, gettext_lazy

DEFAULT_SUPPORT_TEXT = gettext_lazy(
    "If something you have read stays with you, take a break and talk with someone you trust. If you or "
    "someone near you is in danger, call your local emergency number. Child helplines in many countries are "
    "listed at childhelplineinternational.org."
)
DEFAULT_REPORT_TEXT = gettext_lazy(
    "These texts are part of a study, and most of them are made up. If one makes you think that a real child "
    "is being harmed or is in danger, tell the person who runs the study at once: flag the text, or use the "
    "contact they gave you. If the danger seems immediate, call your local emergency number first. Please do "
    "not copy the text, and do not look for the people in it yourself."
)


def support_text() -> str:
    """Where a person finds support: the deployer's text in the page's language, or a general one."""
    return _in_language(settings.SUPPORT_TEXTS) or str(DEFAULT_SUPPORT_TEXT)


def report_text() -> str:
    """What to do when a text seems to be about a real child in danger, as `support_text`."""
    return _in_language(settings.REPORT_TEXTS) or str(DEFAULT_REPORT_TEXT)


def _in_language(texts: dict[str, str]) -> str | None:
    """The text for the active language, else the one for every language."""
    return texts.get(get_language() or "", texts.get(""))
