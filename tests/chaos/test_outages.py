"""A key revoked, a broker wiped, a database stopped: the pass pauses or finishes, and says so."""

import json
import signal
import subprocess
import time
from functools import partial
from pathlib import Path

import pytest
import redis

from tests.chaos.conftest import IS_POSTGRESQL
from tests.chaos.processes import Installation, StoppablePG, installation, wait_until
from tests.passes import stage
from tests.services import find_redis, skip_without


@pytest.mark.skipif(IS_POSTGRESQL, reason="tests/verdicts revokes a key on each database")
def test_a_key_revoked_in_mid_pass_leaves_a_report_over_what_is_decided(site: Installation) -> None:
    base_url = site.start_provider("--latency-ms", "20", "--revoke-after", "20")
    site.import_material(n=40, n_labelled=4)
    judge_pass = site.start_pass("--benchmark", "b")
    site.start_worker()
    wait_until(site.is_over, most_s=60)
    status = site.status(judge_pass)
    report = json.loads(site.manage("build_report", "--benchmark", "b", "--pass", judge_pass, "--json"))

    site.start_provider("--latency-ms", "20", port=stage.port_of(base_url))
    site.manage("resume_pass", judge_pass)
    wait_until(site.is_over, most_s=60)
    resumed = site.status(judge_pass)

    assert (status["state"], status["reason"]) == ("PAUSED", "auth")
    assert 20 <= status["counts"]["SCORED"] < 120
    model = report["models"][0]
    assert model["n_responses"] == model["n_decided"] + model["n_undecided"] == 40
    assert model["n_undecided"] > 0
    assert model["failure_rate"] != 0
    assert model["failure_rate_bounds"][0] < model["failure_rate"] < model["failure_rate_bounds"][1]
    assert resumed["state"] == "FINISHED"
    assert resumed["counts"] == {"SCORED": 120}


@pytest.mark.skipif(IS_POSTGRESQL, reason="tests/verdicts stops a loop on each database")
def test_a_worker_told_to_stop_finishes_its_calls(site: Installation) -> None:
    base_url = site.start_provider("--latency-ms", "300")
    site.import_material(n=60)
    site.start_pass("--benchmark", "b")
    worker = site.start_worker()
    wait_until(partial(has_scored, site, 20), most_s=60)

    worker.send_signal(signal.SIGTERM)
    code = worker.wait(20)

    assert code == 0
    assert site.count("state = 'RUNNING'") == 0
    assert site.count("state = 'SCORED'") == stage.stats(base_url)["calls"] < 180


@pytest.mark.redis
@pytest.mark.skipif(not IS_POSTGRESQL, reason="one of the suites is enough")
def test_a_pass_finishes_on_redis_and_postgresql_with_redis_wiped(tmp_path: Path, redis_url: str) -> None:
    with installation(tmp_path / "site", server=StoppablePG(), broker=redis_url) as site:
        base_url = site.start_provider("--latency-ms", "100")
        site.import_material(n=80, n_labelled=20)
        site.start_celery()
        wiped = site.start_pass("--benchmark", "b")
        wait_until(partial(has_scored, site, 50), most_s=60)
        broker = redis.Redis(unix_socket_path=redis_url.removeprefix("redis+socket://"))
        broker.flushall()
        wait_until(site.is_over, most_s=60)

        # No loop runs any more, and its queue is gone: the worker's own sweep must find the next pass.
        broker.flushall()
        after = site.start_pass("--benchmark", "b", "--again")
        broker.flushall()
        wait_until(site.is_over, most_s=60)

        assert site.status(wiped)["counts"] == site.status(after)["counts"] == {"SCORED": 240}
        assert stage.stats(base_url)["duplicates"] == 240


def has_scored(site: Installation, n: int) -> bool:
    return site.count("state = 'SCORED'") > n


@pytest.mark.long
@pytest.mark.skipif(not IS_POSTGRESQL, reason="only a server can be stopped")
def test_a_database_stopped_in_mid_pass_is_survived_without_a_restart(tmp_path: Path) -> None:
    server = StoppablePG()
    with installation(tmp_path / "site", server=server, lease_s=20.0) as site:
        base_url = site.start_provider("--latency-ms", "200")
        site.import_material(n=500)
        judge_pass = site.start_pass("--benchmark", "b")
        worker = site.start_worker()
        for mark in (200, 700):
            wait_until(partial(has_scored, site, mark), most_s=60)
            server.interrupt()
            time.sleep(6)
            server.go_on()
        wait_until(site.is_over, most_s=120)

        assert worker.poll() is None
        assert site.status(judge_pass)["counts"] == {"SCORED": 1_500}
        assert stage.stats(base_url)["duplicates"] == 0
        assert site.count("n_deaths > 0") == 0


@pytest.mark.long
@pytest.mark.redis
@pytest.mark.skipif(not IS_POSTGRESQL, reason="one of the suites is enough")
def test_a_redis_that_is_gone_for_a_while_is_survived_without_a_restart(tmp_path: Path) -> None:
    program = find_redis() or skip_without("Redis")
    socket = tmp_path / "redis.sock"
    command = [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"]
    broker = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
    wait_until(socket.exists, most_s=10)
    options = {"server": StoppablePG(), "broker": f"redis+socket://{socket}"}
    with installation(tmp_path / "site", **options) as site:
        site.start_provider("--latency-ms", "200")
        site.import_material(n=300)
        worker = site.start_celery()
        first = site.start_pass("--benchmark", "b")
        wait_until(partial(has_scored, site, 50), most_s=60)
        broker.kill()
        broker.wait()
        wait_until(site.is_over, most_s=90)

        broker = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
        wait_until(socket.exists, most_s=10)
        second = site.start_pass("--benchmark", "b", "--again")
        wait_until(site.is_over, most_s=90)
        broker.kill()
        broker.wait()

        assert worker.poll() is None
        assert site.status(first)["counts"] == site.status(second)["counts"] == {"SCORED": 900}
