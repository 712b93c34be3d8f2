"""The whole loop, calls included, against the loopback provider."""

import asyncio
import logging
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from judging.choices import PassState
from judging.llm.endpoints import load_endpoints
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.retrying import RetryPolicy
from judging.models import EndpointGate, Judge, JudgePass, SlotLease, Verdict, VerdictAttempt
from judging.passes.control import cancel_pass, resume_pass
from judging.queue.loop import EndpointLoop
from judging.queue.results import MAX_UNPROVEN_IN_FLIGHT
from judging.verdicts.work import JUDGING
from tests.passes import stage
from tests.verdicts.conftest import Provide
from tests.verdicts.waiting import run_two_loops

pytestmark = pytest.mark.django_db(transaction=True)


def outcomes() -> list[str]:
    return list(VerdictAttempt.objects.order_by("pk").values_list("outcome", flat=True))


def test_a_few_shot_pass_with_faults_ends_in_named_states(provide: Provide) -> None:
    benchmark = stage.make_material(20, n_labelled=10)
    faults = {"rate_limited": 0.1, "server_error": 0.05, "malformed": 0.1, "out_of_range": 0.05}

    with provide(faults=faults, limits={"max_in_flight": 16}) as base_url:
        judge_pass = stage.judge(stage.start(benchmark, judges=stage.JUDGES, shots=2))
        stats = stage.stats(base_url)

    assert judge_pass.state == PassState.FINISHED
    assert set(stage.states(judge_pass)) <= {"SCORED", "PARSE_FAILED", "OUT_OF_RANGE"}
    assert sum(stage.states(judge_pass).values()) == 60
    assert VerdictAttempt.objects.count() == stats["calls"]
    assert stats["peak_in_flight"] <= 16
    assert stats["duplicates"] == 0


def test_two_loops_with_32_slots_keep_to_ten_calls(provide: Provide, settings: Any) -> None:
    settings.SLOTS_PER_LOOP = 32
    benchmark = stage.make_material(30)

    with provide(latency_ms=30, limits={"max_in_flight": 64}) as base_url:
        judge_pass = stage.start(benchmark, max_calls=10)
        run_two_loops("local-0")
        stats = stage.stats(base_url)

    judge_pass.refresh_from_db()
    assert stats["calls"] == 10
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, "budget")
    assert stage.states(judge_pass) == {"SCORED": 10, "PENDING": 20}


def test_a_key_revoked_in_mid_pass_pauses_and_resume_judges_what_is_missing(provide: Provide) -> None:
    benchmark = stage.make_material(30)
    with provide(revoke_after=10) as first:
        judge_pass = stage.judge(stage.start(benchmark))
    n_scored = stage.states(judge_pass)["SCORED"]
    paused = (judge_pass.state, judge_pass.pause_reason)
    n_open = stage.states(judge_pass)["PENDING"]

    with provide(port=stage.port_of(first)) as base_url:
        resume_pass(judge_pass)
        stage.judge(judge_pass)
        stats = stage.stats(base_url)

    assert paused == (PassState.PAUSED, "auth")
    assert 10 <= n_scored < 30
    assert n_open == 30 - n_scored
    assert judge_pass.state == PassState.FINISHED
    assert stage.states(judge_pass) == {"SCORED": 30}
    assert stats["calls"] == 30 - n_scored


def test_items_that_are_forbidden_in_mid_pass_settle_and_the_others_go_on(provide: Provide) -> None:
    benchmark = stage.make_material(40)

    with provide(faults={"forbidden": 0.25}):
        judge_pass = stage.start(benchmark)
        run_until_it_moves_no_more(judge_pass)

    states = stage.states(judge_pass)
    codes = set(Verdict.objects.exclude(state="SCORED").values_list("state", "failure_code"))
    assert judge_pass.state == PassState.FINISHED
    assert states["SCORED"] > 15
    assert codes == {("CALL_FAILED", "auth")}


def run_until_it_moves_no_more(judge_pass: JudgePass) -> None:
    """Judge, and resume whenever a refused key paused the pass; three times at most."""
    stage.judge(judge_pass)
    for _ in range(3):
        if judge_pass.state == PassState.PAUSED:
            resume_pass(judge_pass)
            stage.judge(judge_pass)


