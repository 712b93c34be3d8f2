"""Starting a pass: what is refused before anything is stored, and what is stored."""

import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from annotation.choices import ItemKind, ResponseState
from annotation.models import AuditEvent, Response
from judging.choices import PassState
from judging.errors import Conflict, DomainError, PassError
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import EndpointGate, Judge, JudgePass, Rubric, Verdict
from judging.passes.starting import PassRequest, start_pass
from tests.factories import (
    make_benchmark,
    make_campaign,
    make_item,
    make_judge,
    make_pass,
    make_prompt,
    make_response,
)
from tests.passes import stage

pytestmark = pytest.mark.django_db


def nothing_is_stored() -> bool:
    models = (JudgePass, Verdict, Judge, Rubric, EndpointGate)
    return (
        not any(model.objects.exists() for model in models)
        and not AuditEvent.objects.filter(action="pass.started").exists()
    )


def test_start_makes_one_pending_row_for_each_judge_and_complete_response(provider: str) -> None:
    benchmark = stage.make_material(3)

    judge_pass = stage.start(benchmark, judges=stage.JUDGES)

    assert judge_pass.state == PassState.RUNNING
    assert stage.states(judge_pass) == {"PENDING": 9}
    assert {judge.slug for judge in judge_pass.judges.all()} == set(stage.JUDGES)
    assert stage.stats(provider)["calls"] == 0
    assert stage.stats(provider)["other_calls"] == 3


@pytest.mark.parametrize("state", [state for state in ResponseState.values if state != "OK"])
def test_an_incomplete_response_is_skipped_with_its_reason(provider: str, state: str) -> None:
    benchmark = stage.make_material(1)
    make_response(prompt=make_prompt(benchmark=benchmark), state=state, text="")

    judge_pass = stage.start(benchmark)

    skipped = Verdict.objects.get(judge_pass=judge_pass, state="SKIPPED")
    assert skipped.skip_code == f"RESPONSE_{state}"
    assert skipped.settled_at is not None


def test_the_frozen_configuration_names_everything_that_affects_a_score(provider: str) -> None:
    judge_pass = stage.start(stage.make_material(6, n_labelled=6), shots=1)

    frozen = judge_pass.configuration
    assert frozen["rubric"] == {"slug": "likert-v1", "sha256": Rubric.objects.get().text_hash}
    assert frozen["judges"] == {
        stage.JUDGES[0]: {"endpoint": "local-0", "base_url": provider, "model_id": stage.JUDGES[0]}
    }
    assert frozen["parameters"] == {"temperature": 0, "max_tokens": 1024, "output": "text"}
    assert frozen["shots"] == 1
    assert frozen["exclusion"] == "case"
    assert frozen["empty_policy"] == "skip"
    assert frozen["pool"]["n"] == 6
    assert frozen["pool"]["embedder"]
    assert len(frozen["pool"]["digest"]) == len(frozen["scope"]) == 64
    assert frozen["parser_version"]


def test_the_digest_depends_on_the_configuration_alone(provider: str) -> None:
    benchmark = stage.make_material(4)
    first = stage.start(benchmark)
    JudgePass.objects.update(state=PassState.FINISHED)

    again = stage.start(benchmark, max_calls=5, again=True)
    other = stage.start(benchmark, limit=3)

    assert again.digest == first.digest
    assert other.digest != first.digest


def test_names_count_on_and_leave_out_those_taken(provider: str) -> None:
    benchmark = stage.make_material(2)
    make_pass(benchmark=benchmark, name="likert-v1-0shot-2")

    names = [stage.start(benchmark, judges=[judge]).name for judge in stage.JUDGES[:2]]

    assert names == ["likert-v1-0shot-1", "likert-v1-0shot-3"]


def test_exemplars_are_stored_with_counts_and_never_the_case_itself(provider: str) -> None:
    benchmark = stage.make_material(8, n_labelled=8)

    judge_pass = stage.start(benchmark, shots=2)

    for verdict in Verdict.objects.filter(judge_pass=judge_pass):
        assert verdict.exemplars is not None
        assert verdict.response_id not in [exemplar["response"] for exemplar in verdict.exemplars]
        assert [verdict.n_exemplars_acceptable, verdict.n_exemplars_unacceptable] == [2, 2]
        assert sum(exemplar["unacceptable"] for exemplar in verdict.exemplars) == 2


def test_with_fewer_than_k_left_those_are_used_and_counted(provider: str) -> None:
    benchmark = stage.make_material(4, n_labelled=4)

    judge_pass = stage.start(benchmark, shots=2)

    counts = Verdict.objects.filter(judge_pass=judge_pass).order_by("pk")
    assert [(row.n_exemplars_acceptable, row.n_exemplars_unacceptable) for row in counts] == [
        (1, 2),
        (2, 1),
        (1, 2),
        (2, 1),
    ]


