"""The loop that makes the calls: one per endpoint, kind of pass and process, many calls in flight.

A turn writes what finished and claims what is free. Calls run on the event loop; all SQL runs on one
thread of its own, so that a slow transaction never holds up a call.
"""

import asyncio
import logging
import os
import random
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from judging.errors import EndpointError
from judging.llm.calls import CallOutcome
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.endpoints import Endpoint, load_endpoints
from judging.llm.retrying import RetryPolicy, next_step
from judging.passes.control import finish_passes, pause_outdated
from judging.queue.claiming import NO_ANSWER, Asking, Claim
from judging.queue.leases import extend_leases
from judging.queue.policies import as_configured
from judging.queue.recording import return_and_pause, return_lost, return_unsent, settle_not_sent
from judging.queue.results import Result, result_of, unreadable_result, where
from judging.queue.turns import VALUE_ERRORS, record_each, take_turn
from judging.queue.work import Claimed, Prepared, Unbounded, Work

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

TURN_INTERVAL_S = 0.005
MOST_WAIT_S = 0.5
# With nothing in flight and nothing due for this long the loop ends; the sweep starts it again in time.
IDLE_END_S = 2.0
DATABASE_RETRY_S = 1.0
LEAST_RECENT = 4
# So many 403s on end, without an answer between, are the key's doing and not the items'.
MOST_FORBIDDEN_ON_END = 5


@dataclass(frozen=True)
class _Turn:
    """What one visit to the database came to."""

    prepared: tuple[Prepared, ...]
    wait_s: float
    is_drained: bool


