"""What a call came to: its attempt in the ledger, and where its row goes next. Pure."""

import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judging.choices import FailureCode, GenerationState, VerdictState
from judging.llm.calls import CallOutcome, Capabilities
from judging.llm.retrying import Final, Reading, Retry
from judging.queue.work import Claimed, Prepared

# Calls with these outcomes were certainly not charged; any other failure may have been.
FREE_OUTCOMES = frozenset({"rate_limited", "auth", "bad_request", "encoding"})

# Until an endpoint has answered once in a pass, no more of its calls than these may be in flight there.
MAX_UNPROVEN_IN_FLIGHT = 5
# Outcomes that do not show whether it answers at all.
NO_ANSWER = (
    "rate_limited",
    "timeout",
    "network",
    "auth",
    "bad_request",
    "server",
    "bad_reply",
    "encoding",
)

# States of a row whose call gave what was asked for.
SUCCESS_STATES = frozenset({VerdictState.SCORED.value, GenerationState.COLLECTED.value})


@dataclass(frozen=True, kw_only=True)
class Result:
    """What one sent call came to: the attempt, and where its row goes.

    `state` PENDING returns the row to the queue, due after `delay_s`. `reading` is what the reply says,
    None when it could not be read by a fault of ours. `parameters` were sent beside model and messages.
    `endpoint_delay_s` is how long the provider asked every call to wait; `learned` is what the model
    (`model_pk`) accepts after a refusal.
    `cost_micros` is None when unknown: the call then settles at its worst case.
    """

    claimed: Claimed
    outcome: str
    state: str
    reading: Reading | None = None
    parameters: dict[str, Any] | None = None
    http_status: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_micros: int | None = None
    latency_ms: int | None = None
    reply_text: str | None = None
    attempt_detail: str | None = None
    failure_code: str | None = None
    detail: str | None = None
    counters: dict[str, object]
    delay_s: float | None = None
    endpoint_delay_s: float = 0.0
    learned: Capabilities | None = None
    model_pk: int | None = None
    pauses_pass: bool = False
    is_simulated: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether the endpoint gave an answer, of whatever worth."""
        return self.outcome not in NO_ANSWER


def result_of(prepared: Prepared, outcome: CallOutcome, reading: Reading, step: Final | Retry) -> Result:
    """The result of a call that was read and judged by the retry policy."""
    is_settled = isinstance(step, Final)
    is_answer = outcome.is_ok or outcome.is_filtered
    is_success = reading.state in SUCCESS_STATES
    is_failed = is_settled and reading.state == VerdictState.CALL_FAILED
    return Result(
        claimed=prepared.claimed,
        outcome=reading.state.lower() if is_answer and not is_success else outcome.kind,
        state=reading.state if is_settled else VerdictState.PENDING,
        reading=reading,
        parameters=prepared.request.parameters(),
        http_status=outcome.http_status,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_micros=_cost_of(prepared, outcome),
        latency_ms=outcome.latency_ms,
        reply_text=outcome.reply,
        attempt_detail=outcome.detail or reading.detail or None,
        failure_code=step.code if isinstance(step, Final) and is_failed else None,
        detail=None if is_settled and is_success else (reading.detail or None),
        counters=step.history.as_dict(),
        delay_s=step.delay_s if isinstance(step, Retry) else None,
        endpoint_delay_s=(outcome.retry_after_s or 0.0) if outcome.kind == "rate_limited" else 0.0,
        # Only what was answered is known to be accepted.
        learned=prepared.request.capabilities if outcome.is_ok and prepared.history.resent_without else None,
        model_pk=prepared.model_pk,
        pauses_pass=step.pauses_pass,
        is_simulated=outcome.is_simulated,
    )


def unreadable_result(prepared: Prepared, outcome: CallOutcome | None, error: Exception) -> Result:
    """The result of a call that our own code could not make or read. It may have been charged.

    The same code would fail again on the same row, so the row is settled and the others go on.
    """
    return Result(
        claimed=prepared.claimed,
        outcome=FailureCode.BAD_REPLY,
        state=VerdictState.CALL_FAILED,
        parameters=prepared.request.parameters(),
        http_status=outcome.http_status if outcome else None,
        tokens_in=outcome.tokens_in if outcome else None,
        tokens_out=outcome.tokens_out if outcome else None,
        cost_micros=_cost_of(prepared, outcome) if outcome else None,
        latency_ms=outcome.latency_ms if outcome else None,
        reply_text=outcome.reply if outcome else None,
        attempt_detail=f"not handled: {where(error)}",
        failure_code=FailureCode.BAD_REPLY,
        detail=f"not handled: {where(error)}",
        counters=prepared.history.as_dict(),
        is_simulated=outcome is not None and outcome.is_simulated,
    )


def without_reply(result: Result, error: Exception) -> Result:
    """The result without any text of the provider's, for a reply that the database refuses."""
    return replace(
        result,
        outcome=FailureCode.BAD_REPLY,
        state=VerdictState.CALL_FAILED,
        reading=None,
        reply_text=None,
        attempt_detail=f"not storable: {where(error)}",
        failure_code=FailureCode.BAD_REPLY,
        detail=f"not storable: {where(error)}",
        delay_s=None,
        learned=None,
    )


def where(error: Exception) -> str:
    """Class and place of an unexpected error. Never its message: that may quote a text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


def _cost_of(prepared: Prepared, outcome: CallOutcome) -> int | None:
    if outcome.kind in FREE_OUTCOMES:
        return 0
    if prepared.prices is None or outcome.tokens_in is None or outcome.tokens_out is None:
        return None
    return prepared.prices.cost_micros(tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out)
