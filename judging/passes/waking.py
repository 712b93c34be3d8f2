"""Waking workers: a help, never a condition of what was decided."""

import logging
from collections.abc import Sequence

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from judging.choices import PassKind

logger = logging.getLogger(__name__)

JUDGE_TASK = "judging.judge_endpoint"
WAKE_EXPIRES_S = 10


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
            args = [name, str(kind)]
            current_app.send_task(JUDGE_TASK, args=args, expires=WAKE_EXPIRES_S, retry=False)
    except (OperationalError, OSError) as error:
        logger.warning("no worker was woken (%s); the next sweep finds the rows", type(error).__name__)
