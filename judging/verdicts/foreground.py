"""Judging a pass inside one process, without any worker."""

import threading
import time
from collections.abc import Callable

from django.db import connection

from judging.choices import PassState
from judging.models import JudgePass
from judging.passes.progress import PassProgress, measure_progress
from judging.verdicts.engine import run_endpoint
from judging.verdicts.sweeping import sweep

LOOK_INTERVAL_S = 1.0


def judge_until_done(
    judge_pass: JudgePass,
    *,
    report: Callable[[PassProgress], None] | None = None,
    interval_s: float = LOOK_INTERVAL_S,
) -> JudgePass:
    """Run the loops of a pass's endpoints until it is no longer RUNNING.

    Workers may judge beside it: the rows are shared. Ctrl-C lets calls in flight finish first.

    Args:
        judge_pass: a running pass; refreshed on return.
        report: called with the progress about once a second.
        interval_s: pause between two looks.

    Returns:
        The pass as it then stands: FINISHED, PAUSED or CANCELLED.
    """
    stopping = threading.Event()
    threads: dict[str, threading.Thread] = {}
    try:
        while True:
            for name in sweep():
                if name not in threads or not threads[name].is_alive():
                    threads[name] = threading.Thread(target=_run, args=(name, stopping), name=f"judge-{name}")
                    threads[name].start()
            judge_pass.refresh_from_db()
            if report is not None:
                report(measure_progress(judge_pass))
            if judge_pass.state != PassState.RUNNING:
                return judge_pass
            time.sleep(interval_s)
    finally:
        stopping.set()
        for thread in threads.values():
            thread.join()


def _run(endpoint_name: str, stopping: threading.Event) -> None:
    try:
        run_endpoint(endpoint_name, should_stop=stopping.is_set)
    finally:
        connection.close()
