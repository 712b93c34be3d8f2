"""The loop that judges: one per endpoint and process, many calls in flight, one thread for the database.

A turn writes what finished and claims what is free. Calls run on the event loop; all SQL runs on one
thread of its own, so that a slow transaction never holds up a call.
"""

import asyncio
import datetime as dt
import logging
import os
import random
import secrets
import socket
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from judging.choices import VerdictState
from judging.llm.calls import CallOutcome
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.endpoints import Endpoint, load_endpoints
from judging.llm.parsing import ParsedReply, interpret
from judging.llm.retrying import Final, Retry, RetryPolicy, next_step
from judging.passes.control import finish_passes
from judging.verdicts.claiming import Claimed, claim_rows, database_now, defer_endpoint, extend_leases
from judging.verdicts.recording import Result, record_results, return_unsent, settle_leak
from judging.verdicts.requests import Leak, Prepared, RequestBuilder

logger = logging.getLogger(__name__)

TURN_INTERVAL_S = 0.005
MOST_WAIT_S = 0.5
# With nothing in flight and nothing due for this long the loop ends; the sweep starts it again in time.
IDLE_END_S = 2.0
DATABASE_RETRY_S = 1.0
LEAST_RECENT = 4
# Calls with these outcomes were certainly not charged; any other failure may have been.
FREE_OUTCOMES = frozenset({"rate_limited", "auth", "bad_request", "encoding"})


@dataclass(frozen=True)
class _Turn:
    """What one visit to the database came to."""

    prepared: tuple[Prepared, ...]
    wait_s: float
    is_drained: bool


