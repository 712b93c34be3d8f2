"""Whole collections against the loopback provider: what is stored, what is tried again, what is spent."""

import json
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Response
from judging.foreground import judge_until_done
from judging.models import Generation, GenerationAttempt, JudgePass
from judging.passes.control import cancel_pass, resume_pass
from judging.passes.progress import measure_progress
from tests.collecting import stage
from tests.collecting.conftest import Provide
from tests.factories import make_response
from tests.passes.stage import stats

pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM_PROMPT = "You are a kind helper."


def only_attempt() -> GenerationAttempt:
    return GenerationAttempt.objects.get()


def test_every_prompt_is_answered_in_every_rollout(provide: Provide) -> None:
    benchmark = stage.make_prompts(4)

    with provide() as base_url:
        judge_pass = stage.collect(benchmark, models=stage.MODELS, rollouts=3)
        n_calls = stats(base_url)["calls"]

    responses = stage.responses_of(benchmark)
    assert judge_pass.state == "FINISHED"
    assert stage.states(judge_pass) == {"COLLECTED": 24}
    assert len(responses) == n_calls == 24
    assert {response.state for response in responses} == {"OK"}
    assert len({(r.prompt_id, r.target_model_id, r.rollout) for r in responses}) == 24
    assert len({response.text for response in responses[:3]}) > 1


def test_a_response_tells_how_it_was_made(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)

    with provide():
        judge_pass = stage.collect(benchmark, max_tokens=77, system_prompt=SYSTEM_PROMPT)

    [response] = stage.responses_of(benchmark)
    row = Generation.objects.get()
    assert row.response == response
    assert response.finish_reason == "stop"
    assert response.tokens_source == "PROVIDER"
    assert response.n_tokens == only_attempt().tokens_out
    assert response.settings == {
        "pass": judge_pass.public_id,
        "endpoint": "local",
        "model_id": "model-a",
        "model_said": "model-a",
        "parameters": {"max_tokens": 77},
        "system_prompt_sha256": judge_pass.configuration["system_prompt_sha256"],
        "is_simulated": True,
    }
    assert only_attempt().parameters == {"max_tokens": 77}
    assert only_attempt().reply_text == response.text


@pytest.mark.parametrize(
    ("fault", "row_state", "response_state", "error", "n_calls"),
    [
        ("empty", "EMPTY", "EMPTY", None, 1),
        ("filtered", "FILTERED", "FILTERED", "filtered: content_filter", 1),
        ("blocked", "FILTERED", "FILTERED", "filtered: content_policy", 1),
        # Asked once: a second draw with a larger limit would be another measurement.
        ("truncated", "TRUNCATED", "TRUNCATED", "truncated: length", 1),
        ("html", "CALL_FAILED", "ERROR", "bad_reply: not JSON by its content type", 2),
        ("redirect", "CALL_FAILED", "ERROR", "bad_request: HTTP 307", 1),
    ],
)
def test_each_outcome_is_a_named_state_and_a_failure_is_never_an_empty_response(
    provide: Provide, fault: str, row_state: str, response_state: str, error: str | None, n_calls: int
) -> None:
    benchmark = stage.make_prompts(1)

    with provide(faults={fault: 1.0}):
        judge_pass = stage.collect(benchmark)

    [response] = stage.responses_of(benchmark)
    assert stage.states(judge_pass) == {row_state: 1}
    assert response.state == response_state
    assert response.error == error
    assert GenerationAttempt.objects.count() == n_calls


def test_a_cut_answer_is_kept_as_far_as_it_came(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)

    with provide(faults={"truncated": 1.0}):
        stage.collect(benchmark)

    [response] = stage.responses_of(benchmark)
    assert response.text == only_attempt().reply_text
    assert response.text.strip()
    assert response.finish_reason == "length"


def test_a_model_that_declines_has_answered(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)

    with provide(faults={"refusal": 1.0}):
        judge_pass = stage.collect(benchmark)

    [response] = stage.responses_of(benchmark)
    assert stage.states(judge_pass) == {"COLLECTED": 1}
    assert response.state == "OK"
    assert response.text.strip()


