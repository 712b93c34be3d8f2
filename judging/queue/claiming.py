"""Which rows a worker may send now, and which it may hold ready.

A claim runs under the lock of the endpoint's gate, so that over all workers the calls in flight, the
rates, `not_before` after a 429 and each pass's budget hold together.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field

from judging.choices import PassState, PauseReason, VerdictState
from judging.llm.endpoints import Endpoint
from judging.models import EndpointGate, Generation, Verdict
from judging.queue.gate import Rates, lock_suspects
from judging.queue.locked_passes import LockedPass
from judging.queue.results import MAX_UNPROVEN_IN_FLIGHT, NO_ANSWER
from judging.queue.slots import Grant, lease_slots, shrink_lease, slot_lease_s
from judging.queue.statements import RowsToClaim, claim
from judging.queue.work import Claimed, Work

SUSPECT_AFTER_DEATHS = 2
# With less room than so many slots under a pass's cap nothing is claimed ahead: what a killed worker
# held ready keeps its reservation, and the cap would be reached with fewer calls than it allows.
LEAST_ROOM_AHEAD = 4
IDLE_S = 0.5
# Under a high rate the next call is allowed at once; so long several are.
LEAST_WAIT_S = 0.05
PROOF_WAIT_S = 0.1


@dataclass(frozen=True, kw_only=True)
class Asking:
    """A loop that asks for rows.

    Args:
        work: the kind of rows.
        endpoint: its limits hold over all workers and kinds.
        worker: name of the loop, unique to it.
        lease_s: how long claimed rows are its own, unless extended.
        wanted: slots that it could use; it claims nothing at 0.
        slots: those that it may use by its last claim.
        n_in_flight: calls in flight.
        n_ready: rows that it holds ready for a free slot.
        ahead: rows that it would hold ready.
        ready_passes: passes of the rows that it holds ready.
        answered_passes: passes in which the endpoint is known to have answered; added to here.
    """

    work: Work
    endpoint: Endpoint
    worker: str
    lease_s: float
    wanted: int
    slots: int = 0
    n_in_flight: int = 0
    n_ready: int = 0
    ahead: int = 0
    ready_passes: frozenset[int] = frozenset()
    answered_passes: set[int] = field(default_factory=set)

    @property
    def in_use(self) -> int:
        """Slots that are taken, or will be before it hears of this claim."""
        return max(self.n_in_flight, min(self.slots, self.n_in_flight + self.n_ready))


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a loop got, and when it is worth asking again if that was nothing.

    `rows` are to be sent in this order. `slots` is how many calls it may have in flight from now on, None
    when it did not ask. `is_short`: there was less to claim than it asked for. `is_drained`: no running
    pass has a row left here that is not in flight. Rows held ready must not be sent while the endpoint
    `is_held`, nor those of `ended_passes`.
    """

    rows: tuple[Claimed, ...] = ()
    slots: int | None = None
    wait_s: float = 0.0
    is_short: bool = False
    is_drained: bool = False
    is_held: bool = False
    ended_passes: frozenset[int] = frozenset()


