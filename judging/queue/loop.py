"""The loop that makes the calls: one per endpoint, kind of pass and process, many calls in flight.

A turn writes what finished and claims what is free, also some rows ahead, so that a call that ends
begins the next one at once. Calls run on the event loop; all SQL runs on one thread of its own, so that
a slow transaction never holds up a call.
"""

import asyncio
import contextlib
import functools
import gc
import logging
import os
import secrets
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from judging.errors import EndpointError
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.endpoints import Endpoint, load_endpoints
from judging.llm.retrying import RetryPolicy
from judging.passes.control import finish_passes, pause_outdated
from judging.queue.calling import Caller, name_of
from judging.queue.claiming import Asking, Claim
from judging.queue.hands import Hands
from judging.queue.leases import beat
from judging.queue.policies import as_configured
from judging.queue.recording import return_and_pause, return_lost, return_unsent, settle_not_sent
from judging.queue.results import Result, where
from judging.queue.slots import beat_s, release_slots
from judging.queue.turns import VALUE_ERRORS, record_each, take_turn
from judging.queue.work import Claimed, Prepared, Unbounded, Work

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

# Between turns while rows held ready keep the slots filled, and while none are.
TURN_INTERVAL_S = 0.05
GATHER_S = 0.005
MOST_WAIT_S = 0.5
# With nothing in flight and nothing due for this long the loop ends; the sweep starts it again in time.
IDLE_END_S = 2.0
DATABASE_RETRY_S = 1.0
LEAST_RECENT = 4
# At least; a process that collects less often already keeps to that.
COLLECTOR_THRESHOLDS = (5_000, 20, 20)


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """What one visit to the database came to."""

    claim: Claim
    prepared: tuple[Prepared, ...] = ()


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
        policy = policy or as_configured(work.policy)
        self._requests = work.requests(policy)
        self._most_slots = min(settings.SLOTS_PER_LOOP, endpoint.max_in_flight)
        self._answered_passes: set[int] = set()
        self._caller = Caller(work, policy=policy, answered_passes=self._answered_passes)
        self._n_recorded = 0
        self._is_checked = False
        self._unmapped: object = None
        # A turn was lost with its connection: it may have claimed rows that were never sent.
        self._may_have_lost_rows = False
        # Whether each of the last calls was refused with a 429.
        self._recent: deque[bool] = deque(maxlen=self._most_slots)

    async def run(self) -> int:
        """Run the loop; calls in flight are always finished and recorded before it ends.

        Returns:
            How many calls were recorded.
        """
        deadlines = Deadlines(
            connect_s=settings.CALL_CONNECT_S, read_s=settings.CALL_READ_S, total_s=settings.CALL_TOTAL_S
        )
        async with (
            _database_thread() as database,
            self._client_class(
                self.endpoint,
                deadlines=deadlines,
                max_connections=self._most_slots + 8,
                uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES,
            ) as client,
        ):
            hands = Hands(
                lambda prepared: self._caller.call(client, prepared), answered_passes=self._answered_passes
            )
            _settle_heap()
            heart = asyncio.create_task(self._beat(hands, database))
            try:
                await self._work_on(hands, database)
            finally:
                try:
                    # Only after an unexpected error is anything left; it is paid for, so it is kept.
                    await self._drain(hands, database)
                finally:
                    heart.cancel()
                    await _run_in(database, self._release)
        return self._n_recorded

    async def _work_on(self, hands: Hands, database: ThreadPoolExecutor) -> None:
        ends_at = time.monotonic() + settings.LOOP_SLICE_S
        while True:
            is_stopping = self._should_stop() or time.monotonic() >= ends_at
            if is_stopping:
                hands.give_up()
            is_asking = not (is_stopping or hands.has_suspect)
            claim = await self._visit(hands, database, wanted=self._most_slots if is_asking else 0)
            if hands.n_in_flight:
                await self._wait(hands, claim.wait_s or MOST_WAIT_S)
            elif hands.is_empty:
                if is_stopping or claim.is_drained or claim.wait_s > IDLE_END_S:
                    return
                await asyncio.sleep(min(claim.wait_s, MOST_WAIT_S))

    async def _drain(self, hands: Hands, database: ThreadPoolExecutor) -> None:
        hands.give_up()
        while not hands.is_empty:
            await self._wait(hands, MOST_WAIT_S)
            await self._visit(hands, database, wanted=0)

    async def _wait(self, hands: Hands, wait_s: float) -> None:
        if hands.n_in_flight:
            most_s = MOST_WAIT_S if hands.n_in_flight >= hands.slots else min(wait_s, MOST_WAIT_S)
            await hands.wait(most_s=most_s, interval_s=TURN_INTERVAL_S, gather_s=GATHER_S)

    async def _visit(self, hands: Hands, database: ThreadPoolExecutor, *, wanted: int) -> Claim:
        """Write what finished, give back what is not to be sent, and take what may be."""
        began_at = time.monotonic()
        results, hands.finished = hands.finished, []
        unsent, hands.unsent = hands.unsent, []
        held = [*hands.row_ids(), *(result.claimed.row_id for result in results)]
        asking = Asking(
            work=self._work,
            endpoint=self.endpoint,
            worker=self.worker,
            lease_s=settings.LEASE_S,
            wanted=wanted,
            slots=hands.slots,
            n_in_flight=hands.n_in_flight,
            n_ready=hands.n_ready,
            ahead=hands.slots,
            ready_passes=hands.ready_passes(),
            answered_passes=self._answered_passes,
        )
        try:
            turn = await _run_in(database, lambda: self._take_turn(asking, results, unsent=unsent, held=held))
        except Exception as error:
            # Whatever it was, what finished is kept, to be written again.
            hands.finished, hands.unsent = results + hands.finished, unsent + hands.unsent
            if not isinstance(error, (OperationalError, InterfaceError)):
                raise
            # Stopped or unreachable. Leases that end meanwhile are another worker's rows, and the
            # token refuses our late results.
            logger.warning("database unreachable (%s); trying again", type(error).__name__)
            self._may_have_lost_rows = True
            await _run_in(database, lambda: connection.close())
            await asyncio.sleep(DATABASE_RETRY_S)
            return Claim(wait_s=DATABASE_RETRY_S)
        hands.heard_at = began_at
        hands.recorded(results)
        self._heed(hands, turn)
        return turn.claim

    def _heed(self, hands: Hands, turn: _Turn) -> None:
        """Keep to what the gate said, then send."""
        claim = turn.claim
        if claim.slots is not None:
            hands.slots, hands.is_short = claim.slots, claim.is_short
        hands.give_up(claim.ended_passes)
        hands.take(turn.prepared)
        if claim.is_held or hands.slots == 0:
            hands.give_up()

    def _take_turn(
        self, asking: Asking, results: list[Result], *, unsent: list[Claimed], held: list[int]
    ) -> _Turn:
        self._read_unmapped()
        if not self._is_checked:
            pause_outdated(self.endpoint)
            self._is_checked = True
        return_unsent(self._work, unsent)
        if self._may_have_lost_rows:
            return_lost(self._work, worker=self.worker, held=held)
            self._may_have_lost_rows = False
        claim = self._write_and_claim(asking, results)
        self._n_recorded += len(results)
        for result in results:
            if result.learned is not None and result.model_pk is not None:
                self._requests.learn(result.model_pk, result.learned)
        if claim.is_drained and not (asking.n_in_flight or asking.n_ready):
            finish_passes()
        return _Turn(claim=claim, prepared=self._prepare(claim.rows))

    def _read_unmapped(self) -> None:
        """Read SQLite's file without mapping it into memory.

        A loop reads each text once, so that mapped pages would only add up to the size of the file.
        """
        if connection.vendor == "sqlite" and connection.connection is not self._unmapped:
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA mmap_size = 0")
            self._unmapped = connection.connection

    def _write_and_claim(self, asking: Asking, results: list[Result]) -> Claim:
        try:
            return take_turn(asking, results, hold_s=self._hold_s(results))
        except VALUE_ERRORS as error:
            if not results:
                raise
            logger.error("a batch of %d results was refused (%s)", len(results), where(error))
            for result in record_each(asking, results):
                logger.error("%s: its reply cannot be stored", name_of(self._work, result.claimed))
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

    async def _beat(self, hands: Hands, database: ThreadPoolExecutor) -> None:
        """Extend the leases of slots and rows, whatever the turns do, until the loop ends."""
        lease_s, extended_at = settings.LEASE_S, time.monotonic()
        while True:
            await asyncio.sleep(beat_s(lease_s))
            is_due = time.monotonic() - extended_at >= lease_s / 3
            extend = partial(
                beat,
                self._work,
                worker=self.worker,
                held=hands.row_ids() if is_due else (),
                lease_s=lease_s,
            )
            try:
                await _run_in(database, extend)
            except (DatabaseError, InterfaceError) as error:
                logger.warning("no lease extended (%s); trying again", type(error).__name__)
                await _run_in(database, lambda: connection.close())
                continue
            if is_due:
                extended_at = time.monotonic()

    def _release(self) -> None:
        try:
            release_slots(worker=self.worker)
        except (OperationalError, InterfaceError) as error:
            logger.warning("slots not given back (%s); their lease will end", type(error).__name__)


@functools.cache
def _settle_heap() -> None:
    """Once in a process: what is loaded by now is walked no more by the collector, and new things seldom.

    A full round took 0.1 s in which every call stood still; a loop makes next to no cycles.
    """
    gc.freeze()
    gc.set_threshold(*map(max, gc.get_threshold(), COLLECTOR_THRESHOLDS))


@contextlib.asynccontextmanager
async def _database_thread() -> AsyncIterator[ThreadPoolExecutor]:
    """The one thread that speaks to the database; its connection is closed at the end."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="queue-sql") as database:
        try:
            yield database
        finally:
            # A lambda: the attribute must be looked up in the thread whose connection is closed.
            await _run_in(database, lambda: connection.close())


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