def test_failures_are_tried_again_and_every_call_is_in_the_ledger(provide: Provide) -> None:
    benchmark = stage.make_prompts(12)

    with provide(faults={"rate_limited": 0.2, "server_error": 0.2}) as base_url:
        judge_pass = stage.collect(benchmark)
        n_calls = stats(base_url)["calls"]

    assert stage.states(judge_pass) == {"COLLECTED": 12}
    assert GenerationAttempt.objects.count() == n_calls > 12
    assert measure_progress(judge_pass).n_attempts == n_calls


def test_a_parameter_that_a_model_refuses_is_left_out_and_remembered(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)

    with provide(rejects=("temperature",), limits={"max_in_flight": 1}) as base_url:
        call = {"temperature": Decimal(1), "max_tokens": 10}
        first = stage.collect(benchmark, limit=1, **call)
        before = stats(base_url)["calls"]
        second = stage.collect(benchmark, **call)
        n_after = stats(base_url)["calls"] - before

    assert stage.states(first) == {"COLLECTED": 1}
    assert stage.states(second) == {"COLLECTED": 2}
    assert before == 2
    assert n_after == 2
    assert {str((r.settings or {})["parameters"]) for r in stage.responses_of(benchmark)} == {
        "{'max_tokens': 10}"
    }


def test_collecting_again_calls_nobody_and_a_failure_is_collected_anew(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)
    with provide(faults={"redirect": 1.0}):
        stage.collect(benchmark, limit=1)
    [failed] = stage.responses_of(benchmark)

    with provide() as base_url:
        second = stage.collect(benchmark)
        n_calls = stats(base_url)["calls"]
        call_command("collect_responses", benchmark=benchmark.slug, model=["model-a"], stderr=StringIO())
        n_again = stats(base_url)["calls"] - n_calls

    failed.refresh_from_db()
    assert stage.states(second) == {"COLLECTED": 3}
    assert (failed.state, failed.error) == ("OK", None)
    assert (n_calls, n_again) == (3, 0)


def test_a_response_that_arrives_meanwhile_stays_and_costs_no_call(provide: Provide) -> None:
    benchmark = stage.make_prompts(2)
    with provide() as base_url:
        judge_pass = stage.start(benchmark)
        row = Generation.objects.order_by("pk").first()
        assert row is not None
        imported = make_response(prompt=row.prompt, target_model=row.target_model, rollout=0, text="Mine.")
        judge_until_done(judge_pass, interval_s=0.02)
        n_calls = stats(base_url)["calls"]

    row.refresh_from_db()
    imported.refresh_from_db()
    judge_pass.refresh_from_db()
    assert imported.text == "Mine."
    assert (row.state, row.response) == ("CANCELLED", None)
    assert "stays as it is" in (row.detail or "")
    assert (n_calls, judge_pass.n_calls_reserved) == (1, 1)
    assert judge_pass.state == "FINISHED"


def test_a_cap_on_calls_is_kept_and_a_resume_goes_on(provide: Provide) -> None:
    benchmark = stage.make_prompts(8)

    with provide(limits={"max_in_flight": 32}) as base_url:
        judge_pass = stage.collect(benchmark, max_calls=5)
        at_cap = (judge_pass.state, judge_pass.pause_reason, stats(base_url)["calls"])
        resume_pass(judge_pass, max_calls=8)
        judge_until_done(judge_pass, interval_s=0.02)
        n_calls = stats(base_url)["calls"]

    assert at_cap == ("PAUSED", "budget", 5)
    assert judge_pass.state == "FINISHED"
    assert n_calls == 8


def test_money_is_settled_at_what_the_calls_cost(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)

    with provide(prices=("1", "2")):
        judge_pass = stage.collect(benchmark, max_cost=Decimal(1))

    costs = GenerationAttempt.objects.values_list("cost_micros", flat=True)
    assert judge_pass.cost_settled_micros == judge_pass.cost_reserved_micros == sum(c or 0 for c in costs) > 0


