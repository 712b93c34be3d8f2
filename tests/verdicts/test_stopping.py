"""Stopping a loop, a pass or a key: calls in flight are recorded, and none begins."""

import threading
import time
from collections.abc import Callable

import pytest

from judging.choices import PassState
from judging.models import JudgePass, Verdict, VerdictAttempt
from judging.passes.control import cancel_pass, pause_pass
from tests.passes import stage
from tests.verdicts.conftest import Provide
from tests.verdicts.waiting import run_in_thread

pytestmark = pytest.mark.django_db(transaction=True)


def wait_until(is_so: Callable[[], bool], *, most_s: float = 15.0) -> None:
    deadline = time.monotonic() + most_s
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_a_stopped_loop_records_its_calls_and_leaves_no_row_running(provide: Provide) -> None:
    benchmark, stopping = stage.make_material(40), threading.Event()

    with provide(latency_ms=300) as base_url:
        judge_pass = stage.start(benchmark)
        thread = run_in_thread("local-0", stopping.is_set)
        wait_until(lambda: stage.stats(base_url)["calls"] > 5)
        stopping.set()
        thread.join()
        n_calls = stage.stats(base_url)["calls"]

    judge_pass.refresh_from_db()
    assert "RUNNING" not in stage.states(judge_pass)
    assert stage.states(judge_pass)["SCORED"] == n_calls < 40
    # Rows that were held ready went back with their reservation.
    assert judge_pass.n_calls_reserved == n_calls


@pytest.mark.parametrize("stop", [cancel_pass, pause_pass])
def test_once_a_pass_is_stopped_no_row_held_ready_is_sent(
    provide: Provide, stop: Callable[[JudgePass], None]
) -> None:
    benchmark = stage.make_material(80)

    with provide(latency_ms=100, jitter_ms=100) as base_url:
        judge_pass = stage.start(benchmark)
        thread = run_in_thread("local-0", lambda: False)
        wait_until(lambda: Verdict.objects.filter(state="RUNNING", is_ahead=True).exists())
        stop(judge_pass)
        n_calls = stage.stats(base_url)["calls"]
        thread.join()
        stats = stage.stats(base_url)

    judge_pass.refresh_from_db()
    assert stats["calls"] == n_calls == judge_pass.n_calls_reserved < 80
    assert VerdictAttempt.objects.count() == n_calls
    assert not Verdict.objects.filter(state="RUNNING").exists()


def test_a_refused_key_keeps_rows_held_ready_from_being_sent(provide: Provide) -> None:
    benchmark = stage.make_material(60)

    with provide(latency_ms=50, jitter_ms=50, revoke_after=20) as base_url:
        judge_pass = stage.judge(stage.start(benchmark))
        stats = stage.stats(base_url)

    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, "auth")
    # Those that were in flight when the first refusal came, and no other.
    assert 0 < stats["calls"] - stats["answered"] <= 8


def test_after_cancel_no_call_is_made_and_late_results_stay_in_the_ledger(provide: Provide) -> None:
    benchmark = stage.make_material(40)

    with provide(latency_ms=500) as base_url:
        judge_pass = stage.start(benchmark)
        thread = run_in_thread("local-0", lambda: False)
        wait_until(lambda: stage.stats(base_url)["in_flight"] == 5)
        cancel_pass(judge_pass)
        n_calls = stage.stats(base_url)["calls"]
        thread.join()
        stats = stage.stats(base_url)

    assert stats["calls"] == n_calls
    assert stage.states(judge_pass) == {"CANCELLED": 40}
    assert VerdictAttempt.objects.filter(outcome="ok").count() == n_calls