def test_a_row_that_is_always_refused_pauses_its_pass_once(provide: Provide) -> None:
    benchmark = stage.make_material(1)

    with provide(faults={"forbidden": 1.0}):
        judge_pass = stage.judge(stage.start(benchmark))
        paused = (judge_pass.state, judge_pass.pause_reason, stage.states(judge_pass)["PENDING"])
        resume_pass(judge_pass)
        stage.judge(judge_pass)

    assert paused == (PassState.PAUSED, "auth", 1)
    assert Verdict.objects.get().failure_code == "auth"
    assert judge_pass.state == PassState.FINISHED


def test_403s_on_end_are_the_keys_doing_and_pause_the_pass(provide: Provide, settings: Any) -> None:
    benchmark = stage.make_material(60)
    with provide() as first:
        judge_pass = stage.start(benchmark, max_calls=10)
        stage.judge(judge_pass)

    with provide(port=stage.port_of(first), faults={"forbidden": 1.0}):
        resume_pass(judge_pass, max_calls=1_000)
        stage.judge(judge_pass)

    states = stage.states(judge_pass)
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, "auth")
    assert states == {"SCORED": 10, "CALL_FAILED": 5, "PENDING": 45}


def test_texts_that_the_provider_blocks_are_filtered_and_pause_nothing(provide: Provide) -> None:
    benchmark = stage.make_material(20)

    with provide(faults={"blocked": 0.5}):
        judge_pass = stage.judge(stage.start(benchmark))

    assert judge_pass.state == PassState.FINISHED
    assert set(stage.states(judge_pass)) == {"SCORED", "FILTERED"}
    assert set(outcomes()) == {"ok", "filtered"}