def claim_rows(
    asking: Asking, *, gate: EndpointGate, passes: Iterable[LockedPass], now: dt.datetime
) -> Claim:
    """Claim due rows of running passes, oldest first, for free slots and to be held ready.

    Gate and passes must be locked by this transaction; the caller writes the passes back.
    """
    passes = list(passes)
    ended = frozenset(one.row.pk for one in passes if not one.is_running) & asking.ready_passes
    open_passes = [one for one in passes if one.is_running and one.has_waiting_rows]
    is_held = gate.not_before is not None and gate.not_before > now
    if is_held or not open_passes:
        if asking.slots > asking.in_use:
            shrink_lease(asking.endpoint.name, worker=asking.worker, slots=asking.in_use)
        return Claim(
            slots=asking.in_use,
            wait_s=(gate.not_before - now).total_seconds() if is_held and gate.not_before else IDLE_S,
            is_short=True,
            is_drained=not open_passes,
            is_held=is_held,
            ended_passes=ended,
        )
    most_tokens = max(one.call_tokens for one in open_passes)
    rates = Rates.of(asking.endpoint, gate, now=now, tokens_of_call=most_tokens)
    grant = lease_slots(
        asking.endpoint.name,
        worker=asking.worker,
        kind=asking.work.kind,
        wanted=asking.wanted,
        in_use=asking.in_use,
        most=asking.endpoint.max_in_flight,
        lease_until=now + dt.timedelta(seconds=slot_lease_s(asking.lease_s)),
        now=now,
    )
    claiming = _Claiming(asking, grant=grant, rates=rates, now=now)
    for judge_pass in open_passes:
        claiming.take_from(judge_pass)
    rates.write(gate, now=now)
    used = asking.n_in_flight + asking.n_ready + len(claiming.rows)
    if claiming.is_short and used < grant.held:
        shrink_lease(asking.endpoint.name, worker=asking.worker, slots=max(used, asking.in_use))
    return Claim(
        rows=tuple(claiming.rows),
        slots=min(grant.slots, max(used, asking.in_use)) if claiming.is_short else grant.slots,
        wait_s=0.0 if claiming.rows else claiming.wait_s(most_tokens),
        is_short=claiming.is_short,
        ended_passes=ended,
    )


class _Claiming:
    """One claim as it goes from pass to pass."""

    def __init__(self, asking: Asking, *, grant: Grant, rates: Rates, now: dt.datetime) -> None:
        self.asking, self.rates, self.now = asking, rates, now
        self.rows: list[Claimed] = []
        free = grant.slots - asking.n_in_flight
        self.at_once = max(free - asking.n_ready, 0)
        ahead = asking.ahead - max(asking.n_ready - max(free, 0), 0)
        self.ahead = max(ahead, 0) if grant.slots > 0 else 0
        self.n_slots = grant.slots
        self.has_suspect = False
        # A pass waits for its first answer, which may come at any moment.
        self.awaits_proof = False

    @property
    def is_short(self) -> bool:
        """Whether fewer rows were found than could have been sent."""
        return self.at_once > 0 or (self.n_slots > 0 and self.ahead > 0)

    def wait_s(self, tokens_each: int) -> float:
        """When to ask again after nothing was found."""
        if self.awaits_proof:
            return PROOF_WAIT_S
        if self.n_slots == 0 or self.at_once == 0:
            return IDLE_S
        limited_s = self.rates.seconds_until(tokens_each)
        if limited_s > 0:
            return min(max(limited_s, LEAST_WAIT_S), IDLE_S)
        return _seconds_until_due(self.asking, self.now)

    def take_from(self, judge_pass: LockedPass) -> None:
        """Claim what one pass has, up to its own limits."""
        at_once, ahead = (0, 0) if self.has_suspect else self._limits(judge_pass)
        if at_once + ahead <= 0:
            return
        n_claimed = self._claim(judge_pass, most=at_once, is_ahead=False)
        self.at_once -= n_claimed
        # Held ready only when the pass had enough for the slots that it may take now.
        if n_claimed == at_once and ahead > 0:
            self.ahead = max(self.ahead - self._claim(judge_pass, most=ahead, is_ahead=True), 0)
        if not (self.rows or self.asking.n_in_flight or self.asking.n_ready):
            self._claim_suspect(judge_pass)

    def _limits(self, judge_pass: LockedPass) -> tuple[int, int]:
        """How many rows of the pass may be claimed to be sent at once, and how many to be held ready."""
        most, may_hold = self.at_once + self.ahead, True
        if most == 0:
            return 0, 0
        left = judge_pass.calls_left()
        if left is not None:
            if left <= 0:
                self._pause_when_settled(judge_pass)
                return 0, 0
            may_hold = left >= LEAST_ROOM_AHEAD * self.n_slots
            most = min(most, left)
        allowed = self.rates.n_calls(judge_pass.call_tokens)
        if allowed is not None:
            may_hold = may_hold and allowed >= most
            most = min(most, allowed)
        at_once = min(self.at_once, most)
        if not _is_proven(judge_pass, self.asking):
            n_running = _n_running(judge_pass, self.asking)
            at_once = min(at_once, max(MAX_UNPROVEN_IN_FLIGHT - n_running, 0))
            # One loop holds the next rows ready until the first answer; to the others they are in flight.
            may_hold = may_hold and n_running == 0
            self.awaits_proof = True
        return at_once, most - at_once if may_hold else 0

    def _pause_when_settled(self, judge_pass: LockedPass) -> None:
        # Calls in flight may still give back a part of what they reserved.
        running = self.asking.work.row_class.objects.filter(
            judge_pass=judge_pass.row, state=VerdictState.RUNNING
        )
        if not running.exists():
            judge_pass.pause(PauseReason.BUDGET, note="The next call could go beyond the cap.")

    def _claim(
        self, judge_pass: LockedPass, *, most: int, is_ahead: bool, with_suspects: bool = False
    ) -> int:
        if most <= 0:
            return 0
        rows = claim(
            RowsToClaim(
                work=self.asking.work,
                judge_pass_id=judge_pass.row.pk,
                endpoint_name=self.asking.endpoint.name,
                worker=self.asking.worker,
                now=self.now,
                lease_until=self.now + dt.timedelta(seconds=self.asking.lease_s),
                most=most,
                is_ahead=is_ahead,
                fewer_deaths_than=None if with_suspects else 1 if is_ahead else SUSPECT_AFTER_DEATHS,
            )
        )
        judge_pass.reserve(len(rows))
        self.rates.reserve(len(rows), tokens_each=judge_pass.call_tokens)
        self.rows += [
            Claimed(
                row_id=row.row_id,
                token=row.token,
                judge_pass_id=judge_pass.row.pk,
                counters=row.counters,
                reserved_micros=judge_pass.worst_micros,
                reserved_tokens=judge_pass.call_tokens,
                has_money_cap=judge_pass.row.max_cost_micros is not None,
                is_suspect=row.n_deaths >= SUSPECT_AFTER_DEATHS,
            )
            for row in rows
        ]
        return len(rows)

    def _claim_suspect(self, judge_pass: LockedPass) -> None:
        """Claim a row that two workers died with: alone, also over all endpoints and kinds.

        So an innocent one is never condemned together with the one that kills.
        """
        lock_suspects()
        suspects = (
            rows.objects.filter(state=VerdictState.RUNNING, n_deaths__gte=SUSPECT_AFTER_DEATHS)
            for rows in (Verdict, Generation)
        )
        if not any(running.exists() for running in suspects):
            n_claimed = self._claim(judge_pass, most=1, is_ahead=False, with_suspects=True)
            self.at_once -= n_claimed
            self.has_suspect = n_claimed > 0


