"""Try everything on one machine: bundled simulated data, a live simulated pass, pages."""

import argparse
import fcntl
from pathlib import Path
from typing import Any, TextIO

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from annotation.models import Benchmark
from carebench_web.demo.environment import ENDPOINTS_NAME, choose_provider_port, is_free
from carebench_web.demo.processes import Processes, Stopped
from carebench_web.demo.setup import DemoAccount, import_benchmark, make_accounts, make_campaign
from judging.choices import PassSource
from judging.errors import DomainError
from judging.models import JudgePass
from judging.passes.starting import PassRequest, start_pass
from judging.reports import build_report

JUDGES = ("claude-opus-4.6", "gemini-3.1-pro", "gpt-5.4")
LATENCY_MS = 250


class Command(BaseCommand):
    help = "Import the bundled simulated benchmark into var/demo, judge it live and serve it on 127.0.0.1."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port of the pages (default 8000)")
        parser.add_argument("--no-serve", action="store_true", help="import and print the table, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        folder = settings.DATA_DIR
        if not options["no_serve"]:
            _check_port(options["port"])
        lock = _claim(folder)
        try:
            self._run(folder, **options)
        finally:
            lock.close()

    def _run(self, folder: Path, **options: Any) -> None:
        self.stdout.write(f"Preparing the demo in {folder} ...")
        call_command("migrate", verbosity=0)
        benchmark = import_benchmark(folder / "files")
        accounts = make_accounts(folder / "accounts.json")
        make_campaign(benchmark)
        self._print_table(benchmark)
        if options["no_serve"]:
            return
        try:
            self._serve(benchmark, accounts, port=options["port"])
        except (KeyboardInterrupt, Stopped):
            self.stdout.write(
                "\nStopped. Nothing of the demo runs any more; `make demo` goes on where it was."
            )
        except (RuntimeError, DomainError) as error:
            raise CommandError(str(error)) from error

    def _serve(self, benchmark: Benchmark, accounts: list[DemoAccount], *, port: int) -> None:
        provider_port = choose_provider_port(settings.DATA_DIR / ENDPOINTS_NAME)
        with Processes(settings.DATA_DIR) as processes:
            truth = str(settings.DATA_DIR / "files" / "truth.json")
            processes.start(
                "provider",
                f"manage.py fake_provider --port {provider_port} --latency-ms {LATENCY_MS}"
                " --rate-limited 0.02 --malformed 0.01",
                "--truth",
                truth,
            )
            address = f"127.0.0.1:{port}"
            processes.start(
                "web",
                f"-m gunicorn carebench_web.wsgi --bind {address} --threads 8 --no-control-socket",
                "--worker-tmp-dir",
                str(settings.DATA_DIR),
            )
            processes.start("worker", "manage.py worker")
            processes.wait_until_answers("provider", f"http://127.0.0.1:{provider_port}/stats")
            # Not /health/: that is red while a pass of a run that was killed waits for its leases.
            processes.wait_until_answers("web", f"http://{address}/sign-in/")
            if not JudgePass.objects.filter(benchmark=benchmark, source=PassSource.JUDGED).exists():
                start_pass(benchmark, PassRequest(judges=JUDGES, rubric="likert-v1", shots=2))
                self.stdout.write(
                    "A simulated pass is running; watch it on the Judges page. Once it has finished,"
                )
                self.stdout.write("its numbers are the ones that Calibration and Results show first.")
            self._print_accounts(accounts, address=address)
            processes.wait()

    def _print_table(self, benchmark: Benchmark) -> None:
        report = build_report(benchmark)
        self.stdout.write(
            f"\nPass {report['pass_name']}: agreement with the consensus of the labels, all simulated"
        )
        self.stdout.write(f"  {'':22}{'κ':>7}  {'95 % interval':16}{'n':>6}")
        for pair in report["agreement"]["pairs"]:
            if pair["b"] == "consensus":
                self.stdout.write(_table_line(pair))
        people = report["agreement"]["human_ceiling"]["mean_pairwise_binary_kappa"]
        self.stdout.write(f"  {'people, mean of pairs':22}{people:>7.3f}")
        self.stdout.write(f"  Rule {report['rule_name']}: Unacceptable when {report['rule_in_words']}.\n")

    def _print_accounts(self, accounts: list[DemoAccount], *, address: str) -> None:
        self.stdout.write(f"\nOpen http://{address} and sign in as one of:")
        for account in accounts:
            self.stdout.write(f"  {account.name:18} {account.password:14} {account.role.label}")
        self.stdout.write("\nEverything here is simulated. Ctrl-C stops it.")


def _table_line(pair: dict[str, Any]) -> str:
    kappa, interval = pair["binary_kappa"], pair["interval"].get("binary_kappa")
    shown = "–" if kappa is None else f"{kappa:.3f}"
    span = f"[{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "–"
    return f"  {pair['a']:22}{shown:>7}  {span:16}{pair['n']:>6}"


def _check_port(port: int) -> None:
    if not is_free(port):
        raise CommandError(
            f"Port {port} of 127.0.0.1 is taken, perhaps by a demo that runs already. Stop what "
            f"listens there, or choose another port: .venv/bin/python manage.py demo --port {port + 1}"
        )


def _claim(folder: Path) -> TextIO:
    """Lock the demo's folder for as long as the returned file is open."""
    lock = (folder / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise CommandError(
            f"A demo runs already from {folder}. Use that one, or stop it with Ctrl-C first."
        ) from error
    return lock
