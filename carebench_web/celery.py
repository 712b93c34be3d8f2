"""The Celery application. The rows are the queue; messages only wake workers."""

import os

from celery import Celery
from kombu.entity import Queue

from judging.passes.waking import QUEUE_OF_KIND

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "carebench_web.settings")

app = Celery("carebench_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    # A worker takes all of them unless told otherwise: `-Q collection`.
    task_queues=[Queue(name, routing_key=name) for name in QUEUE_OF_KIND.values()],
    task_default_queue=QUEUE_OF_KIND["JUDGING"],
    task_ignore_result=True,
    # A message is done with as it arrives: it only wakes, and a lost one costs a second until the next
    # sweep. One kept unacknowledged would be sent again after its visibility timeout, and kombu's Redis
    # transport brings the worker down when the connection breaks while it holds any.
    task_acks_late=False,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    # Threads: the loops spend their time waiting for providers, and a warm shutdown reaches them.
    worker_pool="threads",
    worker_concurrency=16,
    worker_hijack_root_logger=False,
)
app.autodiscover_tasks(["judging"])
