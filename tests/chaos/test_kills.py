"""Workers killed by -9 in mid-pass: exactly one result for each row, and a bounded number of extra calls."""

import random
import time

import pytest

from tests.chaos.killing import SEED, kill_at_marks, kill_until_over
from tests.chaos.processes import Installation, kill, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row
from tests.shared_data import SHARED_DATA, requires_shared_data

FAULTS = ("--rate-limited", "0.05", "--server-error", "0.02", "--malformed", "0.02", "--retry-after", "0.2")


@pytest.mark.parametrize("seed", [SEED])
def test_short_profile_of_kills_and_faults(site: Installation, seed: int) -> None:
    """The short form of what the long tests do one by one: faults, two kills, messages lost and doubled."""
    provider = site.start_judging_provider("--latency-ms", "100", "--jitter-ms", "100", *FAULTS)
    judge_pass = site.start_pass("--limit", "60")
    if site.broker is not None:
        site.broker.double_messages()
    workers = [site.start_worker(), site.start_worker()]

    generator = random.Random(seed)
    kill_at_marks(site, workers, marks=generator.sample(range(20, 140), 2), seed=seed)
    if site.broker is not None:
        site.broker.client.flushall()
    wait_until(site.is_over, most_s=60)

    assert site.query("SELECT public_id, state FROM judging_judgepass") == [(judge_pass, "FINISHED")]
    totals = assert_one_honest_result_a_row(site, provider, n_rows=180, n_kills=2)
    assert totals.states["SCORED"] > 160


@pytest.mark.long
@pytest.mark.parametrize("shots", [0, 2], ids=["zero-shot", "few-shot"])
def test_a_worker_killed_every_few_seconds_leaves_one_result_a_row(site: Installation, shots: int) -> None:
    provider = site.start_judging_provider("--latency-ms", "400", "--jitter-ms", "200", *FAULTS)
    judge_pass = site.start_pass("--shots", str(shots))
    workers = [site.start_worker(), site.start_worker()]

    n_kills = kill_until_over(site, workers, most_kills=12)
    wait_until(site.is_over, most_s=120)

    assert n_kills >= 3
    assert site.status(judge_pass)["state"] == "FINISHED"
    totals = assert_one_honest_result_a_row(site, provider, n_rows=1_500, n_kills=n_kills)
    assert totals.states["SCORED"] > 0.9 * 1_500


@pytest.mark.long
@requires_shared_data
@pytest.mark.parametrize("n_kills", [0, 3], ids=["undisturbed", "three kills"])
def test_a_few_shot_pass_over_xstest_ends_in_named_states(site: Installation, n_kills: int) -> None:
    provider = site.start_judging_provider("--latency-ms", "100", "--jitter-ms", "100", *FAULTS)
    site.manage("import_files", str(SHARED_DATA / "xstest"), "--benchmark", "xstest")
    n_imported = site.count()
    judge_pass = site.start_pass("--benchmark", "xstest", "--shots", "2")

    workers = [site.start_worker()]
    marks = random.Random(SEED).sample(range(n_imported + 600, n_imported + 5_400), n_kills)
    kill_at_marks(site, workers, marks=marks)
    wait_until(site.is_over, most_s=300)

    assert site.status(judge_pass)["state"] == "FINISHED"
    totals = assert_one_honest_result_a_row(site, provider, n_rows=6_750, n_kills=n_kills)
    assert totals.states["SCORED"] > 0.9 * 6_750


@pytest.mark.long
@pytest.mark.parametrize("n_kills", [0, 2], ids=["undisturbed", "both killed"])
def test_a_cap_of_ten_calls_holds_for_32_slots_and_two_workers(site: Installation, n_kills: int) -> None:
    provider = site.start_judging_provider("--latency-ms", "800")
    judge_pass = site.start_pass("--max-calls", "10")
    workers = [site.start_worker(), site.start_worker()]

    wait_until(lambda: provider.n_calls >= 4, most_s=60, what="calls in flight")
    for n in range(n_kills):
        kill(workers[n])
        workers[n] = site.start_worker()
    wait_until(site.is_over, most_s=60)
    time.sleep(2)

    status = site.status(judge_pass)
    assert (status["state"], status["reason"]) == ("PAUSED", "budget")
    assert provider.n_calls <= 10
    n_reserved = site.query("SELECT n_calls_reserved FROM judging_judgepass")[0][0]
    assert provider.n_calls <= n_reserved <= 10
    assert site.count("state = 'RUNNING'") == 0
