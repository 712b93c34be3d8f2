"""How the latest calls went, by endpoint, read from the ledgers."""

import datetime as dt
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from judging.models import GenerationAttempt, VerdictAttempt
from judging.queue.results import NO_ANSWER

WINDOW = dt.timedelta(hours=1)
# A busy hour holds a million calls; so many of the newest say as much, in a moment.
MOST_CALLS = 10_000


@dataclass(frozen=True)
class RecentCalls:
    """Calls at one endpoint since the ledger's `since`, by outcome. `last_answer_at` may lie before that."""

    outcomes: Mapping[str, int] = field(default_factory=dict)
    latencies_ms: Sequence[int] = ()
    last_answer_at: dt.datetime | None = None

    @property
    def n_calls(self) -> int:
        return sum(self.outcomes.values())

    @property
    def n_answered(self) -> int:
        """Calls that the provider answered, whether or not the answer could be used."""
        return sum(n for outcome, n in self.outcomes.items() if outcome not in NO_ANSWER)

    def latency_ms(self, share: float) -> int | None:
        """The latency that this share (0-1) of the calls did not exceed, None without a call."""
        ordered = sorted(self.latencies_ms)
        return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None


@dataclass(frozen=True)
class RecentLedger:
    """What `read_ledger` saw. `since` is later than an hour ago when there were more calls than it reads."""

    calls: Mapping[str, RecentCalls]
    since: dt.datetime

    def at(self, endpoint_name: str) -> RecentCalls:
        """The calls at an endpoint, none for one that was not called."""
        return self.calls.get(endpoint_name, RecentCalls())


def read_ledger(*, now: dt.datetime) -> RecentLedger:
    """The newest 10,000 calls of each ledger, counted over the last hour. Two queries."""
    since, calls = now - WINDOW, []
    for attempt_class, row in ((VerdictAttempt, "verdict"), (GenerationAttempt, "generation")):
        values = attempt_class.objects.order_by("-at").values_list(
            f"{row}__endpoint_name", "at", "outcome", "latency_ms"
        )
        newest = list(values[:MOST_CALLS])
        if len(newest) == MOST_CALLS:
            since = max(since, newest[-1][1])
        calls += newest
    by_endpoint: dict[str, list[_Call]] = {}
    for name, *call in calls:
        if name is not None:
            by_endpoint.setdefault(name, []).append(_Call(*call))
    return RecentLedger(
        calls={name: _count(of_endpoint, since=since) for name, of_endpoint in by_endpoint.items()},
        since=since,
    )


class _Call(NamedTuple):
    at: dt.datetime
    outcome: str
    latency_ms: int | None


def _count(calls: Sequence[_Call], *, since: dt.datetime) -> RecentCalls:
    recent = [call for call in calls if call.at >= since]
    return RecentCalls(
        outcomes=Counter(call.outcome for call in recent),
        latencies_ms=[call.latency_ms for call in recent if call.latency_ms is not None],
        last_answer_at=max((call.at for call in calls if call.outcome not in NO_ANSWER), default=None),
    )
