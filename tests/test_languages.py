"""Which language a page is in, and how a person chooses another one."""

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import resolve, reverse

from annotation.languages import UnknownLanguage, choose_language
from annotation.models import Account
from carebench_web.languages import ENGLISH_ADDRESSES
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}


def choose(client: Client, language: str, *, back_to: str = "/sign-in/") -> int:
    return client.post(reverse("language"), {"language": language, "next": back_to}).status_code


def test_sign_in_page_follows_the_browser() -> None:
    reply = Client().get(reverse("login"), headers=GERMAN)

    assert reply.headers["Content-Language"] == "de"
    assert '<html lang="de" dir="ltr">' in reply.content.decode()


def test_page_says_what_its_language_depends_on() -> None:
    reply = Client().get(reverse("login"), headers=GERMAN)

    assert {"Accept-Language", "Cookie"} <= set(reply.headers["Vary"].split(", "))


def test_unknown_language_of_the_browser_becomes_english() -> None:
    reply = Client().get(reverse("login"), headers={"accept-language": "qq"})

    assert '<html lang="en" dir="ltr">' in reply.content.decode()


def test_language_is_chosen_before_signing_in_and_kept_on_the_device() -> None:
    client = Client()

    status = choose(client, "ar")

    assert status == 302
    assert '<html lang="ar" dir="rtl">' in client.get(reverse("login"), headers=GERMAN).content.decode()


def test_language_is_kept_on_the_account_for_other_devices(annotator_account: Account) -> None:
    choose(signed_in(annotator_account), "de")

    page = signed_in(annotator_account).get(reverse("annotation:home"), headers={"accept-language": "ar"})

    assert '<html lang="de"' in page.content.decode()


@pytest.mark.parametrize("language", ["", "fr", "de<script>", "EN"])
def test_unknown_language_is_refused_and_changes_nothing(annotator_account: Account, language: str) -> None:
    client = signed_in(annotator_account)

    status = choose(client, language)

    annotator_account.refresh_from_db()
    assert status == 400
    assert annotator_account.language == ""
    assert settings.LANGUAGE_COOKIE_NAME not in client.cookies


def test_choose_language_names_the_languages_that_there_are(annotator_account: Account) -> None:
    with pytest.raises(UnknownLanguage, match="'fr' is not known here; expected one of en, de, ar"):
        choose_language(account=annotator_account, language="fr")


def test_choice_of_language_leads_nowhere_else() -> None:
    reply = Client().post(reverse("language"), {"language": "de", "next": "https://elsewhere.example/label/"})

    assert reply.headers["Location"] == reverse("home")


def test_choice_of_language_is_no_link() -> None:
    assert Client().get(reverse("language")).status_code == 405


def test_choice_of_language_needs_the_token_of_our_own_form() -> None:
    assert choose(Client(enforce_csrf_checks=True), "de") == 403


def test_annotator_page_offers_each_language_in_its_own_words() -> None:
    page = Client().get(reverse("login")).content.decode()

    assert all(f'value="{code}" lang="{code}"' in page for code, _ in settings.LANGUAGES)
    assert all(name in page for _, name in settings.LANGUAGES)


@pytest.mark.parametrize("address", ["/research/", "/api/v1/labels/", "/label/manage/campaigns/x/"])
def test_researchers_pages_are_in_english_whatever_the_browser_asks(
    researcher: Account, address: str
) -> None:
    choose_language(account=researcher, language="ar")

    reply = signed_in(researcher).get(address, headers=GERMAN)

    assert reply.headers["Content-Language"] == "en"


@pytest.mark.parametrize("prefix", ENGLISH_ADDRESSES)
def test_english_addresses_are_addresses_of_the_site(prefix: str) -> None:
    examples = {"/label/manage/": "/label/manage/campaigns/x/", "/api/": "/api/v1/labels/"}

    assert resolve(examples.get(prefix, prefix))


def test_health_asks_nobody_for_their_language() -> None:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = "nobody"

    with CaptureQueriesContext(connection) as queries:
        reply = client.get("/health/", headers=GERMAN)

    assert reply.headers["Content-Language"] == "en"
    assert [query for query in queries if "django_session" in query["sql"]] == []
