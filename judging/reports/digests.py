"""The digest a report is kept under: everything it was computed from, the code included."""

import hashlib
import json
from functools import cache
from pathlib import Path

from django.conf import settings

from annotation.models import Benchmark
from judging.models import JudgePass
from judging.reports.rule_choice import ChosenRule
from judging.selectors import holds_simulated_responses
from judging.stats.records import Evidence

SCHEMA_VERSION = 1
CODE_FOLDERS = ("stats", "reports")


@cache
def code_version() -> str:
    """The project's version and a hash of the code that computes: changed code finds no old report."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[1]
    for folder in CODE_FOLDERS:
        for path in sorted((root / folder).glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return f"{settings.CODE_VERSION}+{digest.hexdigest()[:12]}"


def digest_of_input(
    evidence: Evidence,
    *,
    benchmark: Benchmark,
    judge_pass: JudgePass | None,
    chosen: ChosenRule | None,
    seed: int,
) -> str:
    """SHA-256 of all that a report rests on.

    Responses and passes enter under the keys of this database: equal input gives the equal digest
    here, and another one where the same files were imported elsewhere. The figures are the same.
    """
    head = {
        "schema_version": SCHEMA_VERSION,
        "code_version": code_version(),
        "benchmark": [benchmark.slug, benchmark.is_simulated, holds_simulated_responses(benchmark)],
        "pass": [judge_pass.public_id, judge_pass.digest, judge_pass.is_simulated] if judge_pass else None,
        "rule": _describe_rule(chosen) if chosen else None,
        "seed": seed,
    }
    digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
    for records in (evidence.rows, evidence.labels, evidence.verdicts, evidence.judges):
        digest.update(f"\n{len(records)}\n".encode())
        for record in records:
            # repr of a frozen dataclass names every field: a new field changes the digest.
            digest.update(repr(record).encode())
    digest.update(repr(sorted(evidence.graded or ())).encode())
    return digest.hexdigest()


def _describe_rule(chosen: ChosenRule) -> list[object]:
    return [chosen.name, chosen.source, chosen.unfit_adopted, chosen.rule.to_json()]
