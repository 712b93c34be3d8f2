"""The embedded worker: judges without any broker or service."""

import argparse
from typing import Any

from celery import current_app
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    help = "Judge what is due. With the memory broker this is all that is needed beside the web server."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency", type=int, default=16, help="endpoints that may be judged at once"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        worker = current_app.Worker(
            pool="threads",
            concurrency=options["concurrency"],
            loglevel="WARNING",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self.stdout.write("Worker ready. Ctrl-C lets calls in flight finish, then ends it.")
        worker.start()
        raise SystemExit(worker.exitcode or 0)
