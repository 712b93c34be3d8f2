"""What a file is, in words and numbers: written beside it, and inside it where the format can."""

import hashlib
from datetime import datetime
from pathlib import Path
from typing import Any

from annotation.models import Benchmark, Campaign, Prompt, Response
from annotation.selectors import current_labels
from judging.exports.cells import CellChanges
from judging.exports.columns import Basis, Table, utc_text
from judging.models import JudgePass
from judging.reports import code_version
from judging.selectors import holds_simulated_responses

SCHEMA_VERSION = 1
SIMULATED_NOTICE = "SIMULATED data: no answer, label or score here comes from a real model or person."
PARTLY_SIMULATED_NOTICE = (
    "SIMULATED in part: the benchmark holds responses that a loopback provider made up, and not the model "
    "that they name. The table of responses says which."
)


def is_simulated(benchmark: Benchmark, basis: Basis) -> bool:
    """True when the pass that the table rests on, or any response of the benchmark, is simulated."""
    is_pass_simulated = basis.judge_pass is not None and basis.judge_pass.is_simulated
    return is_pass_simulated or holds_simulated_responses(benchmark)


def notice_of(benchmark: Benchmark, *, basis: Basis) -> str | None:
    """Simulation, canary, licence and attribution in one line, None when there is nothing to say."""
    parts = [
        _simulation_notice(benchmark, basis),
        f"Canary: {benchmark.canary}" if benchmark.canary else None,
        f"Licence: {benchmark.licence}" if benchmark.licence else None,
        f"Attribution: {benchmark.attribution}" if benchmark.attribution else None,
    ]
    return " | ".join(" ".join(part.split()) for part in parts if part) or None


def _simulation_notice(benchmark: Benchmark, basis: Basis) -> str | None:
    if benchmark.is_simulated or (basis.judge_pass is not None and basis.judge_pass.is_simulated):
        return SIMULATED_NOTICE
    return PARTLY_SIMULATED_NOTICE if holds_simulated_responses(benchmark) else None


def count_benchmark(benchmark: Benchmark) -> dict[str, int]:
    """Totals that a reader can hold against the pages, whatever campaign was asked for. Three queries.

    Labels as the Labels page counts them: current ones of regular items.
    """
    return {
        "prompts": Prompt.objects.filter(benchmark=benchmark).count(),
        "responses": Response.objects.filter(prompt__benchmark=benchmark).count(),
        "current_labels": current_labels(benchmark).count(),
    }


def describe_table(
    table: Table,
    *,
    name: str,
    benchmark: Benchmark,
    format: str,
    flavour: str | None,
    n_rows: int,
    counts: dict[str, int],
    changes: CellChanges,
    created_at: datetime,
) -> dict[str, Any]:
    """The manifest without the file's own name, size and hash. Call it when all rows are written."""
    basis = table.basis
    return {
        "schema_version": SCHEMA_VERSION,
        "table": name,
        "format": format,
        "flavour": flavour,
        "benchmark": benchmark.slug,
        "is_simulated": is_simulated(benchmark, basis),
        "notice": notice_of(benchmark, basis=basis),
        "canary": benchmark.canary,
        "licence": benchmark.licence,
        "attribution": benchmark.attribution,
        "pass": _describe_pass(basis.judge_pass),
        "rule": basis.rule,
        "rule_name": basis.rule_name,
        "rule_source": basis.rule_source,
        "rule_in_words": basis.rule_in_words,
        "campaign": _describe_campaign(basis.campaign),
        "digest": basis.digest,
        "seed": basis.seed,
        "code_version": code_version(),
        "created_at": utc_text(created_at),
        "n_rows": n_rows,
        "benchmark_counts": counts,
        "left_out": {reason: n for reason, n in sorted(table.left_out.items()) if n},
        "columns": [{"name": column.name, "kind": column.kind.value} for column in table.columns],
        "figures": table.figures,
        "n_changed_cells": changes.count_by_kind(),
        "changed_cells": changes.to_json(),
    }


def describe_file(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of a finished file."""
    with path.open("rb") as file:
        return {"n_bytes": path.stat().st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _describe_pass(judge_pass: JudgePass | None) -> dict[str, Any] | None:
    if judge_pass is None:
        return None
    return {
        "pass": judge_pass.public_id,
        "name": judge_pass.name,
        "state": judge_pass.state,
        "digest": judge_pass.digest,
    }


def _describe_campaign(campaign: Campaign | None) -> dict[str, str] | None:
    if campaign is None:
        return None
    return {"campaign": campaign.public_id, "slug": campaign.slug, "name": campaign.name}
