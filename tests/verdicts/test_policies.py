"""The deployer's numbers reach every kind of work, and change nothing else of its policy."""

from typing import Any

import pytest

from judging.loops import WORKS
from judging.queue.policies import as_configured
from tests.passes import stage
from tests.verdicts.conftest import Provide


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


@pytest.mark.django_db(transaction=True)
def test_a_loop_calls_as_often_as_the_settings_say(provide: Provide, settings: Any) -> None:
    settings.MAX_ATTEMPTS, settings.BACKOFF_FIRST_S = 2, 0.01
    with provide(faults={"server_error": 1.0}) as base_url:
        judge_pass = stage.judge(stage.start(stage.make_material(3)))

        assert stage.states(judge_pass) == {"CALL_FAILED": 3}
        assert stage.stats(base_url)["calls"] == 6