def test_the_same_configuration_twice_is_one_run(provider: str) -> None:
    benchmark = stage.make_material(2)
    stage.start(benchmark)

    with pytest.raises(Conflict) as caught:
        stage.start(benchmark)

    assert caught.value.code == "pass_running"
    assert JudgePass.objects.count() == 1
    assert Verdict.objects.count() == 2


@pytest.mark.parametrize(
    ("pause_reason", "way_out"),
    [("user", "Resume that one, or cancel"), ("budget", "Resume that one with a higher cap, or cancel")],
)
def test_a_twin_of_a_paused_pass_is_led_to_it(provider: str, pause_reason: str, way_out: str) -> None:
    benchmark = stage.make_material(1)
    paused = stage.start(benchmark)
    JudgePass.objects.update(state=PassState.PAUSED, pause_reason=pause_reason)

    with pytest.raises(Conflict) as caught:
        stage.start(benchmark)

    assert paused.public_id in caught.value.message
    assert way_out in caught.value.message


def test_a_finished_configuration_is_returned_without_a_call_or_a_row(provider: str) -> None:
    benchmark = stage.make_material(2)
    first = stage.start(benchmark)
    JudgePass.objects.update(state=PassState.FINISHED)
    n_calls = stage.stats(provider)["other_calls"]

    second = stage.start(benchmark)

    assert (second.pk, second.state) == (first.pk, PassState.FINISHED)
    assert stage.stats(provider)["other_calls"] == n_calls
    assert Verdict.objects.count() == 2


@pytest.mark.parametrize("change", ["again", "text", "address", "cancelled"])
def test_what_is_not_the_same_finished_configuration_is_judged(
    provider: str, settings: Any, tmp_path: Path, change: str
) -> None:
    benchmark = stage.make_material(2)
    first = stage.start(benchmark)
    JudgePass.objects.update(state="CANCELLED" if change == "cancelled" else "FINISHED")
    if change == "text":
        Response.objects.filter(pk=stage.first_response(benchmark).pk).update(text_hash="0" * 64)
    if change == "address":
        address = provider.replace("127.0.0.1", "localhost")
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "moved.toml", address)

    second = stage.start(benchmark, again=change == "again")

    assert (second.pk != first.pk, second.state) == (True, PassState.RUNNING)


def test_prices_are_frozen_beside_the_digest(settings: Any, tmp_path: Path, provider: str) -> None:
    benchmark = stage.make_material(1)
    unpriced = stage.start(benchmark)
    JudgePass.objects.update(state=PassState.FINISHED)
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "priced.toml", provider, prices=("1.5", "10"))

    priced = stage.start(benchmark, again=True)

    assert priced.configuration["prices"] == {stage.JUDGES[0]: {"in": "1.5", "out": "10"}}
    assert unpriced.configuration["prices"] == {}
    assert priced.digest == unpriced.digest


@pytest.mark.django_db(transaction=True)
def test_start_pressed_twice_at_once_is_one_run(provider: str) -> None:
    benchmark = stage.make_material(30)
    barrier, outcomes = threading.Barrier(4), []

    def press() -> None:
        barrier.wait()
        try:
            outcomes.append(stage.start(benchmark).state)
        except Conflict as conflict:
            outcomes.append(conflict.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == ["RUNNING", "pass_running", "pass_running", "pass_running"]
    assert Verdict.objects.count() == 30


@pytest.mark.django_db(transaction=True)
def test_different_passes_started_at_once_both_run(provider: str) -> None:
    benchmark = stage.make_material(10)
    barrier, outcomes = threading.Barrier(3), []

    def press(judge: str) -> None:
        barrier.wait()
        try:
            outcomes.append(stage.start(benchmark, judges=[judge]).name)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=[judge]) for judge in stage.JUDGES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == [f"likert-v1-0shot-{n}" for n in (1, 2, 3)]


def test_a_dead_key_starts_nothing_and_stores_nothing(settings: Any, tmp_path: Path) -> None:
    benchmark = stage.make_material(2)
    with running(FakeProviderSettings(dead_key=True)) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)

        with pytest.raises(PassError, match=r"at local-0: key refused \(HTTP 401 invalid_api_key\)"):
            stage.start(benchmark)

    assert nothing_is_stored()


