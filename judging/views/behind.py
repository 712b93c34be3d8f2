"""The responses behind a number: one filter for each kind of number that links to its rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.models import Benchmark, Prompt, Response, TargetModel
from judging.models import JudgePass, Verdict
from judging.reports import Grading
from judging.reports.failure_modes import (
    classified_responses,
    default_classification,
    find_classification,
)
from judging.stats.aggregation import is_severe, is_worst
from judging.stats.readers import CONSENSUS, Readings, gather_readings
from judging.stats.records import ACCEPTABLE, CONTESTED, UNACCEPTABLE
from judging.stats.results import grade_rows

Ids = set[int]
WORD_OF_LETTER = {"A": 0, "U": 1}


@dataclass(frozen=True)
class RowOptions:
    """What the filters can be set to."""

    models: list[str]
    categories: list[str]


def row_options(benchmark: Benchmark) -> RowOptions:
    """Models and categories of a benchmark. Two queries."""
    models = TargetModel.objects.filter(responses__prompt__benchmark=benchmark).distinct()
    prompts = Prompt.objects.filter(benchmark=benchmark)
    return RowOptions(
        models=list(models.order_by("slug").values_list("slug", flat=True)),
        categories=list(prompts.order_by("risk_category").values_list("risk_category", flat=True).distinct()),
    )


def responses_behind(grading: Grading, filters: Mapping[str, Any]) -> list[int]:
    """Ids of the responses that pass every filter, in the order of import. One query.

    Args:
        grading: what the report with the same choice rests on.
        filters: cleaned data of `RowFilterForm`; blank values do not filter.
    """
    responses = Response.objects.filter(prompt__benchmark=grading.benchmark)
    for name, field in (
        ("model", "target_model__slug"),
        ("category", "prompt__risk_category"),
        ("response_state", "state"),
    ):
        if filters.get(name):
            responses = responses.filter(**{field: filters[name]})
    chosen = set(responses.values_list("pk", flat=True))
    for name, keep in FILTERS.items():
        if filters.get(name) not in (None, "", False):
            chosen &= keep(grading, filters)
    return sorted(chosen)


def _by_graded(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    return {row.response_id for row in grading.evidence.graded_rows()}


def _by_verdict(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    wanted = {ACCEPTABLE, UNACCEPTABLE} if filters["verdict"] == "DECIDED" else {filters["verdict"]}
    return {pk for pk, decision in grading.decisions.items() if decision.verdict in wanted}


def _by_consensus(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    wanted = filters["consensus"]
    if wanted == "AGREED":
        return {pk for pk, joint in grading.consensus.items() if joint.verdict != CONTESTED}
    if wanted == "LABELLED":
        return set(grading.consensus)
    if wanted == "NONE":
        rows = Response.objects.filter(prompt__benchmark=grading.benchmark).values_list("pk", flat=True)
        return set(rows).difference(grading.consensus)
    return {pk for pk, joint in grading.consensus.items() if joint.verdict == wanted}


def _by_severity(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    scored = {
        pk: decision.score
        for pk, decision in grading.decisions.items()
        if decision.verdict == UNACCEPTABLE and decision.score is not None and not decision.missing
    }
    tests = {"FLAGGED_WITH_SCORE": lambda score: True, "SEVERE": is_severe, "UNANIMOUS_5": is_worst}
    return {pk for pk, score in scored.items() if tests[filters["severity"]](score)}


def _by_judge(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    score, state = filters.get("score"), filters.get("state")
    return {
        verdict.response_id
        for verdict in grading.evidence.verdicts
        if verdict.judge == filters["judge"]
        and (score is None or verdict.score == score)
        and (not state or verdict.state == state)
    }


def _by_missing(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    if grading.chosen is None:
        return set()
    wanted = filters["missing"]
    return {
        graded.row.response_id
        for graded in grade_rows(grading.evidence, grading.chosen.rule)
        if wanted in graded.missing_states
    }


def _by_rubric_like(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    judge_pass = _classification_of(grading, filters) if filters.get("failure_mode") else grading.judge_pass
    flagged = Verdict.objects.filter(judge_pass=judge_pass, has_rubric_like_text=True)
    return set(flagged.values_list("response_id", flat=True))


def _by_policy(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    return {verdict.response_id for verdict in grading.evidence.verdicts if verdict.is_by_policy}


def _by_failure_mode(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    """The rows of one classification, by default the newest, counted exactly as on its page.

    Raises:
        PassError: no such classification.
    """
    found, wanted = _classification_of(grading, filters), filters["failure_mode"]
    if found is None:
        return set()
    counted_as = None if wanted == "ANY" else wanted
    return classified_responses(found, counted_as=counted_as, state=filters.get("classified") or None)


def _classification_of(grading: Grading, filters: Mapping[str, Any]) -> JudgePass | None:
    """The classification that the filters name, by default the newest. Two queries at most."""
    name, benchmark = filters.get("classification"), grading.benchmark
    return find_classification(benchmark, name) if name else default_classification(benchmark)


def _by_annotator(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    labels = grading.evidence.labels
    return {label.response_id for label in labels if label.annotator == filters["annotator"]}


def _by_pair(grading: Grading, filters: Mapping[str, Any]) -> Ids:
    """The rows of one pair of readers, counted exactly as the agreement figures count them."""
    readings = gather_readings(
        grading.evidence,
        rule_name=grading.chosen.name if grading.chosen else None,
        decisions=grading.decisions if grading.chosen else None,
    )
    kind_of_a, kind_of_b = filters["pair"].split("-")
    a = _read_by(readings, grading, kind=kind_of_a, name=filters["a"])
    b = _read_by(readings, grading, kind=kind_of_b, name=filters["b"])
    cell = filters.get("cell") or "BOTH"
    if cell == "BOTH":
        return set(a) & set(b)
    if cell == "MISSING":
        return set(b) - set(a) if kind_of_b == "human" != kind_of_a else set(a) ^ set(b)
    wanted = tuple(WORD_OF_LETTER[letter] for letter in cell)
    return {pk for pk in a.keys() & b.keys() if (a[pk], b[pk]) == wanted}


def _read_by(readings: Readings, grading: Grading, *, kind: str, name: str) -> dict[int, int]:
    """Class by response id of one reader; nothing when there is no such reader."""
    wanted_kind = CONSENSUS if kind == "human" and name == CONSENSUS else kind
    ids = sorted(row.response_id for row in grading.evidence.rows)
    for reader in readings.readers:
        if reader.name == name and reader.kind == wanted_kind:
            return {
                ids[item]: reading
                for item, reading in zip(reader.items.tolist(), reader.classes.tolist(), strict=True)
            }
    return {}


FILTERS: dict[str, Callable[[Grading, Mapping[str, Any]], Ids]] = {
    "graded": _by_graded,
    "verdict": _by_verdict,
    "consensus": _by_consensus,
    "severity": _by_severity,
    "judge": _by_judge,
    "missing": _by_missing,
    "annotator": _by_annotator,
    "rubric_like": _by_rubric_like,
    "by_policy": _by_policy,
    "failure_mode": _by_failure_mode,
    "pair": _by_pair,
}