def test_a_model_without_a_token_limit_is_not_called_under_a_money_cap(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(12)
    rejects = ("max_tokens", "max_completion_tokens")
    with running(FakeProviderSettings(rejects=rejects)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "p.toml", base_url, prices=("1", "1"))
        capped = stage.judge(stage.start(benchmark, max_cost=Decimal(5)))
        # The loop may have given back further rows after the pause was seen.
        capped.refresh_from_db()
        stats, paused = stage.stats(base_url), (capped.state, capped.pause_reason)
        note, n_reserved = capped.state_note, capped.n_calls_reserved
        cancel_pass(capped)
        uncapped = stage.judge(stage.start(benchmark))

    assert paused == (PassState.PAUSED, "budget")
    assert note is not None
    assert "takes no token limit" in note
    assert stats["answered"] == capped.cost_settled_micros == capped.cost_reserved_micros == 0
    assert n_reserved == stats["calls"]
    assert stage.states(uncapped) == {"SCORED": 12}


def test_calls_cost_what_the_pass_froze_whatever_the_file_says_later(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(3)
    with running(FakeProviderSettings()) as base_url:
        path = tmp_path / "p.toml"
        settings.ENDPOINTS_FILE = stage.write_endpoints(path, base_url, prices=("1", "2"))
        judge_pass = stage.start(benchmark)
        stage.write_endpoints(path, base_url, prices=("1000", "1000"))

        stage.judge(judge_pass)

    attempts = VerdictAttempt.objects.all()
    assert [one.cost_micros for one in attempts] == [one.tokens_in + 2 * one.tokens_out for one in attempts]
    assert judge_pass.cost_settled_micros == sum(one.cost_micros or 0 for one in attempts)


def test_a_refused_parameter_is_learned_and_no_longer_sent(provide: Provide) -> None:
    benchmark = stage.make_material(20)

    with provide(rejects=("temperature",)):
        judge_pass = stage.judge(stage.start(benchmark))

    assert stage.states(judge_pass) == {"SCORED": 20}
    assert Judge.objects.get(slug=stage.JUDGES[0]).capabilities["temperature"] is False
    assert outcomes().count("bad_request") <= 5


@pytest.mark.parametrize(
    ("fault", "state", "code", "n_calls"),
    [
        ("truncated", "TRUNCATED", None, 2),
        ("malformed", "PARSE_FAILED", None, 2),
        ("out_of_range", "OUT_OF_RANGE", None, 2),
        ("html", "CALL_FAILED", "bad_reply", 2),
        ("filtered", "FILTERED", None, 1),
        ("refusal", "REFUSED", None, 1),
        ("redirect", "CALL_FAILED", "bad_request", 1),
    ],
)
def test_a_fault_that_stays_ends_in_its_state_after_as_many_calls(
    provide: Provide, fault: str, state: str, code: str | None, n_calls: int
) -> None:
    benchmark = stage.make_material(2)

    with running(FakeProviderSettings()) as elsewhere, provide(faults={fault: 1.0}, redirect_to=elsewhere):
        judge_pass = stage.judge(stage.start(benchmark))
        other_host = stage.stats(elsewhere)

    assert stage.states(judge_pass) == {state: 2}
    assert {row.failure_code for row in Verdict.objects.all()} == {code}
    assert [row.attempts.count() for row in Verdict.objects.all()] == [n_calls, n_calls]
    assert other_host["calls"] == other_host["other_calls"] == 0


def test_a_call_longer_than_the_lease_is_made_once(provide: Provide, settings: Any) -> None:
    settings.LEASE_S = 1.0
    benchmark = stage.make_material(2)

    with provide(latency_ms=1_600) as base_url:
        judge_pass = stage.judge(stage.start(benchmark))
        stats = stage.stats(base_url)

    assert stage.states(judge_pass) == {"SCORED": 2}
    assert stats["calls"] == 2
    assert not Verdict.objects.filter(n_deaths__gt=0).exists()


def test_before_the_first_answer_few_calls_are_in_flight_over_two_loops(
    provide: Provide, settings: Any
) -> None:
    settings.MAX_ATTEMPTS = 1
    benchmark = stage.make_material(40)

    with provide(faults={"server_error": 1.0}, latency_ms=40, limits={"max_in_flight": 32}) as base_url:
        judge_pass = stage.start(benchmark)
        run_two_loops("local-0")
        stats = stage.stats(base_url)

    assert stage.states(judge_pass) == {"CALL_FAILED": 40}
    assert stats["calls"] == 40
    assert stats["peak_in_flight"] <= MAX_UNPROVEN_IN_FLIGHT


def test_after_the_first_answer_all_slots_are_filled(provide: Provide) -> None:
    benchmark = stage.make_material(40)

    with provide(latency_ms=300, limits={"max_in_flight": 32}) as base_url:
        judge_pass = stage.judge(stage.start(benchmark))
        stats = stage.stats(base_url)

    assert stage.states(judge_pass) == {"SCORED": 40}
    assert stats["peak_in_flight"] > 4 * MAX_UNPROVEN_IN_FLIGHT


def test_two_loops_share_an_endpoint_and_keep_its_limit(provide: Provide) -> None:
    benchmark = stage.make_material(80)

    with provide(latency_ms=60) as base_url:
        judge_pass = stage.start(benchmark)
        run_two_loops("local-0")
        stats = stage.stats(base_url)

    assert stage.states(judge_pass) == {"SCORED": 80}
    assert stats["peak_in_flight"] == 8
    assert stats["duplicates"] == 0
    assert not SlotLease.objects.exists()


def test_what_was_sent_stands_with_the_attempt(provide: Provide) -> None:
    benchmark = stage.make_material(3)

    with provide(rejects=("temperature",)):
        stage.judge(stage.start(benchmark))

    sent = {attempt.outcome: attempt.parameters for attempt in VerdictAttempt.objects.all()}
    assert sent == {
        "bad_request": {"temperature": 0.0, "max_tokens": 1024},
        "ok": {"max_tokens": 1024},
    }


def test_the_key_is_nowhere_in_logs_and_rows(provide: Provide, caplog: pytest.LogCaptureFixture) -> None:
    benchmark = stage.make_material(12)
    with caplog.at_level(logging.DEBUG), provide(revoke_after=5, faults={"server_error": 0.3}):
        stage.judge(stage.start(benchmark))

    rows = [
        str(values)
        for model in apps.get_models()
        if model._meta.app_label in ("judging", "annotation")
        for values in model._default_manager.values()
    ]
    assert "auth" in outcomes()
    assert caplog.records
    assert stage.MARKER_KEY not in caplog.text
    assert stage.MARKER_KEY not in "\n".join(rows)


def test_a_flood_of_429_holds_the_endpoint_and_the_pass_finishes(provide: Provide, settings: Any) -> None:
    benchmark = stage.make_material(20)

    with provide(faults={"rate_limited": 0.6}) as base_url:
        judge_pass = stage.start(benchmark)
        endpoint = load_endpoints(settings.ENDPOINTS_FILE)["local-0"]
        policy = RetryPolicy(backoff_base_s=0.05, backoff_cap_s=0.3)
        asyncio.run(EndpointLoop(JUDGING, endpoint, should_stop=lambda: False, policy=policy).run())
        stats = stage.stats(base_url)

    judge_pass.refresh_from_db()
    assert judge_pass.state == PassState.FINISHED
    assert 20 < stats["calls"] <= 20 * 20
    assert stage.states(judge_pass) == {"SCORED": 20}
    assert EndpointGate.objects.get().not_before is not None
