"""What a loop has in its hands: rows ready for a slot, calls in flight, results, and rows to give back.

Lives on the event loop. A call that ends begins the next one at once, without a visit to the database.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from judging.passes.control import HEARD_WITHIN_S
from judging.queue.results import MAX_UNPROVEN_IN_FLIGHT, Result
from judging.queue.work import Claimed, Prepared

Call = Callable[[Prepared], Coroutine[Any, Any, Result]]


class Hands:
    """The rows of one loop. `slots` is how many calls it may have in flight; it is set by each claim."""

    def __init__(self, call: Call, *, answered_passes: set[int]) -> None:
        """
        Args:
            call: makes one call.
            answered_passes: passes in which the endpoint is known to have answered; added to here.
        """
        self.slots = 0
        # When the last visit to the database began; a row held ready is only sent soon after one.
        self.heard_at = -HEARD_WITHIN_S
        self.finished: list[Result] = []
        self.unsent: list[Claimed] = []
        # There was less to claim than asked for, so that asking again at once gives nothing.
        self.is_short = False
        self._call = call
        self._answered_passes = answered_passes
        self._ready: deque[Prepared] = deque()
        self._in_flight: dict[asyncio.Task[Result], Claimed] = {}
        self._refused_passes: set[int] = set()
        self._changed = asyncio.Event()
        self._pressing = asyncio.Event()

    @property
    def n_in_flight(self) -> int:
        return len(self._in_flight)

    @property
    def n_ready(self) -> int:
        return len(self._ready)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to send, to wait for, to write or to give back."""
        return not (self._in_flight or self._ready or self.finished or self.unsent)

    @property
    def has_suspect(self) -> bool:
        """Whether a row is in flight that must be alone in case it kills the worker."""
        return any(claimed.is_suspect for claimed in self._in_flight.values())

    def ready_passes(self) -> frozenset[int]:
        return frozenset(prepared.claimed.judge_pass_id for prepared in self._ready)

    def row_ids(self) -> list[int]:
        """Every row that must not be taken for lost."""
        rows = [*self._in_flight.values(), *(prepared.claimed for prepared in self._ready), *self.unsent]
        return [row.row_id for row in rows] + [result.claimed.row_id for result in self.finished]

    def take(self, rows: Iterable[Prepared]) -> None:
        """Take newly claimed rows in their order and send as many as there are slots for."""
        for prepared in rows:
            if prepared.claimed.judge_pass_id in self._refused_passes:
                self.unsent.append(prepared.claimed)
            else:
                self._ready.append(prepared)
        self._send_ready()

    def give_up(self, pass_ids: frozenset[int] | None = None) -> None:
        """Send no more of the rows held ready, of these passes or of all: they go back to the queue."""
        kept: deque[Prepared] = deque()
        for prepared in self._ready:
            if pass_ids is None or prepared.claimed.judge_pass_id in pass_ids:
                self.unsent.append(prepared.claimed)
            else:
                kept.append(prepared)
        self._ready = kept

    def recorded(self, results: Iterable[Result]) -> None:
        """The database now knows of these: a pass whose key was refused is paused there."""
        self._refused_passes -= {result.claimed.judge_pass_id for result in results if result.pauses_pass}

    async def wait(self, *, most_s: float, interval_s: float, gather_s: float) -> None:
        """Wait until a visit to the database is worth it.

        Args:
            most_s: so long, when no call finishes.
            interval_s: since the last visit, when calls finish and the slots stay filled.
            gather_s: once slots are empty or many results are waiting, so that a visit carries several.
        """
        if not self.finished:
            self._changed.clear()
            await _within(most_s, self._changed)
        if self.finished:
            self._press_if_due()
            if await _within(interval_s, self._pressing):
                await asyncio.sleep(gather_s)
        self._pressing.clear()

    def _send_ready(self) -> None:
        if time.monotonic() - self.heard_at > HEARD_WITHIN_S:
            return
        early: list[Prepared] = []
        while self._ready and len(self._in_flight) < self.slots:
            prepared = self._ready.popleft()
            if self._may_send(prepared.claimed.judge_pass_id):
                task = asyncio.create_task(self._call(prepared))
                self._in_flight[task] = prepared.claimed
                task.add_done_callback(self._on_done)
            else:
                early.append(prepared)
        self._ready.extendleft(reversed(early))

    def _may_send(self, pass_id: int) -> bool:
        """Whether one more call of a pass may begin: few do before the endpoint has answered in it."""
        if pass_id in self._answered_passes:
            return True
        in_flight = sum(claimed.judge_pass_id == pass_id for claimed in self._in_flight.values())
        return in_flight < MAX_UNPROVEN_IN_FLIGHT

    def _on_done(self, task: asyncio.Task[Result]) -> None:
        claimed = self._in_flight.pop(task)
        if task.cancelled():
            return
        result = task.result()
        self.finished.append(result)
        if result.pauses_pass:
            self._refused_passes.add(claimed.judge_pass_id)
        if result.pauses_pass or self._is_news(result):
            self.give_up(frozenset({claimed.judge_pass_id}))
        if result.is_answer:
            self._answered_passes.add(claimed.judge_pass_id)
        self._send_ready()
        self._changed.set()
        self._press_if_due()

    def _is_news(self, result: Result) -> bool:
        """Whether a pass's rows held ready, built before this result, could only fail in the same way."""
        is_first_failure = not result.is_answer and result.claimed.judge_pass_id not in self._answered_passes
        return is_first_failure or result.learned is not None

    def _press_if_due(self) -> None:
        is_starved = not self._ready and not self.is_short
        is_over = not self._in_flight
        if is_starved or is_over or len(self.finished) * 2 >= max(self.slots, 1):
            self._pressing.set()


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Whether the event comes within so long."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
