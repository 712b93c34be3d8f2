"""Workers killed by -9 in mid-pass: exactly one result for each row, and a bounded number of extra calls."""

import random
import time
from functools import partial

import pytest

from tests.chaos.processes import (
    CONCURRENCY,
    Installation,
    wait_until,
)
from tests.passes import stage
from tests.shared_data import SHARED_DATA, requires_shared_data

N_KILLS = 3
SEED = 20260629
FAULTS = ("--rate-limited", "0.05", "--server-error", "0.02", "--malformed", "0.02", "--retry-after", "0.2")
# The xstest import makes a pass of its own; the newest is the one that is judged here.
OF_PASS = "judge_pass_id = (SELECT max(id) FROM judging_judgepass)"
NAMED = {
    "SCORED",
    "PARSE_FAILED",
    "OUT_OF_RANGE",
    "REFUSED",
    "FILTERED",
    "TRUNCATED",
    "CALL_FAILED",
    "SKIPPED",
}


def has_settled(site: Installation, n: int) -> bool:
    return site.count(f"{OF_PASS} AND settled_at IS NOT NULL") >= n


def kill_thrice(site: Installation, *, n_rows: int) -> None:
    """Kill the worker at three random moments of the pass, starting the next one at once."""
    generator = random.Random(SEED)
    marks = sorted(generator.sample(range(n_rows // 10, n_rows * 8 // 10), N_KILLS))
    worker = site.start_worker()
    for mark in marks:
        wait_until(partial(has_settled, site, mark), most_s=180)
        time.sleep(generator.uniform(0, 0.2))
        worker.kill()
        worker.wait()
        worker = site.start_worker()


def assert_each_row_once(site: Installation, base_url: str, *, n_rows: int, n_kills: int) -> None:
    """One result a row, attempts unique, and no more extra calls than kills may cost."""
    states = dict(site.query(f"SELECT state, count(*) FROM judging_verdict WHERE {OF_PASS} GROUP BY state"))
    n_attempts = site.count(table="judging_verdictattempt")
    n_calls = stage.stats(base_url)["calls"]
    n_extra = n_calls - n_attempts
    print(f"{states}; {n_calls} calls, {n_attempts} attempts, {n_extra} extra after {n_kills} kills")
    assert sum(states.values()) == n_rows
    assert set(states) <= NAMED
    assert states["SCORED"] > 0.9 * n_rows
    distinct = "SELECT count(*) FROM (SELECT DISTINCT verdict_id, token FROM judging_verdictattempt) AS x"
    assert site.query(distinct)[0][0] == n_attempts
    # Every call is an attempt in the ledger but for those in flight, or not yet written, at a kill.
    assert 0 <= n_extra <= n_kills * 1.5 * CONCURRENCY
    assert site.count(f"{OF_PASS} AND settled_at IS NULL") == 0


@pytest.mark.parametrize(
    ("n_responses", "shots"),
    [
        # Exemplars take seconds to choose, and change nothing about kills.
        pytest.param(120, 0, id="360 rows"),
        pytest.param(500, 2, id="1500 few-shot rows", marks=pytest.mark.long),
    ],
)
def test_three_kills_leave_one_result_a_row(site: Installation, n_responses: int, shots: int) -> None:
    base_url = site.start_provider("--latency-ms", "100", "--jitter-ms", "100", *FAULTS)
    site.import_material(n=n_responses, n_labelled=40)
    judge_pass = site.start_pass("--benchmark", "b", "--shots", str(shots))

    kill_thrice(site, n_rows=3 * n_responses)
    wait_until(site.is_over, most_s=90)

    assert site.status(judge_pass)["state"] == "FINISHED"
    assert_each_row_once(site, base_url, n_rows=3 * n_responses, n_kills=N_KILLS)


@pytest.mark.long
@requires_shared_data
@pytest.mark.parametrize("n_kills", [0, N_KILLS], ids=["undisturbed", "three kills"])
def test_a_few_shot_pass_over_xstest_ends_in_named_states(site: Installation, n_kills: int) -> None:
    base_url = site.start_provider("--latency-ms", "100", "--jitter-ms", "100", *FAULTS)
    site.manage("import_files", str(SHARED_DATA / "xstest"), "--benchmark", "xstest")
    judge_pass = site.start_pass("--benchmark", "xstest", "--shots", "2")

    if n_kills:
        kill_thrice(site, n_rows=6_750)
    else:
        site.start_worker()
    wait_until(site.is_over, most_s=300)

    assert site.status(judge_pass)["state"] == "FINISHED"
    assert_each_row_once(site, base_url, n_rows=6_750, n_kills=n_kills)
