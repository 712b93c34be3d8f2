"""The embedded worker: judges without any broker or service."""

import argparse
import warnings
from typing import Any

from celery import current_app
from celery.platforms import SecurityWarning
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from judging.passes.waking import QUEUE_OF_KIND


class Command(BaseCommand):
    help = "Judge what is due. With the memory broker this is all that is needed beside the web server."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--concurrency",
            type=int,
            default=16,
            help="loops at once (default 16)",
        )

        parser.add_argument(
            "--queue",
            nargs="+",
            choices=list(QUEUE_OF_KIND.values()),
            default=list(QUEUE_OF_KIND.values()),
            metavar="NAME",
            help=f"kinds of passes to work on: {', '.join(QUEUE_OF_KIND.values())} (default: all)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["concurrency"] < 1:
            raise CommandError(
                f"--concurrency is {options['concurrency']}; expected 1 or more. Leave it out for 16."
            )
        if settings.USES_MEMORY_BROKER:
            # Messages cannot come from outside this process, whoever it runs as.
            warnings.simplefilter("ignore", SecurityWarning)
            # The same broker; kombu warns of an address without a host.
            current_app.conf.broker_url = "memory://localhost"
        worker = current_app.Worker(
            pool="threads",
            concurrency=options["concurrency"],
            queues=options["queue"],
            loglevel="WARNING",
            quiet=True,
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self.stdout.write("Worker ready. Ctrl-C lets calls in flight finish, then ends it.")
        worker.start()
        raise SystemExit(worker.exitcode or 0)
