"""Pausing, resuming, cancelling and finishing."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from annotation.models import AuditEvent
from judging.choices import PassState, PauseReason
from judging.errors import EndpointError, PassError
from judging.llm.endpoints import load_endpoints
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.parsing import PARSER_VERSION
from judging.models import JudgePass, Verdict
from judging.passes.control import (
    cancel_pass,
    finish_passes,
    pause_outdated,
    pause_pass,
    resume_pass,
    settle_cancelled,
)
from tests.factories import make_judge, make_pass, make_prompt, make_response, make_verdict
from tests.passes import stage

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings: Any, tmp_path: Path) -> Iterator[str]:
    with running(FakeProviderSettings()) as base_url:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "endpoints.toml", base_url)
        yield base_url


def test_pause_and_resume_move_the_pass_and_are_audited(provider: str) -> None:
    judge_pass = stage.start(stage.make_material(2))

    pause_pass(judge_pass)
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, PauseReason.USER)
    resume_pass(judge_pass)

    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.RUNNING, None)
    actions = AuditEvent.objects.filter(subject=f"pass:{judge_pass.public_id}").order_by("pk")
    assert [event.action for event in actions] == ["pass.started", "pass.paused", "pass.running"]


@pytest.mark.parametrize(
    ("act", "state"),
    [
        pytest.param(act, state, id=f"{act.__name__} when {state}")
        for act, states in [
            (pause_pass, ["READY", "PAUSED", "FINISHED", "CANCELLED"]),
            (resume_pass, ["READY", "RUNNING", "FINISHED", "CANCELLED"]),
            (cancel_pass, ["FINISHED", "CANCELLED"]),
        ]
        for state in states
    ],
)
def test_an_act_in_the_wrong_state_is_refused(act: Callable[[JudgePass], None], state: str) -> None:
    judge_pass = make_pass(state=state, pause_reason="user" if state == "PAUSED" else None)

    with pytest.raises(PassError) as caught:
        act(judge_pass)

    assert caught.value.code == "wrong_state"
    judge_pass.refresh_from_db()
    assert judge_pass.state == state


def pass_at_budget(**values: Any) -> JudgePass:
    """A pass that is paused at its budget, 2 calls and 0.10 reserved, 0.05 at most for a call."""
    judge_pass = stage.start(stage.make_material(4))
    used = {"n_calls_reserved": 2, "cost_reserved_micros": 100_000}
    configuration = judge_pass.configuration | {"worst_call_micros": 50_000}
    JudgePass.objects.filter(pk=judge_pass.pk).update(
        state=PassState.PAUSED,
        pause_reason=PauseReason.BUDGET,
        **(used | {"configuration": configuration} | values),
    )
    judge_pass.refresh_from_db()
    return judge_pass


@pytest.mark.parametrize(
    ("caps", "given", "said"),
    [
        ({"max_calls": 2}, {}, "has used 2 calls and the cap is 2; expected a cap of 3 calls or more"),
        ({"max_calls": 2}, {"max_calls": 2}, "used 2 calls and the cap is 2; expected a cap of 3"),
        ({"max_calls": 2}, {"max_cost": Decimal(9)}, "used 2 calls and the cap is 2; expected a cap of 3"),
        ({"max_cost_micros": 120_000}, {}, "used 0.10 and the cap is 0.12; expected a cap of 0.15"),
        (
            {"max_cost_micros": 120_000},
            {"max_cost": Decimal("0.1499")},
            "used 0.10 and the cap is 0.1499; expected a cap of 0.15",
        ),
        ({"max_calls": 2}, {"max_calls": 0}, "max_calls is 0; expected 1 to"),
    ],
    ids=["calls kept", "calls not raised", "the other cap", "money kept", "no room for a call", "no calls"],
)
def test_a_pass_at_its_budget_needs_a_higher_cap(
    provider: str, caps: dict[str, int], given: dict[str, Any], said: str
) -> None:
    judge_pass = pass_at_budget(**caps)

    with pytest.raises(PassError) as caught:
        resume_pass(judge_pass, **given)

    assert said in caught.value.message
    judge_pass.refresh_from_db()
    assert judge_pass.state == PassState.PAUSED


@pytest.mark.parametrize(
    ("caps", "given", "raised"),
    [
        ({"max_calls": 2}, {"max_calls": 3}, (3, None)),
        ({"max_cost_micros": 120_000}, {"max_cost": Decimal("0.15")}, (None, 150_000)),
        (
            {"max_calls": 2, "max_cost_micros": 120_000},
            {"max_calls": 9, "max_cost": Decimal(2)},
            (9, 2_000_000),
        ),
    ],
    ids=["calls", "money", "both"],
)
def test_a_raised_cap_lets_a_pass_go_on(
    provider: str, caps: dict[str, int], given: dict[str, Any], raised: tuple[int | None, int | None]
) -> None:
    judge_pass = pass_at_budget(**caps)

    resume_pass(judge_pass, **given)

    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.RUNNING, None)
    assert (judge_pass.max_calls, judge_pass.max_cost_micros) == raised


def test_a_cap_on_money_for_a_pass_without_prices_is_refused(provider: str) -> None:
    judge_pass = stage.start(stage.make_material(1))
    pause_pass(judge_pass)

    with pytest.raises(PassError) as caught:
        resume_pass(judge_pass, max_cost=Decimal(5))

    assert caught.value.code == "unknown_price"


def test_resume_marks_a_pass_that_the_loopback_provider_now_answers(provider: str) -> None:
    judge_pass = stage.start(stage.make_material(1))
    pause_pass(judge_pass)
    JudgePass.objects.update(is_simulated=False)

    resume_pass(judge_pass)

    assert judge_pass.is_simulated


def test_resume_at_another_address_is_refused(settings: Any, tmp_path: Path, provider: str) -> None:
    judge_pass = stage.start(stage.make_material(1))
    pause_pass(judge_pass)
    moved = provider.replace("127.0.0.1", "localhost")
    settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "moved.toml", moved)

    with pytest.raises(PassError) as caught:
        resume_pass(judge_pass)

    assert caught.value.code == "endpoint_moved"
    assert provider in caught.value.message
    assert moved in caught.value.message


def test_resume_under_another_parser_is_refused(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judge_pass = stage.start(stage.make_material(1))
    pause_pass(judge_pass)
    monkeypatch.setattr("judging.passes.configuration.PARSER_VERSION", "next")

    with pytest.raises(PassError) as caught:
        resume_pass(judge_pass)

    assert caught.value.code == "other_parser"
    assert f"parser version {PARSER_VERSION}, and this program has version next" in caught.value.message


@pytest.mark.parametrize("change", ["address", "parser", "nothing"])
def test_a_running_pass_that_can_no_longer_be_judged_as_frozen_is_paused_with_the_reason(
    settings: Any, provider: str, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    judge_pass = stage.start(stage.make_material(1))
    endpoint = load_endpoints(settings.ENDPOINTS_FILE)["local-0"]
    if change == "address":
        endpoint = replace(endpoint, base_url="http://127.0.0.1:9/v1")
    if change == "parser":
        monkeypatch.setattr("judging.passes.configuration.PARSER_VERSION", "next")

    n_paused = pause_outdated(endpoint)

    judge_pass.refresh_from_db()
    assert n_paused == (change != "nothing")
    assert (judge_pass.state == PassState.PAUSED) == (change != "nothing")
    assert bool(judge_pass.state_note) == (change != "nothing")


def test_resume_with_a_dead_key_stays_paused_for_the_same_reason(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    judge_pass = stage.start(stage.make_material(2))
    JudgePass.objects.update(state=PassState.PAUSED, pause_reason=PauseReason.AUTH)
    judge_pass.refresh_from_db()
    monkeypatch.delenv(stage.KEY_VARIABLE)

    with pytest.raises(PassError, match="key refused"):
        resume_pass(judge_pass)

    judge_pass.refresh_from_db()
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.PAUSED, PauseReason.AUTH)


def test_resume_needs_the_frozen_endpoint(settings: Any, tmp_path: Path, provider: str) -> None:
    judge_pass = stage.start(stage.make_material(2))
    pause_pass(judge_pass)
    path = stage.write_endpoints(tmp_path / "renamed.toml", provider)
    path.write_text(path.read_text().replace("local-0", "renamed"))
    settings.ENDPOINTS_FILE = path

    with pytest.raises(EndpointError, match="'local-0', which the endpoints file no longer names"):
        resume_pass(judge_pass)


def test_cancel_closes_open_rows_and_keeps_results(provider: str) -> None:
    judge_pass = stage.start(stage.make_material(4))
    rows = list(Verdict.objects.filter(judge_pass=judge_pass).order_by("pk"))
    Verdict.objects.filter(pk=rows[0].pk).update(state="SCORED", score=2)

    cancel_pass(judge_pass)

    assert judge_pass.state == PassState.CANCELLED
    assert judge_pass.finished_at is not None
    assert stage.states(judge_pass) == {"SCORED": 1, "CANCELLED": 3}


def test_settling_cancelled_passes_goes_through_every_batch(
    monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    monkeypatch.setattr("judging.passes.control.BATCH_SIZE", 2)
    judge_pass = stage.start(stage.make_material(5))
    JudgePass.objects.update(state=PassState.CANCELLED)

    assert settle_cancelled() == 5
    assert stage.states(judge_pass) == {"CANCELLED": 5}
    assert settle_cancelled() == 0


@pytest.mark.parametrize("pause_reason", [None, "user"], ids=["running", "paused"])
def test_a_pass_without_an_open_row_finishes(pause_reason: str | None) -> None:
    state = PassState.PAUSED if pause_reason else PassState.RUNNING
    judge_pass = make_pass(state=state, pause_reason=pause_reason)
    make_verdict(judge_pass=judge_pass)

    assert finish_passes() == 1

    judge_pass.refresh_from_db()
    assert (judge_pass.state, judge_pass.pause_reason) == (PassState.FINISHED, None)
    assert judge_pass.finished_at is not None


@pytest.mark.parametrize("state", ["PENDING", "RUNNING"])
def test_a_pass_with_an_open_row_does_not_finish(state: str) -> None:
    judge_pass, judge = make_pass(state=PassState.RUNNING), make_judge()
    for row_state in ("SCORED", state):
        response = make_response(prompt=make_prompt(benchmark=judge_pass.benchmark))
        make_verdict(judge_pass=judge_pass, judge=judge, response=response, state=row_state)

    assert finish_passes() == 0
