"""How far a pass is: counts by state, spend, rate and time left."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils import timezone

from judging.amounts import MICROS
from judging.choices import UNSETTLED_STATES, PassState
from judging.models import JudgePass, row_class_of

RATE_WINDOW_S = 30
# How the detail of an attempt begins whose result came in after its row was taken back or cancelled.
LATE_PREFIX = "late: "


@dataclass(frozen=True)
class PassProgress:
    """Where a pass stands now. Rates are settled rows per second over the last 30 s.

    `n_late` of the attempts changed no verdict: their rows had been taken back or cancelled.
    `cost_beside` is the part of `cost` that no attempt's own price explains: calls whose outcome was lost or
    whose length is unknown, at their worst case, and vectors of texts.
    """

    judge_pass: JudgePass
    counts: dict[str, int]
    n_attempts: int
    n_late: int
    cost: float | None
    cost_beside: float | None
    rate_per_s: float | None
    seconds_left: int | None

    @property
    def n_rows(self) -> int:
        return sum(self.counts.values())

    @property
    def n_open(self) -> int:
        return sum(self.counts.get(state, 0) for state in UNSETTLED_STATES)

    @property
    def n_settled(self) -> int:
        return self.n_rows - self.n_open

    def to_json(self) -> dict[str, Any]:
        """The document of `pass_status --json`."""
        return {
            "pass": self.judge_pass.public_id,
            "state": self.judge_pass.state,
            "reason": self.judge_pass.pause_reason,
            "counts": self.counts,
            "n_attempts": self.n_attempts,
            "cost": self.cost,
            "rate_per_s": self.rate_per_s,
            "seconds_left": self.seconds_left,
        }


def measure_progress(judge_pass: JudgePass) -> PassProgress:
    """Count a pass's rows and attempts. Three queries at most.

    `cost` is None when a price is unknown; a call whose outcome is unknown counts at its worst case.
    """
    rows = row_class_of(judge_pass.kind).objects.filter(judge_pass=judge_pass)
    counts = dict(rows.order_by("state").values_list("state").annotate(n=Count("pk")))
    n_open = sum(counts.get(state, 0) for state in UNSETTLED_STATES)
    rate = None
    if judge_pass.state == PassState.RUNNING:
        since = timezone.now() - dt.timedelta(seconds=RATE_WINDOW_S)
        span = float(RATE_WINDOW_S)
        if judge_pass.started_at is not None and judge_pass.started_at > since:
            span = max((timezone.now() - judge_pass.started_at).total_seconds(), 1.0)
        # A row without a token was settled as the pass began, without any call.
        rate = rows.filter(settled_at__gte=since, token__gt=0).exclude(state="SKIPPED").count() / span
    attempts = rows.aggregate(
        n=Count("attempts"),
        n_late=Count("attempts", filter=Q(attempts__detail__startswith=LATE_PREFIX)),
        micros=Sum("attempts__cost_micros", default=0),
    )
    beside = judge_pass.cost_settled_micros - attempts["micros"]
    has_prices = judge_pass.configuration.get("worst_call_micros") is not None
    return PassProgress(
        judge_pass=judge_pass,
        counts=counts,
        n_attempts=attempts["n"],
        n_late=attempts["n_late"],
        cost=judge_pass.cost_settled_micros / MICROS if has_prices else None,
        cost_beside=max(beside, 0) / MICROS if has_prices else None,
        rate_per_s=rate,
        seconds_left=round(n_open / rate) if rate else None,
    )
