"""Annotators over HTTP: each asks for an item, reads its page, answers, and insists on a receipt."""

import json
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from urllib.parse import urlencode

from tests.chaos.wire import Broken, Reply, Wire

RETRY_S = 0.05
INSISTS_S = 60.0
MOST_REDIRECTS = 5

_FORM = re.compile(r'<form[^>]*id="label-form"[^>]*action="([^"]*)".*?</form>', re.DOTALL)
_HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')


@dataclass(frozen=True)
class Question:
    """One item's page: where its answer goes, and what its form sends along."""

    path: str
    fields: dict[str, str]


@dataclass(frozen=True)
class Proof:
    """What the server said when it had stored an answer."""

    submission_id: str
    label_id: str


class Visitor:
    """One annotator's device.

    Args:
        port: of the web server on this machine.
        start: address that gives the next item.
        session: value of the session cookie.
    """

    def __init__(self, *, port: int, start: str, session: str) -> None:
        self._wire = Wire(port)
        self._start = start
        self._cookies = {"sessionid": session}
        self.n_broken = 0

    def next_question(self) -> Question | None:
        """Open the next item's page; None when there is none."""
        path = self._start
        for _ in range(MOST_REDIRECTS):
            reply = self._insist("GET", path)
            if reply.status == 200:
                return _question_on(reply.text)
            assert reply.status == 302, f"{path} answered {reply.status}: {reply.text[:400]}"
            path = reply.headers["location"]
        raise AssertionError(f"{self._start} leads round in circles, lastly to {path}")

    def answer(self, question: Question, value: str) -> Proof:
        """Send an answer under one id, as often as it takes, until there is a receipt."""
        fields = question.fields | {"value": value, "submission_id": str(uuid.uuid4()), "note": ""}
        reply = self._insist("POST", question.path, urlencode(fields).encode())
        assert reply.status == 200, f"{question.path} answered {reply.status}: {reply.text[:400]}"
        receipt = json.loads(reply.body)
        return Proof(receipt["submission_id"], receipt["label"])

    def close(self) -> None:
        self._wire.close()

    def _insist(self, method: str, path: str, body: bytes = b"") -> Reply:
        deadline = time.monotonic() + INSISTS_S
        while True:
            try:
                reply = self._ask(method, path, body)
                if reply.status < 500:
                    return reply
            except Broken:
                pass
            self.n_broken += 1
            assert time.monotonic() < deadline, f"{method} {path} had no answer for {INSISTS_S:.0f} s"
            time.sleep(RETRY_S)

    def _ask(self, method: str, path: str, body: bytes) -> Reply:
        headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if method == "POST":
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        reply = self._wire.ask(method, path, headers, body)
        self._cookies |= reply.cookies
        return reply


def work(visitor: Visitor, *, n_most: int, is_over: Callable[[], bool] = lambda: False) -> list[Proof]:
    """Answer one item after the other, until there are none, or so many, or it is over."""
    proofs: list[Proof] = []
    while len(proofs) < n_most and not is_over():
        question = visitor.next_question()
        if question is None:
            break
        proofs.append(visitor.answer(question, ("ACCEPTABLE", "UNACCEPTABLE")[len(proofs) % 2]))
    visitor.close()
    return proofs


def _question_on(page: str) -> Question | None:
    form = _FORM.search(page)
    if form is None:
        return None
    return Question(unescape(form[1]), {name: unescape(value) for name, value in _HIDDEN.findall(form[0])})
