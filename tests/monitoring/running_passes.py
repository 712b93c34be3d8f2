"""Running passes with rows in the states that waits, stalls and endpoint pages tell apart."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from judging.choices import PassKind, PassState, RubricScale
from judging.models import EndpointGate, JudgePass, SlotLease, Verdict
from judging.queue.slots import slot_lease_s
from tests.factories import (
    make_attempt,
    make_generation,
    make_judge,
    make_pass,
    make_prompt,
    make_response,
    make_slot_lease,
    make_verdict,
)

ENDPOINT = "local"
LONG_AGO = timedelta(minutes=10)


def make_running_pass(*, n_pending: int = 0, endpoint: str = ENDPOINT, **values: Any) -> JudgePass:
    """A pass that has been running for ten minutes, with rows that are due."""
    values.setdefault("started_at", timezone.now() - LONG_AGO)
    values.setdefault("configuration", {"judges": {"judge-a": {"endpoint": endpoint, "model_id": "a"}}})
    values.setdefault("state", PassState.RUNNING)
    judge_pass = make_pass(**values)
    for _ in range(n_pending):
        make_row(judge_pass, endpoint_name=endpoint)
    return judge_pass


def make_running_collection(*, n_pending: int = 0) -> JudgePass:
    """The same for a collection of responses."""
    judge_pass = make_running_pass(
        kind=PassKind.COLLECTION,
        scale=RubricScale.TEXT,
        configuration={"targets": {"model-a": {"endpoint": ENDPOINT, "model_id": "a", "parameters": {}}}},
    )
    for rollout in range(n_pending):
        make_generation(judge_pass=judge_pass, endpoint_name=ENDPOINT, rollout=rollout)
    return judge_pass


def make_row(judge_pass: JudgePass, **values: Any) -> Verdict:
    """A row of a judging pass, waiting unless told otherwise."""
    defaults: dict[str, Any] = {
        "judge": make_judge(),
        "response": make_response(prompt=make_prompt(benchmark=judge_pass.benchmark)),
        "state": "PENDING",
        "endpoint_name": ENDPOINT,
    }
    return make_verdict(judge_pass=judge_pass, **(defaults | values))


def make_loop(*, silent_s: float = 0.0, **values: Any) -> SlotLease:
    """The lease of a loop whose last beat was so many seconds ago; the tests' leases are 210 s long."""
    return make_slot_lease(
        **{
            "endpoint_name": ENDPOINT,
            "worker": "worker-1",
            "lease_until": in_seconds(slot_lease_s(210.0) - silent_s),
            **values,
        }
    )


def show_busy_hour(waiting: str, busy: str, quiet: str) -> JudgePass:
    """A pass whose three endpoints differ: one waits for its provider, one is busy, one has a dead loop."""
    judges = {name: make_judge() for name in (waiting, busy, quiet)}
    models = {judge.slug: {"endpoint": name, "model_id": name} for name, judge in judges.items()}
    judge_pass = make_running_pass(name="likert-v1-2shot-1", configuration={"judges": models})
    for position in range(60):
        name = (waiting, busy, busy, quiet)[position % 4]
        is_settled = position % 5 != 0
        row = make_row(
            judge_pass,
            judge=judges[name],
            endpoint_name=name,
            state="SCORED" if is_settled else "PENDING",
            settled_at=in_seconds(-20.0 * position) if is_settled else None,
            not_before=in_seconds(1500) if name == waiting and not is_settled else None,
        )
        outcome = {7: "rate_limited", 11: "server", 13: "parse_failed"}.get(position % 17, "ok")
        make_attempt(
            verdict=row, outcome=outcome, at=in_seconds(-20.0 * position), latency_ms=400 + 37 * position
        )
    EndpointGate.objects.create(name=waiting, not_before=in_seconds(1500))
    make_loop(endpoint_name=busy, worker="judge-box-4711-5e1f", slots=24)
    make_loop(endpoint_name=quiet, worker="judge-box-4498-a07c", slots=8, silent_s=70)
    return judge_pass


def in_seconds(seconds: float) -> datetime:
    """A moment so many seconds from now; before now when negative."""
    return timezone.now() + timedelta(seconds=seconds)
