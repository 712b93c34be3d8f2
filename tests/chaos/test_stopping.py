"""Told to stop: a worker finishes its calls, a cancelled pass makes no new one."""

import signal
from functools import partial

import pytest

from tests.chaos.processes import Installation, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row


@pytest.mark.long
@pytest.mark.parametrize(("stop", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 1)], ids=["TERM", "INT"])
def test_a_worker_told_to_stop_finishes_its_calls(
    site: Installation, stop: signal.Signals, code: int
) -> None:
    provider = site.start_judging_provider("--latency-ms", "1000")
    site.start_pass("--limit", "100")
    worker = site.start_worker()
    wait_until(partial(site.has_settled, 20), most_s=60)

    worker.send_signal(stop)
    ended = worker.wait(30)

    # Celery ends with 1 after Ctrl-C, by its own custom.
    assert ended == code
    assert site.count("state = 'RUNNING'") == 0
    assert site.count("state = 'SCORED'") == provider.n_calls < 300
    n_reserved = site.query("SELECT n_calls_reserved FROM judging_judgepass")[0][0]
    assert n_reserved == provider.n_calls

    site.start_worker()
    wait_until(site.is_over, most_s=60)
    assert assert_one_honest_result_a_row(site, provider, n_rows=300).states == {"SCORED": 300}
    assert provider.n_calls == 300


@pytest.mark.long
def test_cancel_with_calls_in_flight_makes_no_new_call_and_keeps_the_bill(site: Installation) -> None:
    provider = site.start_judging_provider("--latency-ms", "4000")
    judge_pass = site.start_pass("--limit", "60")
    site.start_worker()
    wait_until(lambda: provider.stats()["in_flight"] == 32, most_s=60, what="32 calls in flight")

    site.manage("cancel_pass", judge_pass)
    n_at_cancel = provider.n_calls
    wait_until(lambda: provider.stats()["in_flight"] == 0, most_s=30)
    wait_until(partial(_has_attempts, site, n_at_cancel), most_s=30, what="late results recorded")
    status = site.status(judge_pass)
    address = f"/research/b/judges/{judge_pass}/"
    page = site.pages(address)[address]

    assert provider.n_calls == n_at_cancel
    assert status["state"] == "CANCELLED"
    assert status["n_attempts"] == n_at_cancel
    n_late = site.count("detail LIKE 'late: %'", table="judging_verdictattempt")
    assert n_late == status["counts"]["CANCELLED"] - (180 - n_at_cancel) > 0
    assert status["counts"].get("SCORED", 0) == n_at_cancel - n_late
    assert status["cost"] > 0
    assert f"{n_at_cancel} ({n_late} too late to count)" in page
    assert f"{status['cost']:,.2f}" in page
    assert_one_honest_result_a_row(site, provider, n_rows=180)


def _has_attempts(site: Installation, n: int) -> bool:
    return site.count(table="judging_verdictattempt") == n
