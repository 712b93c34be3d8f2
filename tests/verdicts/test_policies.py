"""The deployer's numbers reach every kind of work, and change nothing else of its policy."""

from typing import Any

from judging.loops import WORKS
from judging.queue.policies import as_configured


def test_a_deployment_that_sets_nothing_keeps_to_each_kinds_own_policy() -> None:
    assert {kind: as_configured(work.policy) for kind, work in WORKS.items()} == {
        kind: work.policy for kind, work in WORKS.items()
    }


def test_attempts_and_back_off_are_the_settings(settings: Any) -> None:
    settings.MAX_ATTEMPTS, settings.MAX_RATE_LIMITED = 3, 7
    settings.BACKOFF_FIRST_S, settings.BACKOFF_MOST_S = 0.5, 2.0

    for work in WORKS.values():
        policy = as_configured(work.policy)

        assert (policy.max_attempts, policy.max_rate_limited) == (3, 7)
        assert (policy.backoff_base_s, policy.backoff_cap_s) == (0.5, 2.0)
        assert policy.max_repairs == work.policy.max_repairs
