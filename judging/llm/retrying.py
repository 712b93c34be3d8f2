"""What follows a call: a final state, or one more call at a known time. Pure; the queue acts on it.

One claim is one call. A retry, a repair or a re-send without a parameter is a new claim with a token and
a reservation of its own, so every step here is counted in the row's history.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

from judging.llm.calls import CallKind, CallOutcome

RetryReason = Literal["rate_limited", "fault", "bad_reply", "repair", "truncated", "parameter", "refused"]

_FAULTS = frozenset({"timeout", "network", "server"})


class Reading(Protocol):
    """What a call's outcome was read as: the state that its row would end in, and why.

    `code` is set when that is CALL_FAILED; `detail` is a short fixed phrase.
    """

    @property
    def state(self) -> str: ...

    @property
    def code(self) -> CallKind | None: ...

    @property
    def detail(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How often and how soon a row is called again. Every call that is not a 429 is a paid attempt.

    `max_refusals`: so often may one row meet a refused key before it counts as the row's own fault.
    """

    max_attempts: int = 5
    max_rate_limited: int = 20
    max_bad_reply_retries: int = 1
    max_repairs: int = 1
    max_truncation_retries: int = 1
    max_refusals: int = 2
    truncation_token_factor: int = 2
    backoff_base_s: float = 1.0
    backoff_cap_s: float = 60.0


@dataclass(frozen=True, kw_only=True)
class History:
    """How often a row was called so far, and why it was called again. Stored with the row.

    `resent_without` names the parameters that were left out after a refusal, each once.
    """

    n_attempts: int = 0
    n_rate_limited: int = 0
    n_faults: int = 0
    n_bad_replies: int = 0
    n_repairs: int = 0
    n_truncated: int = 0
    n_refused: int = 0
    resent_without: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Values that JSON can hold."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "resent_without": list(self.resent_without)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "History":
        """The history that `as_dict` gave; a missing count is 0, an unknown name is ignored."""
        known = {field.name: stored[field.name] for field in fields(cls) if field.name in stored}
        return cls(**{**known, "resent_without": tuple(known.get("resent_without", ()))})

    @property
    def is_repair(self) -> bool:
        """Whether the next call carries the reminder of the answer's form."""
        return self.n_repairs > 0

    def max_tokens(self, budget: int, policy: RetryPolicy) -> int:
        """The token budget of the next call: larger after an answer was cut."""
        return budget * int(policy.truncation_token_factor**self.n_truncated)


@dataclass(frozen=True, kw_only=True)
class Final:
    """The row is done in this state. `pauses_pass`: the key was refused, so no new claim may follow."""

    state: str
    code: CallKind | None
    history: History
    pauses_pass: bool = False


@dataclass(frozen=True, kw_only=True)
class Retry:
    """The row goes back to waiting and is due in `delay_s` seconds; with `pauses_pass`, once resumed."""

    delay_s: float
    reason: RetryReason
    history: History
    pauses_pass: bool = False


def next_step(
    outcome: CallOutcome,
    parsed: Reading,
    *,
    history: History,
    policy: RetryPolicy,
    rng: random.Random,
    has_answered: bool = False,
) -> Final | Retry:
    """Decide what follows one call.

    429, 408, 409, 5xx, lost connections and deadlines are tried again until 5 attempts (20 answers of
    429) are used up; a bad reply, an unreadable score and a cut answer once each; a 400 that names a
    parameter once for each parameter. 400, 404, 422, refusals and filtered answers never. A refused key
    (401, 402, 403) pauses the pass, and the row waits for the resume; a 403 that may mean the item settles
    it, as does a second refusal: a resume needs an answered preflight, so the key was good in between.

    Args:
        outcome: the call just made.
        parsed: what it was read as, for a judge by `parsing.interpret`.
        history: before this call.
        policy: the numbers.
        rng: for the jitter.
        has_answered: whether the endpoint answers in this pass, so that a 403 may be the item's own.

    Returns:
        The step, with the history that includes this call.
    """
    if outcome.kind == "rate_limited":
        counted = replace(history, n_rate_limited=history.n_rate_limited + 1)
        if counted.n_rate_limited >= policy.max_rate_limited:
            return Final(state="CALL_FAILED", code="rate_limited", history=counted)
        return _wait(
            outcome, counted, "rate_limited", n_before=history.n_rate_limited, policy=policy, rng=rng
        )
    if outcome.kind == "auth":
        return _refused(outcome, parsed, history=history, policy=policy, has_answered=has_answered)
    counted = replace(history, n_attempts=history.n_attempts + 1)
    final = Final(state=parsed.state, code=parsed.code, history=counted)
    if counted.n_attempts >= policy.max_attempts:
        return final
    if outcome.kind in _FAULTS:
        counted = replace(counted, n_faults=history.n_faults + 1)
        return _wait(outcome, counted, "fault", n_before=history.n_faults, policy=policy, rng=rng)
    if outcome.kind == "bad_reply" and history.n_bad_replies < policy.max_bad_reply_retries:
        counted = replace(counted, n_bad_replies=history.n_bad_replies + 1)
        return _wait(outcome, counted, "bad_reply", n_before=0, policy=policy, rng=rng)
    rejected = outcome.rejected_parameter
    if outcome.kind == "bad_request" and rejected is not None and rejected not in history.resent_without:
        counted = replace(counted, resent_without=(*history.resent_without, rejected))
        return Retry(delay_s=0.0, reason="parameter", history=counted)
    if parsed.state == "TRUNCATED" and history.n_truncated < policy.max_truncation_retries:
        counted = replace(counted, n_truncated=history.n_truncated + 1)
        return Retry(delay_s=0.0, reason="truncated", history=counted)
    if parsed.state in ("PARSE_FAILED", "OUT_OF_RANGE") and history.n_repairs < policy.max_repairs:
        counted = replace(counted, n_repairs=history.n_repairs + 1)
        return Retry(delay_s=0.0, reason="repair", history=counted)
    return final


def backoff_s(n_before: int, *, policy: RetryPolicy, rng: random.Random) -> float:
    """Full jitter: evenly spread from 0 to a ceiling that doubles with each earlier retry, up to the cap."""
    ceiling = policy.backoff_base_s * 2.0 ** min(n_before, 30)
    return rng.uniform(0.0, min(policy.backoff_cap_s, ceiling))


def _refused(
    outcome: CallOutcome, parsed: Reading, *, history: History, policy: RetryPolicy, has_answered: bool
) -> Final | Retry:
    """A refused key returns the row and pauses the pass, unless the row itself seems to be at fault."""
    is_item_refused = outcome.is_forbidden and has_answered
    counted = replace(history, n_refused=history.n_refused + 1)
    if is_item_refused or counted.n_refused >= policy.max_refusals:
        counted = replace(counted, n_attempts=history.n_attempts + 1)
        return Final(state=parsed.state, code=parsed.code, history=counted, pauses_pass=not is_item_refused)
    return Retry(delay_s=0.0, reason="refused", history=counted, pauses_pass=True)


def _wait(
    outcome: CallOutcome,
    history: History,
    reason: RetryReason,
    *,
    n_before: int,
    policy: RetryPolicy,
    rng: random.Random,
) -> Retry:
    """A retry after back-off, or as late as the provider asks if that is later. No slot is held for it."""
    delay_s = max(outcome.retry_after_s or 0.0, backoff_s(n_before, policy=policy, rng=rng))
    return Retry(delay_s=delay_s, reason=reason, history=history)
