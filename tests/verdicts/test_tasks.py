"""Messages only wake: unknown, doubled or early ones change nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judging import tasks
from judging.choices import PassKind
from judging.queue.sweeping import LoopKey
from tests.passes import stage

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _rested() -> Iterator[None]:
    yield
    tasks._rests_until.clear()


def test_a_message_for_an_unknown_endpoint_is_harmless_and_said_once(
    settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", "http://127.0.0.1:9/v1")

    assert [tasks.judge_endpoint("gone"), tasks.judge_endpoint("gone")] == [0, 0]

    assert caplog.text.count("endpoint gone cannot be called") == 1


def test_a_message_for_an_endpoint_without_due_rows_is_harmless(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", "http://127.0.0.1:9/v1")

    assert tasks.judge_endpoint("local-0") == 0


def test_a_second_message_for_a_running_endpoint_starts_no_second_loop(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = tmp_path / "never read.toml"
    key = LoopKey("local-0", PassKind.JUDGING)
    tasks._running.add(key)
    try:
        assert tasks.judge_endpoint("local-0") == 0
    finally:
        tasks._running.discard(key)


def test_an_endpoints_file_that_cannot_be_read_is_said_in_a_sentence(
    settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ENDPOINTS_FILE = tmp_path / "missing.toml"

    assert tasks.judge_endpoint("local-0") == 0

    assert "cannot be read" in caplog.text
