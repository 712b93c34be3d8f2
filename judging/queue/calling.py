"""One call of one row: made, read, and what follows it."""

import logging
import random
import secrets
from collections.abc import Collection

from judging.llm.calls import CallOutcome
from judging.llm.client import JudgeClient
from judging.llm.retrying import RetryPolicy, next_step
from judging.queue.results import Result, result_of, unreadable_result, where
from judging.queue.work import Claimed, Prepared, Work

logger = logging.getLogger(__name__)

# So many 403s on end, without an answer between, are the key's doing and not the items'.
MOST_FORBIDDEN_ON_END = 5


class Caller:
    """Makes the calls of one loop. `answered_passes` are those in which the endpoint is known to answer."""

    def __init__(self, work: Work, *, policy: RetryPolicy, answered_passes: Collection[int]) -> None:
        self._work = work
        self._policy = policy
        self._answered_passes = answered_passes
        self._rng = random.Random(secrets.randbits(64))
        self._n_forbidden_on_end = 0

    async def call(self, client: JudgeClient, prepared: Prepared) -> Result:
        """Make one call; whatever happens is a result, never an exception."""
        outcome: CallOutcome | None = None
        try:
            outcome = await client.complete(prepared.request)
            self._count_forbidden(outcome)
            reading = prepared.read(outcome)
            step = next_step(
                outcome,
                reading,
                history=prepared.history,
                policy=self._policy,
                rng=self._rng,
                has_answered=self._has_answered(prepared.claimed.judge_pass_id),
            )
            return result_of(prepared, outcome, reading, step)
        except Exception as error:
            # A fault of ours in one call must not lose the others, nor be paid for again and again.
            logger.error("%s: call not handled (%s)", name_of(self._work, prepared.claimed), where(error))
            return unreadable_result(prepared, outcome, error)

    def _count_forbidden(self, outcome: CallOutcome) -> None:
        if outcome.is_forbidden:
            self._n_forbidden_on_end += 1
        elif outcome.is_ok or outcome.is_filtered:
            self._n_forbidden_on_end = 0

    def _has_answered(self, pass_id: int) -> bool:
        """Whether the endpoint answers in a pass, so that a 403 may be the item's own."""
        return pass_id in self._answered_passes and self._n_forbidden_on_end <= MOST_FORBIDDEN_ON_END


def name_of(work: Work, claimed: Claimed) -> str:
    """A row as the log names it."""
    return f"{work.row_name} {claimed.row_id}"
