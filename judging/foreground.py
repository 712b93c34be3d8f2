"""Working on a pass inside one process, without any worker."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from django.db import InterfaceError, OperationalError, connection

from judging.choices import PassState
from judging.loops import run_loop, sweep
from judging.models import JudgePass
from judging.passes.progress import PassProgress, measure_progress
from judging.queue.sweeping import LoopKey

logger = logging.getLogger(__name__)

LOOK_INTERVAL_S = 1.0
MOST_LOOPS = 16


def judge_until_done(
    judge_pass: JudgePass,
    *,
    report: Callable[[PassProgress], None] | None = None,
    interval_s: float = LOOK_INTERVAL_S,
) -> JudgePass:
    """Run the loops of a pass's endpoints until it is no longer RUNNING.

    Workers may judge beside it: the rows are shared. Ctrl-C lets calls in flight finish first. A
    database that is away for a while is waited for.

    Args:
        judge_pass: a running pass; refreshed on return.
        report: called with the progress about once a second.
        interval_s: pause between two looks.

    Returns:
        The pass as it then stands: FINISHED, PAUSED or CANCELLED.

    Raises:
        EndpointError: the endpoints file cannot be read or no longer names an endpoint of the pass.
    """
    stopping = threading.Event()
    loops: dict[LoopKey, Future[int]] = {}
    with ThreadPoolExecutor(MOST_LOOPS, thread_name_prefix="judge") as threads:
        try:
            while True:
                try:
                    for key in sweep():
                        if key in loops and not loops[key].done():
                            continue
                        ended = loops.pop(key, None)
                        if ended is not None:
                            # Raises what ended the loop; one that merely ran dry is started again.
                            ended.result()
                        loops[key] = threads.submit(_run, key, stopping)
                    judge_pass.refresh_from_db()
                    if report is not None:
                        report(measure_progress(judge_pass))
                    if judge_pass.state != PassState.RUNNING:
                        return judge_pass
                except (OperationalError, InterfaceError) as error:
                    logger.warning("database unreachable (%s); trying again", type(error).__name__)
                    connection.close()
                time.sleep(interval_s)
        finally:
            stopping.set()


def _run(key: LoopKey, stopping: threading.Event) -> int:
    try:
        return run_loop(key.endpoint_name, key.kind, should_stop=stopping.is_set)
    finally:
        connection.close()
