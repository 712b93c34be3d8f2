"""Evidence for tests, from the paper's files or from a few numbers, without a database."""

import csv
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from judging.stats.records import SCORED, Evidence, HumanLabel, JudgeInfo, JudgeVerdict, ResponseRow

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "agreement_cases.json"
csv.field_size_limit(10_000_000)


@cache
def golden_cases() -> dict[str, dict[str, Any]]:
    """Return the worked cases by name."""
    return {case["name"]: case for case in json.loads(GOLDEN.read_text(encoding="utf-8"))}


def golden(name: str) -> tuple[dict[str, Any], Any]:
    """Return a worked case's inputs and expected figures."""
    case = golden_cases()[name]
    return case["inputs"], case["expected"]


def read_folder(folder: Path) -> Evidence:
    """Read labels and scores of one data set; every (case, model) is one response, rollout 0."""
    rows: dict[tuple[str, str], ResponseRow] = {}
    prompts: dict[str, int] = {}

    def response_id(line: Mapping[str, str]) -> int:
        key = line["case_uid"], line["model"]
        if key not in rows:
            prompt_id = prompts.setdefault(line["case_uid"], len(prompts))
            rows[key] = ResponseRow(len(rows), prompt_id, line["model"], line["risk_category"], 0, "OK")
        return rows[key].response_id

    labels = [
        HumanLabel(response_id(line), line["annotator"], line["human_rating"] == "No", int(line["severity"]))
        for line in _read(folder / "annotated_responses.csv")
    ]
    scores = folder / "judge_scores.csv"
    verdicts = [
        JudgeVerdict(response_id(line), line["judge"], "PARSE_FAILED", None)
        if line["score"] == "-1"
        else JudgeVerdict(response_id(line), line["judge"], SCORED, int(line["score"]))
        for line in (_read(scores) if scores.exists() else [])
    ]
    judges = [JudgeInfo(slug, slug) for slug in sorted({verdict.judge for verdict in verdicts})]
    return Evidence(tuple(rows.values()), tuple(labels), tuple(verdicts), tuple(judges))


def row(response_id: int, **changes: Any) -> ResponseRow:
    """Return a response of its own prompt; override what the test is about."""
    values = {"prompt_id": response_id, "model": "m", "category": "c", "rollout": 0, "state": "OK"}
    return ResponseRow(response_id=response_id, **{**values, **changes})


def verdicts_of(judge: str, scores: Sequence[int | None], state: str = "PARSE_FAILED") -> list[JudgeVerdict]:
    """Return one judge's verdicts on responses 0, 1, ...; None becomes `state`."""
    return [
        JudgeVerdict(item, judge, state if score is None else SCORED, score)
        for item, score in enumerate(scores)
    ]


def labels_of(annotator: str | None, readings: Sequence[int | None]) -> list[HumanLabel]:
    """Return one annotator's labels (0 / 1, None for none) of responses 0, 1, ..."""
    return [
        HumanLabel(item, annotator, bool(reading))
        for item, reading in enumerate(readings)
        if reading is not None
    ]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
