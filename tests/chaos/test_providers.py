"""Providers at their worst: each costs its own rows what the policy says, and nobody else anything."""

import datetime as dt

import pytest

from tests.chaos.conftest import MakeSite
from tests.chaos.listeners import listening
from tests.chaos.processes import Installation, wait_until
from tests.chaos.totals import assert_one_honest_result_a_row

MIB = 1024 * 1024
# Long enough for a busy machine, short enough for a reply that never ends to be given up five times.
SHORT_DEADLINES = {"CAREBENCH_CALL_TOTAL_SECONDS": "5"}
QUICK_RETRIES = {"CAREBENCH_BACKOFF_FIRST_SECONDS": "0.05", "CAREBENCH_BACKOFF_MOST_SECONDS": "0.2"}


@pytest.mark.long
def test_redirects_floods_and_endless_replies_end_in_their_states_and_hold_up_nobody(
    make_site: MakeSite,
) -> None:
    with (
        listening() as second_host,
        make_site(lease_s=8.0, environment=SHORT_DEADLINES | QUICK_RETRIES) as site,
    ):
        redirecting = site.start_provider("--redirect", "1", "--redirect-to", second_host.address)
        flooding = site.start_provider("--huge", "1")
        endless = site.start_provider("--endless", "1")
        judges = ("gemini-3.1-pro", "gpt-5.4", "claude-opus-4.6")
        providers = (redirecting, flooding, endless)
        site.name_endpoints(
            {judge: provider.base_url for judge, provider in zip(judges, providers, strict=True)}
        )
        judge_pass = site.start_pass("--limit", "8")
        worker = site.start_worker()
        wait_until(site.is_over, most_s=90)
        most_memory = _peak_memory(worker.pid)

        assert second_host.requests == []
        assert site.status(judge_pass)["state"] == "FINISHED"
        codes = {
            (judge, code): n
            for judge, code, n in site.query(
                "SELECT judge.slug, verdict.failure_code, count(*) FROM judging_verdict AS verdict "
                "JOIN judging_judge AS judge ON judge.id = verdict.judge_id "
                "WHERE verdict.state = 'CALL_FAILED' GROUP BY judge.slug, verdict.failure_code"
            )
        }
        assert codes == {
            ("gemini-3.1-pro", "bad_request"): 8,
            ("gpt-5.4", "bad_reply"): 8,
            ("claude-opus-4.6", "timeout"): 8,
        }
        assert_one_honest_result_a_row(site, *providers, n_rows=24)
        # A redirect is not asked for again, a bad reply once more, a time-out until five calls are used up.
        assert (redirecting.n_calls, flooding.n_calls, endless.n_calls) == (8, 16, 40)
        assert most_memory < 400 * MIB


@pytest.mark.long
def test_a_provider_that_refuses_nine_of_ten_calls_is_done_within_the_policy(make_site: MakeSite) -> None:
    with make_site(environment=QUICK_RETRIES) as site:
        provider = site.start_judging_provider("--rate-limited", "0.9", "--retry-after", "0")
        judge_pass = site.start_pass("--limit", "30")
        workers = [site.start_worker(), site.start_worker()]
        wait_until(site.is_over, most_s=240)

        assert [worker.poll() for worker in workers] == [None, None]
        assert site.status(judge_pass)["state"] == "FINISHED"
        totals = assert_one_honest_result_a_row(site, provider, n_rows=90)
        assert set(totals.states) == {"SCORED", "CALL_FAILED"}
        assert (
            site.count("state = 'CALL_FAILED' AND failure_code = 'rate_limited'")
            == totals.states["CALL_FAILED"]
        )
        # Twenty refusals end a row; one that is answered at last was called once more than refused.
        most = max(
            n for (n,) in site.query("SELECT count(*) FROM judging_verdictattempt GROUP BY verdict_id")
        )
        assert most <= 20
        assert provider.n_calls == totals.n_attempts <= 90 * 20


@pytest.mark.long
def test_retry_after_an_hour_defers_the_row_frees_the_slot_and_is_said(site: Installation) -> None:
    """Two slots: were a deferred row to keep its own, the others would not be judged."""
    provider = site.start_judging_provider("--rate-limited", "0.2", "--retry-after", "3600", max_in_flight=2)
    began = dt.datetime.now(dt.UTC)
    judge_pass = site.start_pass("--limit", "20")
    site.start_worker()
    wait_until(lambda: _n_due(site) == 0, most_s=60, what="every row judged or deferred")

    status = site.status(judge_pass)
    page = site.pages(f"/research/b/judges/{judge_pass}/")[f"/research/b/judges/{judge_pass}/"]

    assert status["state"] == "RUNNING"
    n_deferred = status["counts"]["PENDING"]
    assert 3 <= n_deferred <= 25
    assert status["counts"] == {"SCORED": 60 - n_deferred, "PENDING": n_deferred}
    assert provider.n_calls == 60
    due = [_utc(at) for (at,) in site.query("SELECT not_before FROM judging_verdict WHERE state = 'PENDING'")]
    assert all(dt.timedelta(minutes=59) < at - began < dt.timedelta(minutes=62) for at in due)
    first = min(due)
    assert f'Waiting for the provider until <time datetime="{first.isoformat(timespec="seconds")}"' in page


def _n_due(site: Installation) -> int:
    return site.count("state = 'RUNNING' OR (state = 'PENDING' AND not_before IS NULL)")


def _utc(at: dt.datetime | str) -> dt.datetime:
    moment = dt.datetime.fromisoformat(at) if isinstance(at, str) else at
    return moment.replace(tzinfo=dt.UTC) if moment.tzinfo is None else moment.astimezone(dt.UTC)


def _peak_memory(pid: int) -> int:
    """Most memory that a process ever held, in bytes."""
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
