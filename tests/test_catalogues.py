"""The catalogues are complete, compiled, and keep what a text must keep."""

import pytest
from django.conf import settings

from tests.catalogues import PLACEHOLDER, Entry, compiled, entries, texts_in_sources

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
MAKE = "run `make messages`, translate what is new, run it again"


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_holds_every_text_of_the_pages(language: str) -> None:
    known = {entry.text.key for entry in entries(language)}

    missing = {text.singular: path for text, path in texts_in_sources().items() if text.key not in known}

    assert missing == {}, MAKE


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_is_translated_for_certain(language: str) -> None:
    open_texts = [
        entry.text.singular
        for entry in entries(language)
        if entry.is_doubtful or not all(entry.translations) or not entry.translations
    ]

    assert open_texts == [], MAKE


@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_catalogue_is_that_of_the_translators(language: str) -> None:
    written = {entry.text.key: sorted(entry.translations) for entry in entries(language)}

    assert {key: sorted(words) for key, words in compiled(language).items()} == written, MAKE


@pytest.mark.parametrize("language", LANGUAGES)
def test_translation_keeps_the_placeholders_of_its_text(language: str) -> None:
    changed = [entry.text.singular for entry in entries(language) if not _keeps_placeholders(entry)]

    assert changed == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_translation_brings_no_markup_that_its_text_lacks(language: str) -> None:
    changed = [
        entry.text.singular
        for entry in entries(language)
        if any(("<" in words) != ("<" in entry.text.singular) for words in entry.translations)
    ]

    assert changed == []


def test_texts_of_the_pages_are_found_in_templates_and_code() -> None:
    found = {text.singular for text in texts_in_sources()}

    assert {"Skip to the content", "Too distressing"} <= found


def _keeps_placeholders(entry: Entry) -> bool:
    """Each form has the source's placeholders; a form for one or two things may leave the number out."""
    wanted = set(PLACEHOLDER.findall(entry.text.plural or entry.text.singular))
    if entry.text.plural is None:
        return set(PLACEHOLDER.findall(entry.translations[0])) == wanted
    forms = [set(PLACEHOLDER.findall(words)) for words in entry.translations]
    return all(form <= wanted for form in forms) and forms[-1] == wanted