class EndpointLoop:
    """Works on the due rows of one endpoint until none is due, the slice ends or it is told to stop.

    Passes that it could no longer work on as they were frozen are paused first.
    """

    def __init__(
        self,
        work: Work,
        endpoint: Endpoint,
        *,
        should_stop: Callable[[], bool],
        client_class: type[JudgeClient] = JudgeClient,
        policy: RetryPolicy | None = None,
    ) -> None:
        self._work = work
        self.endpoint = endpoint
        self._client_class = client_class
        self.worker = f"{socket.gethostname()[:60]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._should_stop = should_stop
        self._policy = policy or as_configured(work.policy)
        self._rng = random.Random(secrets.randbits(64))
        self._requests = work.requests(self._policy)
        self._slots = min(settings.SLOTS_PER_LOOP, endpoint.max_in_flight)
        self._in_flight: dict[asyncio.Task[Result], Claimed] = {}
        self._finished: list[Result] = []
        self._n_recorded = 0
        self._answered_passes: set[int] = set()
        self._n_forbidden_on_end = 0
        self._heartbeat_at = time.monotonic()
        self._is_checked = False
        # A turn was lost with its connection: it may have claimed rows that were never sent.
        self._may_have_lost_rows = False
        # Whether each of the last calls was refused with a 429.
        self._recent: deque[bool] = deque(maxlen=self._slots)

    async def run(self) -> int:
        """Run the loop; calls in flight are always finished and recorded before it ends.

        Returns:
            How many calls were recorded.
        """
        deadlines = Deadlines(
            connect_s=settings.CALL_CONNECT_S, read_s=settings.CALL_READ_S, total_s=settings.CALL_TOTAL_S
        )
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="queue-sql") as database:
            try:
                async with self._client_class(
                    self.endpoint,
                    deadlines=deadlines,
                    max_connections=self._slots + 8,
                    uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES,
                ) as client:
                    try:
                        await self._work_on(client, database)
                    finally:
                        # Only after an unexpected error is anything left; it is paid for, so it is kept.
                        await self._drain(database)
            finally:
                # A lambda: the attribute must be looked up in the thread whose connection is closed.
                await _run_in(database, lambda: connection.close())
        return self._n_recorded

    async def _work_on(self, client: JudgeClient, database: ThreadPoolExecutor) -> None:
        ends_at = time.monotonic() + settings.LOOP_SLICE_S
        while True:
            is_stopping = self._should_stop() or time.monotonic() >= ends_at
            turn = await self._visit_database(database, wanted=0 if is_stopping else self._free_slots())
            for prepared in turn.prepared:
                self._in_flight[asyncio.create_task(self._call(client, prepared))] = prepared.claimed
            if self._in_flight:
                await self._wait_for_calls(turn.wait_s)
            elif not self._finished:
                if is_stopping or turn.is_drained or turn.wait_s > IDLE_END_S:
                    return
                await asyncio.sleep(min(turn.wait_s, MOST_WAIT_S))

    async def _drain(self, database: ThreadPoolExecutor) -> None:
        while self._in_flight or self._finished:
            if self._in_flight:
                await self._wait_for_calls(MOST_WAIT_S)
            await self._visit_database(database, wanted=0)

    def _free_slots(self) -> int:
        """Slots to fill; none beside a suspect row, which must be alone if it kills the worker."""
        if any(claimed.is_suspect for claimed in self._in_flight.values()):
            return 0
        return self._slots - len(self._in_flight)

    async def _wait_for_calls(self, wait_s: float) -> None:
        """Wait until a call has finished, then a moment more so that a turn carries several."""
        timeout = MOST_WAIT_S if len(self._in_flight) >= self._slots else min(wait_s, MOST_WAIT_S)
        done, _ = await asyncio.wait(self._in_flight, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if done:
            await asyncio.sleep(TURN_INTERVAL_S)
        for task in [task for task in self._in_flight if task.done()]:
            del self._in_flight[task]
            self._finished.append(task.result())

    async def _visit_database(self, database: ThreadPoolExecutor, *, wanted: int) -> _Turn:
        results, self._finished = self._finished, []
        held = [claimed.row_id for claimed in self._in_flight.values()]
        try:
            return await _run_in(database, lambda: self._take_turn(results, wanted=wanted, held=held))
        except Exception as error:
            # Whatever it was, what finished is kept, to be written again.
            self._finished = results + self._finished
            if not isinstance(error, (OperationalError, InterfaceError)):
                raise
            # Stopped or unreachable. Leases that end meanwhile are another worker's rows, and the
            # token refuses our late results.
            logger.warning("database unreachable (%s); trying again", type(error).__name__)
            self._may_have_lost_rows = True
            await _run_in(database, lambda: connection.close())
            await asyncio.sleep(DATABASE_RETRY_S)
            return _Turn(prepared=(), wait_s=DATABASE_RETRY_S, is_drained=False)

    def _take_turn(self, results: list[Result], *, wanted: int, held: list[int]) -> _Turn:
        if not self._is_checked:
            pause_outdated(self.endpoint)
            self._is_checked = True
        if self._may_have_lost_rows:
            in_hand = [*held, *(result.claimed.row_id for result in results)]
            return_lost(self._work, worker=self.worker, held=in_hand)
            self._may_have_lost_rows = False
        asking = Asking(
            work=self._work,
            endpoint=self.endpoint,
            worker=self.worker,
            lease_s=settings.LEASE_S,
            wanted=wanted,
            n_in_hand=len(held),
            answered_passes=self._answered_passes,
        )
        claim = self._write_and_claim(asking, results)
        self._n_recorded += len(results)
        for result in results:
            if result.outcome not in NO_ANSWER:
                self._answered_passes.add(result.claimed.judge_pass_id)
            if result.learned is not None and result.model_pk is not None:
                self._requests.learn(result.model_pk, result.learned)
        if time.monotonic() - self._heartbeat_at > settings.LEASE_S / 3:
            extend_leases(self._work, worker=self.worker, held=held, lease_s=settings.LEASE_S)
            self._heartbeat_at = time.monotonic()
        if claim.is_drained and not held:
            finish_passes()
        wait_s = max(claim.wait_s, TURN_INTERVAL_S) if wanted > 0 else MOST_WAIT_S
        return _Turn(prepared=self._prepare(claim.rows), wait_s=wait_s, is_drained=claim.is_drained)

    def _write_and_claim(self, asking: Asking, results: list[Result]) -> Claim:
        try:
            return take_turn(asking, results, hold_s=self._hold_s(results))
        except VALUE_ERRORS as error:
            if not results:
                raise
            logger.error("a batch of %d results was refused (%s)", len(results), where(error))
            for result in record_each(asking, results):
                logger.error("%s: its reply cannot be stored", self._name(result.claimed))
            return Claim()

    def _hold_s(self, results: Sequence[Result]) -> float:
        """How long the whole endpoint waits: when it refuses most calls. A stray 429 defers its own row."""
        self._recent.extend(result.outcome == "rate_limited" for result in results)
        is_refusing = len(self._recent) >= LEAST_RECENT and sum(self._recent) * 2 >= len(self._recent)
        return max((result.endpoint_delay_s for result in results), default=0.0) if is_refusing else 0.0

    def _prepare(self, rows: Sequence[Claimed]) -> tuple[Prepared, ...]:
        try:
            built = self._requests.build(rows)
        except Exception:
            # Claimed and not sent: back to the queue with their reservation, then let it be known.
            return_unsent(self._work, rows)
            raise
        prepared = []
        for row in built:
            if isinstance(row, Prepared):
                prepared.append(row)
            elif isinstance(row, Unbounded):
                return_and_pause(self._work, row)
            else:
                settle_not_sent(self._work, row)
        return tuple(prepared)

    async def _call(self, client: JudgeClient, prepared: Prepared) -> Result:
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
            logger.error("%s: call not handled (%s)", self._name(prepared.claimed), where(error))
            return unreadable_result(prepared, outcome, error)

    def _name(self, claimed: Claimed) -> str:
        return f"{self._work.row_name} {claimed.row_id}"

    def _count_forbidden(self, outcome: CallOutcome) -> None:
        if outcome.is_forbidden:
            self._n_forbidden_on_end += 1
        elif outcome.is_ok or outcome.is_filtered:
            self._n_forbidden_on_end = 0

    def _has_answered(self, pass_id: int) -> bool:
        """Whether the endpoint answers in a pass, so that a 403 may be the item's own."""
        return pass_id in self._answered_passes and self._n_forbidden_on_end <= MOST_FORBIDDEN_ON_END


async def _run_in(executor: ThreadPoolExecutor, function: Callable[[], Answer]) -> Answer:
    return await asyncio.get_running_loop().run_in_executor(executor, function)


def run_endpoint(work: Work, name: str, *, should_stop: Callable[[], bool]) -> int:
    """Work on what is due at an endpoint; returns the number of calls recorded.

    Raises:
        EndpointError: the endpoints file cannot be read or no longer names the endpoint.
    """
    endpoint = load_endpoints(settings.ENDPOINTS_FILE).get(name)
    if endpoint is None:
        raise EndpointError(f"The endpoints file does not name {name!r}; its rows wait until it does.")
    return asyncio.run(EndpointLoop(work, endpoint, should_stop=should_stop).run())
