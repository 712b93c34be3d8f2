"""Waking workers: a help, never a condition of what was decided."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from judging.choices import PassKind

logger = logging.getLogger(__name__)

JUDGE_TASK = "judging.judge_endpoint"
WAKE_EXPIRES_S = 10
# One queue for each kind of pass, so that a deployment can give each kind workers of its own.
QUEUE_OF_KIND: Mapping[str, str] = {kind.value: kind.value.lower() for kind in PassKind}


def wake_workers(endpoint_names: Sequence[str], *, kind: str = PassKind.JUDGING) -> None:
    """Send a message for each endpoint; with the memory broker the worker's own sweep finds the rows.

    What was decided is stored already, so a broker that is away costs a second and nothing else.

    Args:
        endpoint_names: where rows now wait.
        kind: of the pass that they belong to.
    """
    if settings.USES_MEMORY_BROKER:
        return
    try:
        for name in endpoint_names:
            send_wake(name, kind, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("no worker was woken (%s); the next sweep finds the rows", type(error).__name__)


def send_wake(endpoint_name: str, kind: str, **options: Any) -> None:
    """Send one message to the queue of a kind of pass, whichever worker takes it.

    Raises:
        OperationalError, OSError: the broker is away.
    """
    current_app.send_task(
        JUDGE_TASK,
        args=[endpoint_name, str(kind)],
        queue=QUEUE_OF_KIND[kind],
        expires=WAKE_EXPIRES_S,
        **options,
    )


def kinds_of(queues: Collection[str]) -> frozenset[PassKind]:
    """The kinds of passes whose messages come by these queues."""
    return frozenset(kind for kind in PassKind if QUEUE_OF_KIND[kind] in queues)