def _is_proven(judge_pass: LockedPass, asking: Asking) -> bool:
    """Whether the endpoint has answered once in this pass. Until then few calls may be in flight."""
    pk = judge_pass.row.pk
    if pk not in asking.answered_passes:
        name = asking.work.row_name
        rows = {f"{name}__judge_pass": pk, f"{name}__endpoint_name": asking.endpoint.name}
        if asking.work.attempt_class.objects.filter(**rows).exclude(outcome__in=NO_ANSWER).exists():
            asking.answered_passes.add(pk)
    return pk in asking.answered_passes


def _n_running(judge_pass: LockedPass, asking: Asking) -> int:
    """Rows of the pass that any worker has in flight or holds ready for the endpoint."""
    running = asking.work.row_class.objects.filter(
        judge_pass=judge_pass.row.pk, endpoint_name=asking.endpoint.name, state=VerdictState.RUNNING
    )
    return running.count()


def _seconds_until_due(asking: Asking, now: dt.datetime) -> float:
    waiting = asking.work.row_class.objects.filter(
        endpoint_name=asking.endpoint.name,
        state=VerdictState.PENDING,
        judge_pass__kind=asking.work.kind,
        judge_pass__state=PassState.RUNNING,
        not_before__gt=now,
    )
    due = waiting.order_by("not_before").values_list("not_before", flat=True).first()
    return max((due - now).total_seconds(), IDLE_S) if due is not None else IDLE_S
