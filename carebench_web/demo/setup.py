"""Filling the demo's database: files, accounts, a campaign with work waiting. Safe to repeat."""

import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from annotation.accounts import create_account, set_password
from annotation.campaigns import Invitee, create_campaign
from annotation.choices import AnnotatorType, ResponseState, Role, Scale
from annotation.models import Account, Benchmark, Campaign, Response
from carebench_web.demo.synthesis import write_files
from judging.importing.files import BenchmarkNotices, import_files

BENCHMARK_SLUG = "demo"
CAMPAIGN_NAME = "Simulated answers to label"
N_WAITING = 40
ROLES = {
    "demo-researcher": Role.RESEARCHER,
    "demo-admin": Role.ADMIN,
    "demo-parent": Role.ANNOTATOR,
    "demo-specialist": Role.ANNOTATOR,
}
ANNOTATOR_TYPES = {"demo-parent": AnnotatorType.PARENT, "demo-specialist": AnnotatorType.SPECIALIST}
NOTICES = BenchmarkNotices(
    licence="Apache-2.0",
    attribution="CAREBench Web's bundled benchmark: prompts and responses written for it, "
    "labels and scores simulated.",
    canary="carebench-web-demo canary 6f1d0f0e-5a0c-4f4e-9d56-2b7d5a1d8c11: not for training.",
)


@dataclass(frozen=True)
class DemoAccount:
    """A name and password to sign in with, shown by the command."""

    name: str
    password: str
    role: Role


def import_benchmark(folder: Path) -> Benchmark:
    """Write the bundled files and import them; rows that are there already stay unchanged.

    Raises:
        RuntimeError: the bundled files are refused, which is a fault of the project.
    """
    write_files(folder)
    outcome = import_files([folder], benchmark_slug=BENCHMARK_SLUG, notices=NOTICES, is_simulated=True)
    if outcome.problems:
        raise RuntimeError(f"the bundled benchmark was refused: {outcome.problems[0].message}")
    return Benchmark.objects.get(slug=BENCHMARK_SLUG)


def make_accounts(file: Path) -> list[DemoAccount]:
    """Make the demo's accounts with random passwords, kept in a file that only its owner can read."""
    passwords: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    for name, role in ROLES.items():
        passwords.setdefault(name, secrets.token_urlsafe(9))
        account = Account.objects.filter(username=name).first()
        if account is None:
            create_account(username=name, role=role, password=passwords[name])
        elif not account.check_password(passwords[name]):
            set_password(account, passwords[name])
    file.write_text(json.dumps(passwords, indent=2))
    file.chmod(0o600)
    return [DemoAccount(name=name, password=passwords[name], role=role) for name, role in ROLES.items()]


def make_campaign(benchmark: Benchmark) -> Campaign:
    """A campaign over responses that have no label yet, with both demo annotators; made once."""
    found = Campaign.objects.filter(benchmark=benchmark, name=CAMPAIGN_NAME).first()
    if found is not None:
        return found
    waiting = (
        Response.objects.filter(prompt__benchmark=benchmark, state=ResponseState.OK, rollout__isnull=False)
        .exclude(items__labels__is_current=True)
        .order_by("rollout", "prompt_id", "pk")
        .values_list("pk", flat=True)
    )
    return create_campaign(
        benchmark=benchmark,
        name=CAMPAIGN_NAME,
        responses=list(waiting)[:: max(1, len(waiting) // N_WAITING)][:N_WAITING],
        scale=Scale.BINARY_AND_SEVERITY,
        labels_per_response=2,
        created_by=Account.objects.get(username="demo-researcher"),
        annotators=[
            Invitee(account=Account.objects.get(username=name), annotator_type=annotator_type)
            for name, annotator_type in ANNOTATOR_TYPES.items()
        ],
    )
