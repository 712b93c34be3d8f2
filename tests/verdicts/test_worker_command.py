"""What the `worker` command refuses. That it judges is shown with real processes in tests/chaos."""

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_worker_without_a_loop_is_refused(concurrency: int) -> None:
    with pytest.raises(CommandError, match=f"--concurrency is {concurrency}; expected 1 or more"):
        call_command("worker", concurrency=concurrency)