def test_a_key_revoked_on_the_way_pauses_the_collection_and_stores_no_failure(provide: Provide) -> None:
    benchmark = stage.make_prompts(10)

    with provide(revoke_after=4, limits={"max_in_flight": 2}):
        judge_pass = stage.collect(benchmark)

    assert (judge_pass.state, judge_pass.pause_reason) == ("PAUSED", "auth")
    assert {response.state for response in stage.responses_of(benchmark)} == {"OK"}
    assert stage.states(judge_pass)["PENDING"] == 10 - len(stage.responses_of(benchmark))


def test_a_cancelled_collection_asks_no_more(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)

    with provide() as base_url:
        judge_pass = stage.start(benchmark)
        cancel_pass(judge_pass)
        judge_until_done(judge_pass, interval_s=0.02)
        n_calls = stats(base_url)["calls"]

    assert n_calls == 0
    assert stage.states(judge_pass) == {"CANCELLED": 3}
    assert not Response.objects.exists()


def test_a_request_that_cannot_be_made_is_a_failed_response_and_no_call(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)

    with provide():
        judge_pass = stage.start(benchmark)
        Generation.objects.update(counters={"n_truncated": "many"})
        judge_until_done(judge_pass, interval_s=0.02)

    [response] = stage.responses_of(benchmark)
    assert stage.states(judge_pass) == {"CALL_FAILED": 1}
    assert response.state == "ERROR"
    assert (response.error or "").startswith("bad_request: no request could be built")
    assert not GenerationAttempt.objects.exists()


def test_command_prints_one_document(provide: Provide, tmp_path: Path) -> None:
    benchmark = stage.make_prompts(2)
    file, out, err = tmp_path / "system.txt", StringIO(), StringIO()
    file.write_text(SYSTEM_PROMPT)

    with provide():
        call_command(
            "collect_responses",
            *("--benchmark", benchmark.slug, "--model", *stage.MODELS, "--rollouts", "2"),
            *("--temperature", "0.5", "--system-prompt", str(file), "--foreground", "--json"),
            stdout=out,
            stderr=err,
        )

    judge_pass = JudgePass.objects.get()
    document = json.loads(out.getvalue())
    assert document == {
        "pass": judge_pass.public_id,
        "state": "FINISHED",
        "n_rows": 8,
        "n_standing": 0,
        "n_under_way": 0,
    }
    assert judge_pass.configuration["system_prompt"] == SYSTEM_PROMPT
    assert judge_pass.configuration["targets"]["model-a"]["parameters"]["temperature"] == 0.5
    assert "SIMULATED" in err.getvalue()


def test_command_ends_without_success_when_the_collection_does_not_finish(provide: Provide) -> None:
    benchmark = stage.make_prompts(3)

    with provide(), pytest.raises(SystemExit) as ended:
        call_command(
            "collect_responses",
            *("--benchmark", benchmark.slug, "--model", "model-a", "--max-calls", "1", "--foreground"),
            stdout=StringIO(),
            stderr=StringIO(),
        )

    assert ended.value.code == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--temperature", "warm"], "--temperature is 'warm'; expected a number such as 0.7"),
        (["--system-prompt", "/no/such/file"], "cannot be read"),
        (["--rollouts", "0"], "rollouts is 0"),
    ],
)
def test_command_says_what_cannot_be_used(provide: Provide, options: list[str], words: str) -> None:
    benchmark = stage.make_prompts(1)

    with provide(), pytest.raises(CommandError, match=words):
        call_command("collect_responses", "--benchmark", benchmark.slug, "--model", "model-a", *options)


def test_simulated_answers_are_marked_in_a_benchmark_that_is_not(provide: Provide) -> None:
    benchmark = stage.make_prompts(1)

    with provide():
        judge_pass = stage.collect(benchmark)

    [response] = stage.responses_of(benchmark)
    assert not benchmark.is_simulated
    assert judge_pass.is_simulated
    assert response.settings is not None
    assert response.settings["is_simulated"] is True
