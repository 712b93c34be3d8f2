"""Pausing, resuming, cancelling and finishing."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotation.models import AuditEvent
from judging.choices import PassState, PauseReason
from judging.errors import EndpointError, PassError
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.models import JudgePass, Verdict
from judging.passes.control import cancel_pass, finish_passes, pause_pass, resume_pass, settle_cancelled
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


def test_a_pass_out_of_budget_is_not_resumed(provider: str) -> None:
    judge_pass = make_pass(state=PassState.PAUSED, pause_reason=PauseReason.BUDGET)

    with pytest.raises(PassError) as caught:
        resume_pass(judge_pass)

    assert caught.value.code == "budget_used_up"


def test_resume_with_a_dead_key_stays_paused_for_the_same_reason(
    settings: Any, tmp_path: Path, provider: str
) -> None:
    judge_pass = stage.start(stage.make_material(2))
    JudgePass.objects.update(state=PassState.PAUSED, pause_reason=PauseReason.AUTH)
    judge_pass.refresh_from_db()
    with running(FakeProviderSettings(dead_key=True)) as dead:
        settings.ENDPOINTS_FILE = stage.write_endpoints(tmp_path / "dead.toml", dead)

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
