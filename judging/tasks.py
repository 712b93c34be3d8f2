"""Celery tasks: ids in, one call. The same under `manage.py worker` and a Celery worker on Redis.

Each worker also sweeps once a second in a thread of its own. The rows are the truth: a lost,
doubled or early message is harmless.
"""

import logging
import threading
from typing import Any

from celery import current_app, shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, connection

from judging.passes.starting import JUDGE_TASK, WAKE_EXPIRES_S

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 1.0

_stopping = threading.Event()
_running: set[str] = set()
_running_lock = threading.Lock()


@shared_task(name=JUDGE_TASK)
def judge_endpoint(endpoint_name: str) -> int:
    """Run this process's loop for an endpoint, unless one runs already."""
    from judging.verdicts.engine import run_endpoint

    with _running_lock:
        if endpoint_name in _running or _stopping.is_set():
            return 0
        _running.add(endpoint_name)
    try:
        return run_endpoint(endpoint_name, should_stop=_stopping.is_set)
    finally:
        with _running_lock:
            _running.discard(endpoint_name)


@worker_ready.connect
def start_sweeping(**_: Any) -> None:
    """Begin the sweep of this worker process."""
    _stopping.clear()
    threading.Thread(target=_sweep_forever, name="sweep", daemon=True).start()


@worker_shutting_down.connect
def stop_loops(**_: Any) -> None:
    """Claim nothing more; calls in flight are finished and recorded before the worker ends."""
    _stopping.set()


def _sweep_forever() -> None:
    from judging.verdicts.sweeping import sweep

    while not _stopping.wait(SWEEP_INTERVAL_S):
        try:
            for name in sweep():
                with _running_lock:
                    is_running = name in _running
                if not is_running:
                    current_app.send_task(JUDGE_TASK, args=[name], expires=WAKE_EXPIRES_S)
        except (DatabaseError, ConnectionError, OSError) as error:
            # The database or the broker is away; the next second tries again.
            logger.warning("sweep failed (%s); trying again", type(error).__name__)
            connection.close()
    connection.close()
