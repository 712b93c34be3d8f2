"""Passes whose rows a transaction holds: budgets are counted here and written back once."""

from collections.abc import Collection

from django.db import connection

from judging.choices import PassState, PauseReason
from judging.models import JudgePass
from judging.queue.work import Work

# What a call is taken to need under a limit of tokens when its pass does not say.
UNKNOWN_CALL_TOKENS = 4_000
_WRITTEN = (
    "state",
    "is_simulated",
    "pause_reason",
    "state_note",
    "n_calls_reserved",
    "cost_reserved_micros",
    "cost_settled_micros",
)


class LockedPass:
    """One pass under this transaction's lock. Nothing is stored before `write`."""

    def __init__(self, row: JudgePass, *, has_waiting_rows: bool) -> None:
        self.row = row
        self.has_waiting_rows = has_waiting_rows
        self.worst_micros = int(row.configuration.get("worst_call_micros") or 0)
        self.call_tokens = int(row.configuration.get("call_tokens") or UNKNOWN_CALL_TOKENS)
        self._before = self._values()

    @property
    def is_running(self) -> bool:
        return self.row.state == PassState.RUNNING

    def calls_left(self) -> int | None:
        """How many more calls the pass may reserve; None without a cap."""
        limits = []
        if self.row.max_calls is not None:
            limits.append(self.row.max_calls - self.row.n_calls_reserved)
        if self.row.max_cost_micros is not None:
            left = self.row.max_cost_micros - self.row.cost_reserved_micros
            limits.append(left // self.worst_micros if self.worst_micros else 0)
        return min(limits) if limits else None

    def reserve(self, n_calls: int) -> None:
        """Count calls about to be made, each at its worst case."""
        self.row.n_calls_reserved += n_calls
        self.row.cost_reserved_micros += n_calls * self.worst_micros

    def give_back(self, n_calls: int, *, reserved_micros: int) -> None:
        """Take back the reservation of calls that were never made."""
        self.row.n_calls_reserved -= n_calls
        self.row.cost_reserved_micros -= reserved_micros

    def settle(self, *, reserved_micros: int, cost_micros: int) -> None:
        """Replace a call's reservation by what it cost."""
        self.row.cost_reserved_micros += cost_micros - reserved_micros
        self.row.cost_settled_micros += cost_micros

    def settle_lost(self, n_calls: int) -> None:
        """Count calls of unknown outcome as spent at their worst case: their rows left a worker's hands."""
        self.row.cost_settled_micros += n_calls * self.worst_micros

    def undo_lost(self, *, reserved_micros: int) -> None:
        """Take back what `settle_lost` counted for a call whose result has come in after all."""
        self.row.cost_settled_micros -= reserved_micros

    def mark_simulated(self) -> None:
        """The loopback provider answered in this pass."""
        self.row.is_simulated = True

    def pause(self, reason: PauseReason, *, note: str) -> None:
        """Let no more rows be claimed; does nothing to a pass that is not running."""
        if self.is_running:
            self.row.state, self.row.pause_reason, self.row.state_note = PassState.PAUSED, reason, note

    def write(self) -> None:
        """Store what changed, if anything did."""
        if self._values() != self._before:
            JudgePass.objects.filter(pk=self.row.pk).update(**self._values())

    def _values(self) -> dict[str, object]:
        return {name: getattr(self.row, name) for name in _WRITTEN}


def lock_passes(ids: Collection[int]) -> dict[int, LockedPass]:
    """Lock passes by their ids, in the order of ids. One query."""
    rows = JudgePass.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True)
    return {row.pk: LockedPass(row, has_waiting_rows=False) for row in rows}


def lock_claimable_passes(ids: Collection[int], *, work: Work, endpoint_name: str) -> dict[int, LockedPass]:
    """Lock passes by their ids, and every running pass of a kind; tells which have a row waiting here.

    In the order of ids, whichever they are, so that two loops never wait for each other. One query, and
    raw: the ORM takes longer to write it than the database to answer, twenty times a second.
    """
    table = connection.ops.quote_name(work.row_class._meta.db_table)
    named = f"id IN ({', '.join(['%s'] * len(ids))}) OR " if ids else ""
    lock = " FOR NO KEY UPDATE OF judge_pass" if connection.vendor == "postgresql" else ""
    # The state is written out: SQLite does not use a partial index for one that is given as a parameter.
    sql = (
        "SELECT judge_pass.*, EXISTS (SELECT 1 FROM "
        f"{table} AS waiting WHERE waiting.judge_pass_id = judge_pass.id AND waiting.endpoint_name = %s "
        "AND waiting.state = 'PENDING') AS has_waiting_rows FROM judging_judgepass AS judge_pass "
        f"WHERE {named}(kind = %s AND state = 'RUNNING') ORDER BY id{lock}"
    )
    rows = JudgePass.objects.raw(sql, [endpoint_name, *ids, work.kind.value])
    return {row.pk: LockedPass(row, has_waiting_rows=bool(vars(row)["has_waiting_rows"])) for row in rows}
