"""Loops of tests that claim and record without any call."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from judging.llm.endpoints import Endpoint, EndpointModel
from judging.llm.parsing import ParsedReply
from judging.models import EndpointGate, JudgePass, Verdict
from judging.queue.claiming import Asking, Claim
from judging.queue.loop import run_endpoint
from judging.queue.results import Result
from judging.queue.turns import take_turn
from judging.queue.work import Claimed
from judging.verdicts.work import JUDGING
from tests.factories import make_judge, make_pass, make_prompt, make_response, make_verdict

ENDPOINT_NAME = "local"


def make_endpoint(**values: Any) -> Endpoint:
    """An endpoint with eight slots and no rate limit."""
    model = EndpointModel(
        slug="judge",
        model_id="judge",
        short_name="J",
        family="",
        roles=("judge",),
        price_in=None,
        price_out=None,
    )
    defaults: dict[str, Any] = {
        "name": ENDPOINT_NAME,
        "base_url": "http://127.0.0.1:9/v1",
        "key_variable": None,
        "max_in_flight": 8,
        "requests_per_minute": None,
        "allow_private": True,
        "models": (model,),
    }
    return Endpoint(**(defaults | values))


def make_queue(n: int, **values: Any) -> JudgePass:
    """A running pass with `n` waiting rows at the endpoint."""
    worst = values.pop("worst_call_micros", None)
    configuration = {"judges": {}, "worst_call_micros": worst}
    judge = make_judge()
    judge_pass = make_pass(state="RUNNING", judges=(judge,), configuration=configuration, **values)
    EndpointGate.objects.get_or_create(name=ENDPOINT_NAME)
    for _ in range(n):
        make_verdict(
            judge_pass=judge_pass,
            judge=judge,
            response=make_response(prompt=make_prompt(benchmark=judge_pass.benchmark)),
            state="PENDING",
            endpoint_name=ENDPOINT_NAME,
        )
    return judge_pass


def ask(
    more: int,
    *,
    endpoint: Endpoint | None = None,
    worker: str = "worker-1",
    proven: bool = True,
    results: Sequence[Result] = (),
    hold_s: float = 0.0,
    **values: Any,
) -> Claim:
    """Claim as a loop does that has slots for so many rows more than it has in flight.

    By default one whose endpoint has answered in every pass, and which claims nothing ahead.
    """
    answered = set(JudgePass.objects.values_list("pk", flat=True)) if proven else set()
    n_in_flight = Verdict.objects.filter(worker=worker, state="RUNNING").count() - len(results)
    asking = Asking(
        work=JUDGING,
        endpoint=endpoint or make_endpoint(),
        worker=worker,
        lease_s=60.0,
        wanted=max(n_in_flight, 0) + more if more else 0,
        n_in_flight=values.pop("n_in_flight", max(n_in_flight, 0)),
        answered_passes=answered,
        **values,
    )
    return take_turn(asking, results, hold_s=hold_s)


def record(*results: Result) -> None:
    """Write results without claiming."""
    ask(0, results=results)


def result(claimed: Claimed, **values: Any) -> Result:
    """A score of 2 that cost nothing."""
    state, score = values.pop("state", "SCORED"), values.pop("score", 2)
    reading = ParsedReply(state=state, score=score, jailbreak_score=values.pop("jailbreak_score", None))
    defaults: dict[str, Any] = {
        "claimed": claimed,
        "outcome": "ok",
        "state": state,
        "reading": reading,
        "reply_text": "Policy Compliance Risk: 2",
        "cost_micros": 0,
        "counters": {"n_attempts": 1},
    }
    return Result(**(defaults | values))


def row(claimed: Claimed) -> Verdict:
    return Verdict.objects.get(pk=claimed.row_id)


def run_two_loops(name: str) -> None:
    """Two loops on one endpoint side by side, as two workers run them, until both have ended."""
    threads = [run_in_thread(name, lambda: False) for _ in range(2)]
    for thread in threads:
        thread.join()


def run_in_thread(name: str, should_stop: Callable[[], bool]) -> threading.Thread:
    """A whole loop in a thread of its own, as a worker runs it."""

    def work() -> None:
        try:
            run_endpoint(JUDGING, name, should_stop=should_stop)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread
