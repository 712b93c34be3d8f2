"""In which language a page is written, and how a person chooses another one.

Annotators' pages are in the person's language. Researchers' pages, the API and the admin site are in
English, whatever the browser asks for: their figures and terms are quoted, and terms of one study must agree.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotation.languages import UnknownLanguage, choose_language, require_known

ENGLISH_ADDRESSES = ("/admin/", "/api/", "/health/", "/label/manage/", "/research/")


class LanguageMiddleware:
    """Writes each page in its language: the account's, else that of the cookie, else the browser's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_in_english = request.path_info.startswith(ENGLISH_ADDRESSES)
        language = settings.LANGUAGE_CODE if is_in_english else language_of(request)
        with translation.override(language):
            response = self._get_response(request)
        response.headers.setdefault("Content-Language", language)
        if not is_in_english:
            patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response


def language_of(request: HttpRequest) -> str:
    """The language that this person reads. No query beyond the one that finds the account."""
    chosen = request.user.language if request.user.is_authenticated else ""
    return chosen if chosen in dict(settings.LANGUAGES) else translation.get_language_from_request(request)


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """Change the language, on this device and on the account of who is signed in, and go back."""
    language = request.POST.get("language", "")
    try:
        if request.user.is_authenticated:
            choose_language(account=request.user, language=language)
        else:
            require_known(language)
    except UnknownLanguage:
        return render(request, "400.html", status=400)
    response = redirect(_back_to(request))
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=settings.LANGUAGE_COOKIE_AGE,
        secure=settings.SERVED_OVER_HTTPS,
        httponly=True,
        samesite="Lax",
    )
    return response


def _back_to(request: HttpRequest) -> str:
    """The page that the form stood on, if it is one of ours."""
    wanted = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours else "home"
