"""How far a pass is, as a value and as the commands print it."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from judging.choices import PassKind, PassState
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import Generation, JudgePass, Verdict
from judging.passes.progress import measure_progress
from tests.factories import make_attempt, make_judge, make_pass, make_prompt, make_response, make_verdict
from tests.monitoring.running_passes import make_running_collection
from tests.passes import stage

pytestmark = pytest.mark.django_db
KEYS = ["pass", "state", "reason", "counts", "n_attempts", "cost", "rate_per_s", "seconds_left"]


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def make_running_pass(*, n_scored: int, n_pending: int, **values: Any) -> JudgePass:
    values.setdefault("started_at", timezone.now() - timedelta(minutes=5))
    judge_pass, judge = make_pass(state=PassState.RUNNING, **values), make_judge()
    for position in range(n_scored + n_pending):
        is_scored = position < n_scored
        make_verdict(
            judge_pass=judge_pass,
            judge=judge,
            response=make_response(prompt=make_prompt(benchmark=judge_pass.benchmark)),
            state="SCORED" if is_scored else "PENDING",
            token=1 if is_scored else 0,
            settled_at=timezone.now() if is_scored else None,
        )
    return judge_pass


def test_scores_by_policy_are_no_rate() -> None:
    judge_pass = make_running_pass(n_scored=0, n_pending=3)
    make_verdict(judge_pass=judge_pass, is_by_policy=True, settled_at=timezone.now())

    progress = measure_progress(judge_pass)

    assert (progress.rate_per_s, progress.seconds_left) == (0, None)


def test_cost_beside_the_ledger_is_told_apart() -> None:
    judge_pass = make_running_pass(
        n_scored=2, n_pending=0, configuration={"worst_call_micros": 50_000}, cost_settled_micros=120_000
    )
    known, lost = judge_pass.verdicts.order_by("pk")
    make_attempt(verdict=known, cost_micros=20_000)
    make_attempt(verdict=lost, cost_micros=None, outcome="timeout")

    progress = measure_progress(judge_pass)

    assert (progress.cost, progress.cost_beside) == (0.12, 0.1)


def test_rate_and_time_left_come_from_the_last_half_minute() -> None:
    progress = measure_progress(make_running_pass(n_scored=6, n_pending=3))

    assert progress.counts == {"PENDING": 3, "SCORED": 6}
    assert progress.rate_per_s == pytest.approx(6 / 30)
    assert progress.seconds_left == 15


def test_a_pass_that_is_not_running_has_no_rate() -> None:
    judge_pass = make_running_pass(n_scored=1, n_pending=1)
    judge_pass.state, judge_pass.pause_reason = PassState.PAUSED, "user"

    progress = measure_progress(judge_pass)

    assert (progress.rate_per_s, progress.seconds_left) == (None, None)


def test_cost_is_null_without_prices_and_exact_with_them() -> None:
    unpriced = make_running_pass(n_scored=1, n_pending=0)
    priced = make_running_pass(
        n_scored=1, n_pending=0, configuration={"worst_call_micros": 900}, cost_settled_micros=1_250_000
    )

    assert measure_progress(unpriced).cost is None
    assert measure_progress(priced).cost == 1.25


def test_progress_needs_three_queries_at_most(django_assert_max_num_queries: Any) -> None:
    judge_pass = make_running_pass(n_scored=4, n_pending=4)
    make_attempt(verdict=Verdict.objects.first())

    with django_assert_max_num_queries(3):
        measure_progress(judge_pass)


def test_pass_status_prints_exactly_the_agreed_document() -> None:
    judge_pass = make_running_pass(n_scored=2, n_pending=1)

    document = json.loads(run("pass_status", judge_pass.public_id, "--json"))

    assert list(document) == KEYS
    assert document["pass"] == judge_pass.public_id
    assert document["state"] == "RUNNING"
    assert document["reason"] is None
    assert document["counts"] == {"PENDING": 1, "SCORED": 2}


@pytest.mark.parametrize("kind", PassKind.values)
def test_pass_status_prints_the_same_keys_for_every_kind_of_pass(kind: str) -> None:
    if kind == PassKind.COLLECTION:
        judge_pass = make_running_collection(n_pending=2)
    else:
        judge_pass = make_running_pass(n_scored=0, n_pending=2, kind=kind)

    document = json.loads(run("pass_status", judge_pass.public_id, "--json"))

    assert list(document) == KEYS
    assert document["counts"] == {"PENDING": 2}


def test_pass_status_says_until_when_a_pass_waits() -> None:
    judge_pass = make_running_collection(n_pending=1)
    Generation.objects.update(not_before=timezone.now().replace(year=2126, month=3, day=1, hour=14, minute=5))

    assert "Waiting for the provider until 2126-03-01 14:05 UTC" in run("pass_status", judge_pass.public_id)


def test_pass_status_says_in_words_what_it_costs_and_how_long_it_takes() -> None:
    judge_pass = make_running_pass(
        n_scored=6, n_pending=630, configuration={"worst_call_micros": 900}, cost_settled_micros=12_340_000
    )
    make_attempt(verdict=Verdict.objects.first(), detail="late: the row had left this worker's hands")

    text = " ".join(run("pass_status", judge_pass.public_id).split())

    assert "calls 1 (1 late: they changed no verdict)" in text
    assert "cost 12.34 per second 0.2 time left 0:52:30" in text


def test_pass_status_of_a_paused_pass_without_prices_says_what_is_not_known() -> None:
    judge_pass = make_pass(state=PassState.PAUSED, pause_reason="user", state_note="The endpoint has moved.")

    text = " ".join(run("pass_status", judge_pass.public_id).split())

    assert text == f"{judge_pass.public_id} is PAUSED (user) calls 0 cost unknown The endpoint has moved."


def test_a_finished_configuration_is_named_and_started_again_only_when_asked(
    settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = stage.make_material(1)
    command = ("start_pass", "--benchmark", benchmark.slug, "--judge", stage.JUDGES[0])
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        first = run(*command)
        JudgePass.objects.update(state=PassState.FINISHED)

        second, said = run(*command, "--foreground"), capsys.readouterr().err
        third = run(*command, "--again")

    assert second == first
    assert "finished already" in said
    assert third != first


def test_resume_pass_raises_a_cap(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(3)
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        judge_pass = stage.start(benchmark, max_calls=1)
        JudgePass.objects.update(state="PAUSED", pause_reason="budget", n_calls_reserved=1)

        with pytest.raises(CommandError, match=r"used 1 calls and the cap is 1; expected a cap of 2 calls"):
            run("resume_pass", judge_pass.public_id)
        with pytest.raises(CommandError, match="expected an amount such as"):
            run("resume_pass", judge_pass.public_id, "--max-cost", "much")
        said = run("resume_pass", judge_pass.public_id, "--max-calls", "5")

    judge_pass.refresh_from_db()
    assert said == f"{judge_pass.public_id} is RUNNING.\n"
    assert judge_pass.max_calls == 5


def test_start_pause_cancel_print_exactly_the_agreed_document(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(2)
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        started = json.loads(
            run("start_pass", "--benchmark", benchmark.slug, "--judge", stage.JUDGES[0], "--json")
        )
    paused = json.loads(run("pause_pass", started["pass"], "--json"))
    cancelled = json.loads(run("cancel_pass", started["pass"], "--json"))

    assert started == {"pass": JudgePass.objects.get().public_id, "state": "RUNNING"}
    assert paused == {"pass": started["pass"], "state": "PAUSED"}
    assert cancelled == {"pass": started["pass"], "state": "CANCELLED"}


def test_start_pass_with_a_dead_key_fails_with_the_reason(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(2)
    with running(FakeProviderSettings(dead_key=True)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)

        with pytest.raises(CommandError, match="key refused"):
            run("start_pass", "--benchmark", benchmark.slug, "--judge", stage.JUDGES[0])

    assert not JudgePass.objects.exists()


@pytest.mark.parametrize("command", ["pause_pass", "resume_pass", "cancel_pass", "pass_status"])
def test_an_unknown_pass_is_an_error(command: str) -> None:
    with pytest.raises(CommandError):
        run(command, "nosuchpass")