class EndpointLoop:
    """Judges due rows of one endpoint until none is due, the slice ends or it is told to stop."""

    def __init__(self, endpoint: Endpoint, *, should_stop: Callable[[], bool]) -> None:
        self.endpoint = endpoint
        self.worker = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._should_stop = should_stop
        self._policy = RetryPolicy()
        self._rng = random.Random(secrets.randbits(64))
        self._builder = RequestBuilder(endpoint=endpoint, policy=self._policy)
        self._slots = min(settings.SLOTS_PER_LOOP, endpoint.max_in_flight)
        self._in_flight: set[asyncio.Task[Result]] = set()
        self._finished: list[Result] = []
        self._n_recorded = 0
        self._heartbeat_at = time.monotonic()
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
        loop = asyncio.get_running_loop()
        ends_at = time.monotonic() + settings.LOOP_SLICE_S
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge-sql") as database:
            try:
                async with JudgeClient(
                    self.endpoint,
                    deadlines=deadlines,
                    max_connections=self._slots + 8,
                    uses_environment_proxies=settings.USES_ENVIRONMENT_PROXIES,
                ) as client:
                    while True:
                        is_stopping = self._should_stop() or time.monotonic() >= ends_at
                        results, self._finished = self._finished, []
                        wanted = 0 if is_stopping else self._slots - len(self._in_flight)
                        turn = await self._visit_database(loop, database, results, wanted)
                        for prepared in turn.prepared:
                            self._in_flight.add(asyncio.create_task(self._call(client, prepared)))
                        if not self._in_flight and not self._finished:
                            if is_stopping or turn.is_drained or turn.wait_s > IDLE_END_S:
                                break
                            await asyncio.sleep(min(turn.wait_s, MOST_WAIT_S))
                        elif self._in_flight:
                            await self._wait_for_calls(turn.wait_s)
            finally:
                # A lambda: the attribute must be looked up in the thread whose connection is closed.
                await loop.run_in_executor(database, lambda: connection.close())
        return self._n_recorded

    async def _wait_for_calls(self, wait_s: float) -> None:
        """Wait until a call has finished, then a moment more so that a turn carries several."""
        timeout = MOST_WAIT_S if len(self._in_flight) >= self._slots else min(wait_s, MOST_WAIT_S)
        done, _ = await asyncio.wait(self._in_flight, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if done:
            await asyncio.sleep(TURN_INTERVAL_S)
        for task in [task for task in self._in_flight if task.done()]:
            self._in_flight.discard(task)
            self._finished.append(task.result())

    async def _visit_database(
        self,
        loop: asyncio.AbstractEventLoop,
        database: ThreadPoolExecutor,
        results: list[Result],
        wanted: int,
    ) -> _Turn:
        n_in_hand = len(self._in_flight)
        try:
            turn = await loop.run_in_executor(database, lambda: self._take_turn(results, wanted, n_in_hand))
        except (OperationalError, InterfaceError) as error:
            # Stopped or unreachable: what finished is kept and written when it is back. Leases that
            # end meanwhile are another worker's rows, and the token refuses our late results.
            logger.warning("database unreachable (%s); trying again", type(error).__name__)
            self._finished = results + self._finished
            await loop.run_in_executor(database, lambda: connection.close())
            await asyncio.sleep(DATABASE_RETRY_S)
            return _Turn(prepared=(), wait_s=DATABASE_RETRY_S, is_drained=False)
        return turn

    def _take_turn(self, results: list[Result], wanted: int, n_in_hand: int) -> _Turn:
        self._n_recorded += record_results(results)
        self._hold_endpoint(results)
        for result in results:
            if result.learned is not None:
                self._builder.learn(result.claimed.judge_id, result.learned)
        if time.monotonic() - self._heartbeat_at > settings.LEASE_S / 3:
            extend_leases(worker=self.worker, lease_s=settings.LEASE_S)
            self._heartbeat_at = time.monotonic()
        if wanted <= 0:
            return _Turn(prepared=(), wait_s=MOST_WAIT_S, is_drained=False)
        claim = claim_rows(
            self.endpoint, worker=self.worker, wanted=wanted, lease_s=settings.LEASE_S, n_in_hand=n_in_hand
        )
        if claim.is_drained and not n_in_hand:
            finish_passes()
        wait_s = TURN_INTERVAL_S
        if not claim.rows and claim.retry_at is not None:
            wait_s = max((claim.retry_at - timezone.now()).total_seconds(), TURN_INTERVAL_S)
        return _Turn(prepared=self._prepare(claim.rows), wait_s=wait_s, is_drained=claim.is_drained)

    def _hold_endpoint(self, results: list[Result]) -> None:
        """Let the whole endpoint wait when it refuses most calls; a stray 429 only defers its own row."""
        self._recent.extend(result.outcome == "rate_limited" for result in results)
        asked_s = max((result.endpoint_delay_s for result in results), default=0.0)
        is_refusing = len(self._recent) >= LEAST_RECENT and sum(self._recent) * 2 >= len(self._recent)
        if asked_s > 0 and is_refusing:
            defer_endpoint(self.endpoint.name, until=database_now() + dt.timedelta(seconds=asked_s))

    def _prepare(self, rows: tuple[Claimed, ...]) -> tuple[Prepared, ...]:
        try:
            built = self._builder.build(rows)
        except Exception:
            # Claimed and not sent: back to the queue with their reservation, then let it be known.
            return_unsent(rows)
            raise
        for leak in built:
            if isinstance(leak, Leak):
                settle_leak(leak.claimed, detail=leak.detail)
        return tuple(row for row in built if isinstance(row, Prepared))

    async def _call(self, client: JudgeClient, prepared: Prepared) -> Result:
        outcome = await client.complete(prepared.request)
        parsed = interpret(outcome, item_text=prepared.item_text, scale=prepared.rubric.scale)
        step = next_step(outcome, parsed, history=prepared.history, policy=self._policy, rng=self._rng)
        return _result_of(prepared, outcome, parsed, step)


def _result_of(prepared: Prepared, outcome: CallOutcome, parsed: ParsedReply, step: Final | Retry) -> Result:
    is_retry, delay_s, history = isinstance(step, Retry), None, step.history
    pauses_pass = isinstance(step, Final) and step.pauses_pass
    if isinstance(step, Retry):
        delay_s = step.delay_s
    elif pauses_pass:
        # The key is at fault, not the row: it waits, its history unchanged, until the pass is resumed.
        is_retry, history = True, prepared.history
    is_scored = not is_retry and parsed.state == VerdictState.SCORED
    return Result(
        claimed=prepared.claimed,
        outcome=outcome.kind if outcome.kind != "ok" or parsed.state == "SCORED" else parsed.state.lower(),
        http_status=outcome.http_status,
        tokens_in=outcome.tokens_in,
        tokens_out=outcome.tokens_out,
        cost_micros=_cost_of(prepared, outcome),
        latency_ms=outcome.latency_ms,
        reply_text=outcome.text,
        attempt_detail=outcome.detail or parsed.detail or None,
        state=VerdictState.PENDING if is_retry else parsed.state,
        score=parsed.score if is_scored else None,
        jailbreak_score=parsed.jailbreak_score if is_scored else None,
        failure_code=step.code
        if isinstance(step, Final) and not is_retry and parsed.state == "CALL_FAILED"
        else None,
        detail=None if is_scored else (parsed.detail or None),
        counters=history.as_dict(),
        delay_s=delay_s,
        endpoint_delay_s=outcome.retry_after_s or 0.0 if outcome.kind == "rate_limited" else 0.0,
        # Only what was answered is known to be accepted.
        learned=prepared.request.capabilities if outcome.is_ok and prepared.history.resent_without else None,
        pauses_pass=pauses_pass,
    )


def _cost_of(prepared: Prepared, outcome: CallOutcome) -> int | None:
    if outcome.kind in FREE_OUTCOMES:
        return 0
    if outcome.tokens_in is None or outcome.tokens_out is None:
        return None
    return prepared.model.cost_micro(tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out)


def run_endpoint(name: str, *, should_stop: Callable[[], bool]) -> int:
    """Judge what is due at an endpoint; returns the number of calls recorded.

    Raises:
        EndpointError: the endpoints file cannot be read.
    """
    endpoint = load_endpoints(settings.ENDPOINTS_FILE).get(name)
    if endpoint is None:
        logger.error("endpoint %s is not in the endpoints file; its rows wait", name)
        return 0
    return asyncio.run(EndpointLoop(endpoint, should_stop=should_stop).run())
