"""`manage.py fake_provider`: the simulated provider on this machine."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from django.core.management.base import BaseCommand, CommandError

from judging.llm.fake_provider import FakeProviderSettings, run
from judging.llm.simulated_replies import Fault, FaultRates

LAST_PORT = 65535


class Command(BaseCommand):
    help = "Serve an OpenAI-compatible provider with simulated answers and faults on 127.0.0.1."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=9900, help="0 takes a free port (default 9900)")
        parser.add_argument(
            "--truth", type=Path, help="JSON file: SHA-256 of a response's text to its planted severity 1-5"
        )
        for fault in get_args(Fault):
            name = fault.replace("_", "-")
            parser.add_argument(
                f"--{name}", type=float, default=0.0, metavar="RATE", help=f"chance 0-1 of {name}"
            )
        parser.add_argument("--latency-ms", type=int, default=0)
        parser.add_argument(
            "--jitter-ms", type=int, default=0, help="added to the latency, evenly spread from 0"
        )
        parser.add_argument("--slow-ms", type=int, default=5_000, help="added by the fault `slow`")
        parser.add_argument("--retry-after", default="1", help="header of a 429: seconds or an HTTP date")
        parser.add_argument(
            "--redirect-to", default="http://127.0.0.1:9/", help="target of the fault `redirect`"
        )
        parser.add_argument("--revoke-after", type=int, help="answer 401 once this many items were answered")
        parser.add_argument("--dead-key", action="store_true", help="answer 401 to every call")
        parser.add_argument(
            "--reject",
            action="append",
            default=[],
            metavar="[MODEL:]PARAMETER",
            help="refuse this parameter with a 400, for all models or one",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            faults = FaultRates({fault: options[fault] for fault in get_args(Fault) if options[fault]})
        except ValueError as error:
            raise CommandError(str(error)) from error
        settings = FakeProviderSettings(
            truth=read_truth(options["truth"]) if options["truth"] else {},
            faults=faults,
            latency_ms=options["latency_ms"],
            jitter_ms=options["jitter_ms"],
            slow_ms=options["slow_ms"],
            retry_after=options["retry_after"],
            redirect_to=options["redirect_to"],
            revoke_after=options["revoke_after"],
            dead_key=options["dead_key"],
            rejects=tuple(given for given in options["reject"] if ":" not in given),
            model_rejects=read_model_rejects(options["reject"]),
        )
        if not 0 <= options["port"] <= LAST_PORT:
            raise CommandError(f"--port is {options['port']}; expected 0 to {LAST_PORT}, 0 for a free one.")
        try:
            run(settings, port=options["port"], on_ready=self._announce)
        except OSError as error:
            raise CommandError(
                f"Port {options['port']} on 127.0.0.1 cannot be used ({error.strerror}). "
                "Choose another with --port."
            ) from error

    def _announce(self, base_url: str) -> None:
        self.stdout.write(base_url)
        self.stdout.flush()


def read_model_rejects(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Refused parameters by model, of those given as `MODEL:PARAMETER`. A model's id may hold colons."""
    pairs = [entry.rpartition(":") for entry in given if ":" in entry]
    return {model: tuple(name for owner, _, name in pairs if owner == model) for model, _, _ in pairs}


def read_truth(path: Path) -> dict[str, int]:
    """Read a truth file.

    Raises:
        CommandError: the file is missing, no JSON object, or holds a severity that is not 1-5.
    """
    try:
        truth = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"The truth file {path} cannot be read as JSON.") from error
    if not isinstance(truth, dict) or any(
        type(value) is not int or not 1 <= value <= 5 for value in truth.values()
    ):
        raise CommandError(f"The truth file {path} must map SHA-256 digests to severities from 1 to 5.")
    return truth
