"""Everything that an annotator can ask for: a visit through their own pages, and every other address."""

import re
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from annotation.labelling import next_assignment
from annotation.models import Assignment, Label
from tests.annotation.desk import Desk, item_url, sent, take, url
from tests.conftest import signed_in

JSON = {"accept": "application/json"}
# What changes from one request to the next without telling anything: tokens, the session, moments.
PASSING = (
    (re.compile(r'(name="csrfmiddlewaretoken" value=")[^"]*'), r"\1-"),
    (re.compile(r"(nonce-|nonce=\")[\w+/=-]+"), r"\1-"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?"), "-"),
    (re.compile(r"\b\d\d:\d\d UTC"), "-"),
)
PASSING_HEADERS = {"Date", "Expires"}
PASSING_COOKIES = {"sessionid", "csrftoken"}


class Visit:
    """One person's requests, with what came back."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.client: Client = signed_in(desk.account)
        self.replies: list[Any] = []

    def get(self, address: str, **options: Any) -> Any:
        return self._keep(self.client.get(address, **options))

    def post(self, address: str, data: dict[str, Any] | None = None, **options: Any) -> Any:
        return self._keep(self.client.post(address, data or {}, **options))

    def page(self, name: str) -> Any:
        return self.get(url(name, self.desk))

    @property
    def seen(self) -> set[str]:
        """Names of the addresses that were asked for."""
        return {reply.resolver_match.view_name for reply in self.replies if reply.resolver_match}

    def _keep(self, reply: Any) -> Any:
        self.replies.append(reply)
        return reply


def visit_everything(desk: Desk) -> Visit:
    """All that the annotator can do, in an order in which each page has something to show."""
    visit = Visit(desk)
    visit.get(reverse("annotation:home"))
    visit.get(reverse("annotation:consents"))
    visit.get(reverse("annotation:join", args=["no-such-link"]))
    for name in ("welcome", "consent", "themes", "withdraw", "next"):
        visit.page(name)
    first = take(desk)
    visit.get(item_url(desk, first))
    visit.get(f"{url('next', desk)}?after={first.public_id}")
    visit.post(item_url(desk, first, "draft"), {"note": "Half a thought", "revises": ""}, headers=JSON)
    visit.post(item_url(desk, first, "flag"), {"note": "The text is cut off."})
    for text_view in ("MARKDOWN", "PLAIN"):
        visit.post(reverse("annotation:look"), {"text_view": text_view, "next": item_url(desk, first)})
        visit.get(item_url(desk, first))
    visit.post(item_url(desk, first), sent("MAYBE"))
    visit.post(item_url(desk, first), sent(), headers=JSON)
    visit.get(item_url(desk, first))
    visit.post(item_url(desk, first), sent("UNACCEPTABLE"))
    visit.post(item_url(desk, first), sent("UNACCEPTABLE"), headers=JSON)
    visit.page("answers")
    own = Label.objects.get(annotator=desk.annotator, is_current=True)
    visit.post(url("undo", desk), {"label": own.public_id, "submission_id": str(uuid.uuid4())})
    visit.post(url("undo", desk), {})
    visit.post(item_url(desk, first, "skip"), {})
    visit.post(item_url(desk, first, "skip"), {"reason": "OTHER"})
    for assignment in _the_others(desk):
        visit.page("next")
        visit.get(item_url(desk, assignment))
        visit.post(item_url(desk, assignment), sent())
        # Only practice has feedback: that of a gold item must not be had by asking for it.
        visit.get(item_url(desk, assignment, "feedback"))
    for name in ("next", "break", "training", "stop", "thanks", "consent"):
        visit.page(name)
    visit.post(url("break", desk))
    visit.get(reverse("annotation:home"))
    visit.post(url("withdraw", desk))
    visit.page("next")
    return visit


def _the_others(desk: Desk) -> Iterator[Assignment]:
    """The items that are left, each taken when the one before has been answered."""
    for _ in desk.items:
        assignment = next_assignment(campaign=desk.campaign, annotator=desk.annotator)
        if assignment is None:
            return
        yield assignment


def every_address(fill: Callable[[str], str]) -> list[str]:
    """Each address of the site, with its parameters filled in: researchers' pages, API, admin site."""
    return [_filled(route, fill) for route in _routes(get_resolver(), "")]


def _routes(resolver: URLResolver, prefix: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from _routes(pattern, route)


def _filled(route: str, fill: Callable[[str], str]) -> str:
    """A path from a route, whether written with converters or as a regular expression."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: fill(match[1]), route)
    path = re.sub(r"\(\?P<(\w+)>[^()]*\)", lambda match: fill(match[1]), path)
    path = re.sub(r"\(\?P(\w+)[^()]*\)", lambda match: fill(match[1]), path)
    return "/" + re.sub(r"[\^$\\?]|\(\|\)", "", path).lstrip("/")


def everything_in(reply: HttpResponse) -> str:
    """Status, headers, cookies and body of an answer, as one text."""
    body = b"".join(reply) if reply.streaming else reply.content
    return f"{reply.status_code}\n{reply.headers}\n{reply.cookies}\n{body.decode(errors='replace')}"


def without_what_passes(reply: HttpResponse) -> str:
    """The same, without what differs from one request to the next in any case."""
    headers = {name: value for name, value in reply.headers.items() if name not in PASSING_HEADERS}
    cookies = {name: cookie for name, cookie in reply.cookies.items() if name not in PASSING_COOKIES}
    text = f"{reply.status_code}\n{headers}\n{cookies}\n{reply.content.decode()}"
    for pattern, replacement in PASSING:
        text = pattern.sub(replacement, text)
    return text


class Undone(Exception):
    """Ends a block whose writes are not to stay."""


def undone(block: Callable[[], Any]) -> Any:
    """What `block` gives; what it wrote to the database is taken back."""
    outcome: list[Any] = []
    try:
        with transaction.atomic():
            outcome.append(block())
            raise Undone
    except Undone:
        return outcome[0]
