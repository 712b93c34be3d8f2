"""Rates over all workers: full seconds at most, empty at first, exact in the long run."""

from datetime import UTC, datetime, timedelta

import pytest

from judging.queue.buckets import Bucket

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


def filled(per_minute: int, *, left: float = 0.0, seconds: float | None, cost: float = 1.0) -> Bucket:
    since = None if seconds is None else NOW - timedelta(seconds=seconds)
    return Bucket.filled(per_minute, left=left, since=since, now=NOW, cost=cost)


@pytest.mark.parametrize(
    ("left", "seconds", "n_calls"),
    [
        pytest.param(0.0, None, 0, id="never asked"),
        pytest.param(0.0, 0.5, 5, id="half a second"),
        pytest.param(4.0, 0.5, 9, id="on top of what is left"),
        pytest.param(0.0, 4.0, 10, id="a second's worth at most"),
        pytest.param(10.0, 60.0, 0, id="empty after a rest"),
        pytest.param(-8.0, 0.5, 0, id="in debt"),
        pytest.param(0.0, -3.0, 0, id="a clock that went back"),
    ],
)
def test_a_rate_of_600_a_minute_allows(left: float, seconds: float | None, n_calls: int) -> None:
    assert filled(600, left=left, seconds=seconds).n_calls() == n_calls


def test_a_bucket_of_tokens_always_holds_one_call() -> None:
    bucket = filled(6_000, seconds=4.0, cost=400.0)

    assert bucket.n_calls(400) == 1
    assert bucket.less(400).seconds_until(400) == pytest.approx(4.0)


def test_a_debt_is_not_forgiven_by_a_rest() -> None:
    assert filled(600, left=-30.0, seconds=60.0).allowance == -30.0
