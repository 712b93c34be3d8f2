"""What the overview says of each endpoint: calls, waits, loops, limits, and the way there without secrets."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from judging.errors import EndpointError
from judging.models import EndpointGate
from judging.monitoring import calls as calls_module
from judging.monitoring.calls import read_ledger
from judging.monitoring.endpoints import EndpointStatus, endpoint_overview
from tests.factories import make_attempt, make_generation, make_generation_attempt
from tests.monitoring.running_passes import (
    ENDPOINT,
    in_seconds,
    make_loop,
    make_row,
    make_running_collection,
    make_running_pass,
)
from tests.passes import stage

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _endpoints_file(settings: Any, tmp_path: Path) -> None:
    text = stage.write_endpoints(tmp_path / "endpoints.toml", "http://127.0.0.1:9/v1").read_text()
    settings.ENDPOINTS_FILE = tmp_path / "endpoints.toml"
    settings.ENDPOINTS_FILE.write_text(text.replace("local-0", ENDPOINT))


def status(name: str = ENDPOINT) -> EndpointStatus:
    return next(status for status in endpoint_overview().statuses if status.endpoint.name == name)


def call(outcome: str = "ok", *, age_s: float = 60.0, **values: Any) -> None:
    """A call at the endpoint, by default a minute ago."""
    make_attempt(verdict=make_row(make_running_pass()), outcome=outcome, at=in_seconds(-age_s), **values)


def test_calls_of_the_last_hour_are_counted_by_outcome_over_all_kinds() -> None:
    for outcome in ("ok", "ok", "rate_limited", "parse_failed"):
        call(outcome)
    row = make_generation(judge_pass=make_running_collection(), endpoint_name=ENDPOINT)
    make_generation_attempt(generation=row, outcome="timeout", at=in_seconds(-5))
    call(age_s=3700)

    calls = status().calls

    assert calls.outcomes == {"ok": 2, "rate_limited": 1, "parse_failed": 1, "timeout": 1}
    assert (calls.n_calls, calls.n_answered) == (5, 3)


def test_latency_is_the_one_that_a_share_of_the_calls_did_not_exceed() -> None:
    for latency_ms in (400, 100, 300, 200):
        call(latency_ms=latency_ms)

    calls = status().calls

    assert (calls.latency_ms(0.5), calls.latency_ms(0.95)) == (200, 400)


def test_an_endpoint_that_was_not_called_has_no_latency_and_no_answer() -> None:
    calls = status().calls

    assert (calls.n_calls, calls.latency_ms(0.5), calls.last_answer_at) == (0, None, None)


def test_the_last_answer_is_found_beyond_the_last_hour_and_a_refusal_is_none() -> None:
    call("refused", age_s=9000)
    call("ok", age_s=10_000)
    call("auth", age_s=5)

    last = status().calls.last_answer_at

    assert last is not None
    assert timedelta(seconds=8990) < timezone.now() - last < timedelta(seconds=9100)


def test_of_more_calls_than_are_read_the_newest_count_and_the_time_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls_module, "MOST_CALLS", 3)
    for age_s in (10, 20, 30, 40):
        call(age_s=age_s)

    ledger = read_ledger(now=timezone.now())

    assert ledger.at(ENDPOINT).n_calls == 3
    assert timezone.now() - ledger.since < timedelta(seconds=35)


def test_waits_loops_and_rows_in_hand_are_those_of_the_endpoint(settings: Any) -> None:
    until = in_seconds(600)
    EndpointGate.objects.create(name=ENDPOINT, not_before=until)
    make_loop(slots=5)
    make_loop(slots=3, worker="worker-2", silent_s=90)
    make_loop(slots=9, endpoint_name="elsewhere")
    make_row(make_running_pass(), state="RUNNING")

    found = status()

    assert found.waiting_until == until
    assert [(loop.worker, loop.slots, loop.is_alive) for loop in found.loops] == [
        ("worker-1", 5, True),
        ("worker-2", 3, False),
    ]
    assert (found.n_slots_in_use, found.n_in_hand) == (8, 1)


def test_a_lease_that_has_ended_holds_no_slot() -> None:
    make_loop(silent_s=220)

    assert status().loops == []


@pytest.mark.parametrize(("value", "is_there"), [("a-key", True), ("", False)])
def test_a_key_is_there_or_not_and_nowhere_in_the_status(
    monkeypatch: pytest.MonkeyPatch, value: str, is_there: bool
) -> None:
    monkeypatch.setenv(stage.KEY_VARIABLE, value)

    found = status()

    assert found.has_key is is_there
    assert "a-key" not in repr(found)


def test_the_proxy_is_the_one_in_force(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setenv("http_proxy", "http://name:hidden@proxy:3128")
    monkeypatch.setenv("no_proxy", "")
    straight = status().proxy
    settings.USES_ENVIRONMENT_PROXIES = True

    assert (straight, status().proxy) == (None, "http://proxy:3128")


def test_endpoints_in_use_come_first() -> None:
    call()

    names = [status.endpoint.name for status in endpoint_overview().statuses]

    assert names[0] == ENDPOINT
    assert names[1:] == sorted(names[1:])


def test_an_endpoint_that_a_running_pass_calls_and_no_file_names_is_missing() -> None:
    make_running_pass(endpoint="gone")
    make_running_pass()

    assert endpoint_overview().missing == ["gone"]


def test_a_file_that_cannot_be_read_is_refused(settings: Any, tmp_path: Path) -> None:
    settings.ENDPOINTS_FILE = tmp_path / "missing.toml"

    with pytest.raises(EndpointError, match="cannot be read"):
        endpoint_overview()


def test_the_overview_needs_eight_queries_at_most(django_assert_max_num_queries: Any) -> None:
    for n in range(5):
        make_loop(worker=f"worker-{n}")
        call()
    # On PostgreSQL one more: the database's clock.
    with django_assert_max_num_queries(8):
        endpoint_overview()
