"""Celery tasks: ids in, one call. The same under `manage.py worker` and a Celery worker on Redis.

Each worker also sweeps once a second in a thread of its own, and starts loops for the kinds of passes
whose queues it takes. The rows are the truth: a lost, doubled or early message is harmless.
"""

import logging
import threading
import time
from collections.abc import Collection
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.db import DatabaseError, connection
from kombu.exceptions import OperationalError as BrokerError

from judging.choices import PassKind
from judging.errors import DomainError
from judging.passes.waking import JUDGE_TASK, kinds_of, send_wake
from judging.queue.sweeping import LoopKey

logger = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 1.0
# An endpoint whose loop could not run is left alone for so long, however often it is asked for.
REST_S = 30.0

_stopping = threading.Event()
_running: set[LoopKey] = set()
_rests_until: dict[LoopKey, float] = {}
_lock = threading.Lock()


@shared_task(name=JUDGE_TASK)
def judge_endpoint(endpoint_name: str, kind: str = PassKind.JUDGING) -> int:
    """Run this process's loop for an endpoint and a kind of pass, unless one runs or has just failed."""
    from judging.loops import run_loop

    key = LoopKey(endpoint_name, PassKind(kind))
    with _lock:
        if not _may_run(key):
            return 0
        _running.add(key)
    try:
        return run_loop(key.endpoint_name, key.kind, should_stop=_stopping.is_set)
    except DomainError as error:
        # A matter of the deployer's file, said in a sentence; anything else Celery logs with its place.
        _rests_until[key] = time.monotonic() + REST_S
        logger.error("endpoint %s cannot be called: %s", endpoint_name, error.message)
        return 0
    except Exception:
        _rests_until[key] = time.monotonic() + REST_S
        raise
    finally:
        with _lock:
            _running.discard(key)


@worker_ready.connect
def start_sweeping(sender: Any, **_: Any) -> None:
    """Begin the sweep of this worker process. `sender` is its consumer."""
    _stopping.clear()
    kinds = kinds_of(sender.app.amqp.queues.consume_from)
    threading.Thread(target=_sweep_forever, args=[kinds], name="sweep", daemon=True).start()


@worker_shutting_down.connect
def stop_loops(**_: Any) -> None:
    """Claim nothing more; calls in flight are finished and recorded before the worker ends."""
    _stopping.set()


def _may_run(key: LoopKey) -> bool:
    is_resting = _rests_until.get(key, 0.0) > time.monotonic()
    return not (key in _running or is_resting or _stopping.is_set())


def _sweep_forever(kinds: Collection[PassKind]) -> None:
    from judging.loops import sweep

    while not _stopping.wait(SWEEP_INTERVAL_S):
        try:
            for key in sweep():
                with _lock:
                    # Nobody may take the queue of another kind; messages would only pile up there.
                    is_wanted = key.kind in kinds and _may_run(key)
                if is_wanted:
                    send_wake(*key)
        except (DatabaseError, BrokerError, OSError) as error:
            # The database or the broker is away; the next second tries again.
            logger.warning("sweep failed (%s); trying again", type(error).__name__)
            connection.close()
    connection.close()