def test_a_missing_key_is_named_by_its_variable(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(stage.KEY_VARIABLE)
    benchmark = stage.make_material(2)

    with pytest.raises(PassError, match=f"{stage.KEY_VARIABLE} is not set"):
        stage.start(benchmark)

    assert nothing_is_stored()


def test_one_dead_judge_of_three_starts_nothing(settings: Any, tmp_path: Path, provider: str) -> None:
    benchmark = stage.make_material(2)
    path = stage.write_endpoints(tmp_path / "three.toml", provider, judges=stage.JUDGES, separate=True)
    path.write_text(path.read_text().replace(provider, "http://127.0.0.1:9/v1", 1))
    settings.ENDPOINTS_FILE = path

    with pytest.raises(PassError, match="network"):
        stage.start(benchmark, judges=stage.JUDGES)

    assert nothing_is_stored()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        pytest.param({"judges": ()}, "no_judge", id="no judge"),
        pytest.param({"judges": ("gpt-5.4", "gpt-5.4")}, "judge_twice", id="judge twice"),
        pytest.param({"judges": ("nobody",)}, "bad_endpoint", id="unknown judge"),
        pytest.param({"rubric": "likert-v9"}, "unknown_rubric", id="unknown rubric"),
        pytest.param({"rubric": "failure-modes-v1"}, "wrong_rubric", id="rubric of another kind of pass"),
        pytest.param({"output": "song"}, "bad_choice", id="unknown output"),
        pytest.param({"exclusion": "none"}, "bad_choice", id="unknown exclusion"),
        pytest.param({"empty_policy": "maybe"}, "bad_choice", id="unknown empty policy"),
        pytest.param({"shots": 1, "embedder": "nobody"}, "no_exemplars", id="embedder without a pool"),
        pytest.param({"shots": -1}, "bad_number", id="negative shots"),
        pytest.param({"shots": 11}, "bad_number", id="too many shots"),
        pytest.param({"limit": 0}, "bad_number", id="limit 0"),
        pytest.param({"max_calls": 0}, "bad_number", id="no calls"),
        pytest.param({"max_cost": Decimal(0)}, "bad_number", id="no money"),
        pytest.param({"max_cost": Decimal("NaN")}, "bad_number", id="money NaN"),
        pytest.param({"max_cost": Decimal("1e40")}, "bad_number", id="money without end"),
        pytest.param({"max_calls": 10**30}, "bad_number", id="calls without end"),
        pytest.param({"max_cost": Decimal(5)}, "unknown_price", id="money cap without a price"),
        pytest.param({"shots": 2}, "no_exemplars", id="shots without labels"),
    ],
)
def test_a_start_that_cannot_be_kept_is_refused(provider: str, changes: dict[str, Any], code: str) -> None:
    request = PassRequest(judges=stage.JUDGES[:1], rubric="likert-v1")

    with pytest.raises(DomainError) as caught:
        start_pass(stage.make_material(2), replace(request, **changes))

    assert caught.value.code == code
    assert nothing_is_stored()


def test_a_benchmark_without_a_complete_response_is_refused(provider: str) -> None:
    with pytest.raises(PassError) as caught:
        stage.start(make_benchmark())

    assert caught.value.code == "nothing_to_judge"


def test_limit_and_campaign_choose_the_responses(provider: str) -> None:
    benchmark = stage.make_material(5)
    campaign = make_campaign(benchmark=benchmark)
    chosen = stage.first_response(benchmark)
    make_item(campaign=campaign, response=chosen, kind=ItemKind.REGULAR)

    limited = stage.start(benchmark, limit=3)
    of_campaign = stage.start(benchmark, campaign=campaign)

    assert stage.states(limited) == {"PENDING": 3}
    assert Verdict.objects.get(judge_pass=of_campaign).response == chosen


def test_the_worst_call_counts_exemplars_that_are_not_judged_themselves(
    settings: Any, tmp_path: Path, provider: str
) -> None:
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "priced.toml", provider, prices=("1", "0"))
    benchmark = stage.make_material(5, n_labelled=4)
    short = stage.start(benchmark, limit=1, shots=1).configuration["worst_call_micros"]
    long = benchmark_last_labelled(benchmark, text="calm and kind " * 10_000)
    JudgePass.objects.update(state=PassState.FINISHED)

    worst = stage.start(benchmark, limit=1, shots=1, again=True).configuration["worst_call_micros"]

    assert worst - short >= len(long)


def benchmark_last_labelled(benchmark: Any, *, text: str) -> str:
    """Give the last labelled response a long text."""
    item = benchmark.campaigns.get().items.order_by("-pk").first()
    item.response.text = text
    item.response.save(update_fields=["text"])
    return text


def test_a_judge_called_elsewhere_forgets_what_its_model_refused(provider: str) -> None:
    benchmark = stage.make_material(1)
    make_judge(slug=stage.JUDGES[0], model_id="an older model", capabilities={"temperature": False})

    stage.start(benchmark)

    assert Judge.objects.get(slug=stage.JUDGES[0]).capabilities == {}


def test_a_pass_with_the_loopback_provider_is_simulated(provider: str) -> None:
    assert stage.start(stage.make_material(1)).is_simulated
