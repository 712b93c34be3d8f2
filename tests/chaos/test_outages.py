"""A key revoked, a broker wiped or gone, a database stopped: the pass pauses or finishes, and says so."""

import json
import time
from functools import partial

import pytest

from tests.chaos.conftest import IS_POSTGRESQL, MakeSite
from tests.chaos.material import Shelf
from tests.chaos.processes import Installation, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row

needs_services = pytest.mark.skipif(not IS_POSTGRESQL, reason="there is no server to stop beside SQLite")


@pytest.mark.long
def test_a_key_revoked_in_mid_pass_leaves_a_report_over_what_is_decided(site: Installation) -> None:
    provider = site.start_judging_provider("--latency-ms", "20", "--revoke-after", "20")
    judge_pass = site.start_pass("--limit", "40")
    site.start_worker()
    wait_until(site.is_over, most_s=60)
    status = site.status(judge_pass)
    report = json.loads(site.manage("build_report", "--benchmark", "b", "--pass", judge_pass, "--json"))

    provider.kill()
    site.start_provider("--latency-ms", "20", port=provider.port)
    site.manage("resume_pass", judge_pass)
    wait_until(site.is_over, most_s=60)
    resumed = site.status(judge_pass)

    assert (status["state"], status["reason"]) == ("PAUSED", "auth")
    assert 20 <= status["counts"]["SCORED"] < 120
    model = report["models"][0]
    assert model["n_responses"] == model["n_decided"] + model["n_undecided"] == 40
    assert model["failure_rate_bounds"][0] < model["failure_rate"] < model["failure_rate_bounds"][1]
    assert resumed["state"] == "FINISHED"
    assert resumed["counts"] == {"SCORED": 120}


@pytest.mark.long
@pytest.mark.redis
@needs_services
def test_redis_wiped_in_mid_pass_costs_no_call_and_no_row(site: Installation) -> None:
    assert site.broker is not None
    provider = site.start_judging_provider("--latency-ms", "100")
    worker = site.start_worker()
    wiped = site.start_pass("--limit", "80")
    wait_until(partial(site.has_settled, 50), most_s=60)
    site.broker.client.flushall()
    wait_until(site.is_over, most_s=60)

    # No loop runs any more, and its queue is gone: the worker's own sweep must find the next pass.
    site.broker.client.flushall()
    after = site.start_pass("--limit", "80", "--again")
    site.broker.client.flushall()
    wait_until(site.is_over, most_s=60)

    assert worker.poll() is None
    assert site.status(wiped)["counts"] == site.status(after)["counts"] == {"SCORED": 240}
    assert provider.n_calls == 480


@pytest.mark.long
@pytest.mark.redis
@needs_services
def test_redis_gone_for_a_minute_is_survived_without_a_restart(site: Installation) -> None:
    assert site.broker is not None
    provider = site.start_judging_provider("--latency-ms", "1000")
    worker = site.start_worker()
    first = site.start_pass()
    wait_until(partial(site.has_settled, 50), most_s=60)
    site.broker.kill()
    gone_at = time.monotonic()
    wait_until(site.is_over, most_s=150)
    time.sleep(max(0.0, gone_at + 60 - time.monotonic()))

    site.broker.start()
    second = site.start_pass("--limit", "80", "--again")
    wait_until(site.is_over, most_s=90)

    assert worker.poll() is None
    assert site.status(first)["counts"] == {"SCORED": 1_500}
    assert site.status(second)["counts"] == {"SCORED": 240}
    assert provider.n_calls == 1_740


@pytest.mark.long
@needs_services
def test_a_database_stopped_for_half_a_minute_is_survived_without_a_restart(
    make_site: MakeSite, shelf: Shelf
) -> None:
    assert shelf.server is not None
    with make_site(lease_s=60.0) as site:
        provider = site.start_judging_provider("--latency-ms", "500")
        judge_pass = site.start_pass()
        workers = [site.start_worker(), site.start_worker()]
        wait_until(partial(site.has_settled, 300), most_s=60)
        shelf.server.interrupt()
        time.sleep(30)
        shelf.server.go_on()
        wait_until(site.is_over, most_s=120)

        assert [worker.poll() for worker in workers] == [None, None]
        assert site.status(judge_pass)["counts"] == {"SCORED": 1_500}
        assert_one_honest_result_a_row(site, provider, n_rows=1_500)
        assert site.count("n_deaths > 0") == 0


@pytest.mark.long
def test_a_provider_gone_for_a_while_is_waited_for(make_site: MakeSite) -> None:
    with make_site(environment={"CAREBENCH_MAX_ATTEMPTS": "20"}) as site:
        provider = site.start_judging_provider("--latency-ms", "200")
        judge_pass = site.start_pass("--limit", "60")
        worker = site.start_worker()
        wait_until(partial(site.has_settled, 30), most_s=60)
        n_before = provider.n_calls
        provider.kill()
        time.sleep(3)
        again = site.start_provider("--latency-ms", "20", port=provider.port)
        wait_until(site.is_over, most_s=120)

        assert worker.poll() is None
        assert site.status(judge_pass)["counts"] == {"SCORED": 180}
        refused = site.count("outcome = 'network'", table="judging_verdictattempt")
        assert refused > 0
        assert site.count(table="judging_verdictattempt") == 180 + refused
        assert n_before + again.n_calls >= 180
