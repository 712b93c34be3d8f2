"""Waking workers: a help, never a condition of what was decided."""

from typing import Any

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from judging.choices import PassKind
from judging.passes.waking import JUDGE_TASK, kinds_of, send_wake, wake_workers


@pytest.fixture
def sent(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Messages as a broker would take them."""
    messages: list[tuple[str, list[str]]] = []
    settings.USES_MEMORY_BROKER = False
    monkeypatch.setattr(
        current_app._get_current_object(),
        "send_task",
        lambda name, args, **options: messages.append((name, args)),
    )
    return messages


def test_each_endpoint_gets_a_message_with_the_kind_of_pass(sent: list[tuple[str, list[str]]]) -> None:
    wake_workers(["one", "two"], kind=PassKind.COLLECTION)

    assert sent == [(JUDGE_TASK, ["one", "COLLECTION"]), (JUDGE_TASK, ["two", "COLLECTION"])]


def test_memory_broker_needs_none(sent: list[tuple[str, list[str]]], settings: Any) -> None:
    settings.USES_MEMORY_BROKER = True

    wake_workers(["one"])

    assert sent == []


def test_broker_that_is_away_is_no_error(
    sent: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app._get_current_object(), "send_task", refuse)

    wake_workers(["one"])

    assert "the next sweep finds the rows" in caplog.text


def test_each_kind_of_pass_has_a_queue_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    queues: list[str] = []
    monkeypatch.setattr(
        current_app._get_current_object(), "send_task", lambda name, queue, **options: queues.append(queue)
    )

    for kind in PassKind:
        send_wake("one", kind)

    assert queues == ["judging", "classification", "collection"]


def test_a_worker_takes_every_queue_and_works_on_the_kinds_whose_queues_it_takes() -> None:
    assert kinds_of(current_app.amqp.queues.consume_from) == set(PassKind)
    assert kinds_of(["collection", "of somebody else"]) == {PassKind.COLLECTION}
