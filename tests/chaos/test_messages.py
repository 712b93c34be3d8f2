"""Messages only wake: doubled, early or orphaned ones change nothing, nor does a second start."""

import time
from contextlib import closing

import pytest

from tests.chaos.processes import Installation, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row


@pytest.mark.long
def test_every_message_delivered_twice_judges_each_row_once(site: Installation) -> None:
    """Without a broker each of two workers is told of everything by its own sweep."""
    provider = site.start_judging_provider("--latency-ms", "300")
    judge_pass = site.start_pass("--limit", "100")
    messages = site.broker.double_messages() if site.broker is not None else []
    workers = [site.start_worker(), site.start_worker()]
    while not site.is_over():
        if site.broker is not None:
            assert messages
            site.broker.push(messages)
        time.sleep(0.2)

    assert [worker.poll() for worker in workers] == [None, None]
    assert site.status(judge_pass)["state"] == "FINISHED"
    totals = assert_one_honest_result_a_row(site, provider, n_rows=300)
    assert totals.n_attempts == provider.n_calls == 300


@pytest.mark.long
def test_a_message_before_the_commit_finds_nothing_and_the_pass_is_judged_after(site: Installation) -> None:
    provider = site.start_judging_provider()
    site.start_pass("--limit", "20")
    messages = site.broker.messages() if site.broker is not None else []
    with closing(site.database.connect()) as connection:
        connection.execute("UPDATE judging_judgepass SET state = 'PAUSED', pause_reason = 'user'")
        worker = site.start_worker()
        if site.broker is not None:
            wait_until(lambda: not _waiting(site), most_s=30, what="the first message taken")

        connection.execute("BEGIN")
        connection.execute("UPDATE judging_judgepass SET state = 'RUNNING', pause_reason = NULL")
        if site.broker is not None:
            site.broker.push(messages)
            wait_until(lambda: not _waiting(site), most_s=30, what="the early message taken")
        time.sleep(2)
        n_before = provider.n_calls
        connection.execute("COMMIT")
    wait_until(site.is_over, most_s=60)

    assert n_before == 0
    assert worker.poll() is None
    totals = assert_one_honest_result_a_row(site, provider, n_rows=60)
    assert totals.states == {"SCORED": 60}


@pytest.mark.long
def test_a_message_for_a_deleted_pass_is_harmless(site: Installation) -> None:
    provider = site.start_judging_provider()
    site.start_pass("--limit", "20")
    messages = site.broker.messages() if site.broker is not None else []
    with closing(site.database.connect()) as connection:
        connection.execute("DELETE FROM judging_verdict")
        connection.execute("DELETE FROM judging_judgepass_judges")
        connection.execute("DELETE FROM judging_judgepass")
    worker = site.start_worker()
    if site.broker is not None:
        site.broker.push(messages)
        wait_until(lambda: not _waiting(site), most_s=30, what="the message taken")
    time.sleep(2)
    n_orphaned = provider.n_calls

    site.start_pass("--limit", "10")
    wait_until(site.is_over, most_s=60)

    assert n_orphaned == 0
    assert worker.poll() is None
    assert "Traceback" not in site.logs()
    assert assert_one_honest_result_a_row(site, provider, n_rows=30).states == {"SCORED": 30}


@pytest.mark.long
def test_start_pressed_twice_at_once_is_one_run(site: Installation) -> None:
    provider = site.start_judging_provider("--latency-ms", "100")
    site.start_worker()

    ended = [site.finish(process) for process in [site.begin_pass("--limit", "40") for _ in range(2)]]
    wait_until(site.is_over, most_s=60)

    assert sorted(code for _, _, code in ended) == [0, 1]
    refusal = next(errors for _, errors, code in ended if code)
    assert "has exactly this configuration" in refusal
    assert "Watch that one" in refusal
    assert site.count(table="judging_judgepass") == 1
    totals = assert_one_honest_result_a_row(site, provider, n_rows=120)
    assert totals.n_attempts == provider.n_calls == 120


def _waiting(site: Installation) -> bool:
    return site.broker is not None and bool(site.broker.messages())


@pytest.mark.long
def test_a_worker_for_another_kind_of_pass_leaves_the_rows_to_the_others(site: Installation) -> None:
    provider = site.start_judging_provider()
    site.start_worker("collection")
    site.start_pass("--limit", "20")
    time.sleep(5)
    n_before = provider.n_calls
    n_piled_up = len(site.broker.messages()) if site.broker is not None else 1

    site.start_worker("judging", "classification")
    wait_until(site.is_over, most_s=60)

    assert n_before == 0
    # The start's own message; the sweep of a worker that cannot take the queue adds none.
    assert n_piled_up == 1
    assert assert_one_honest_result_a_row(site, provider, n_rows=60).states == {"SCORED": 60}
