"""Rates kept over all workers: buckets that fill steadily and hold a second's worth at most. Pure."""

import datetime as dt
import math
from dataclasses import dataclass

BURST_S = 1.0
# An endpoint that was not asked for this long starts with an empty bucket again.
REST_S = 5.0


@dataclass(frozen=True)
class Bucket:
    """What a limit allows at one moment.

    Args:
        per_minute: the limit.
        allowance: what is left; below 0 after calls that took more than was reserved for them.
    """

    per_minute: int
    allowance: float

    @classmethod
    def filled(
        cls, per_minute: int, *, left: float, since: dt.datetime | None, now: dt.datetime, cost: float = 1.0
    ) -> "Bucket":
        """The bucket of a limit now.

        It starts empty, also after a rest: a full one would let a whole burst through beside the rate.

        Args:
            per_minute: the limit.
            left: what it held.
            since: when it held that; None when it was never asked.
            now: on the same clock.
            cost: what the dearest call takes; the bucket holds at least one call.
        """
        if since is None:
            return cls(per_minute, 0.0)
        per_s, elapsed_s = per_minute / 60, max((now - since).total_seconds(), 0.0)
        if elapsed_s > REST_S and elapsed_s * per_s > cost:
            return cls(per_minute, min(left, 0.0))
        size = max(per_s * BURST_S, cost)
        return cls(per_minute, min(size, left + elapsed_s * per_s))

    def n_calls(self, cost: float = 1.0) -> int:
        """How many calls of this cost are allowed."""
        return max(math.floor(self.allowance / cost), 0)

    def seconds_until(self, cost: float = 1.0) -> float:
        """How long until one call of this cost is allowed."""
        return max((cost - self.allowance) * 60 / self.per_minute, 0.0)

    def less(self, amount: float) -> "Bucket":
        """The bucket after calls that took `amount`."""
        return Bucket(self.per_minute, self.allowance - amount)
