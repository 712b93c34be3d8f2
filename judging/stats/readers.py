"""Who read what: annotators, consensus, judges and the rule as arrays over one numbering."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from judging.stats.aggregation import Decision, consensus, judge_reading
from judging.stats.classification import Counts
from judging.stats.records import CONTESTED, SCORED, UNACCEPTABLE, UNDECIDED, Evidence

ReaderKind = Literal["rule", "judge", "human", "consensus"]

CONSENSUS: Final = "consensus"

# A reading: 0 Acceptable or 1 Unacceptable, and the score or severity of 1-5 if there is one.
_Reading = tuple[int, int | None]


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """One source of readings.

    Args:
        items: positions of the responses read, ascending, shape (n,).
        classes: 0 Acceptable, 1 Unacceptable, shape (n,).
        levels: 0-4 for a score or severity of 1-5, -1 for none, shape (n,).
    """

    name: str
    kind: ReaderKind
    items: Counts
    classes: Counts
    levels: Counts


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """All readers over one numbering of the responses.

    Args:
        readers: in the order rule, judges, annotators, consensus, each by name.
        clusters: prompt number of each response, shape (n responses,).
    """

    readers: tuple[Reader, ...]
    clusters: Counts


def gather_readings(
    evidence: Evidence, *, rule_name: str | None = None, decisions: Mapping[int, Decision] | None = None
) -> Readings:
    """Turn evidence into readers.

    Anonymous labels enter the consensus only, contested responses not even that. A rule, being
    a verdict, and a consensus have no level.

    Args:
        rule_name: what to call the rule whose `decisions` by response id are given.
    """
    rows = sorted(evidence.rows, key=lambda row: row.response_id)
    position = {row.response_id: index for index, row in enumerate(rows)}
    readers = []
    if rule_name is not None and decisions is not None:
        readers.append(_reader(rule_name, "rule", _decided(decisions), position))
    scored, labelled = _scored(evidence), _labelled(evidence)
    readers += [_reader(name, "judge", scored[name], position) for name in sorted(scored)]
    readers += [_reader(name, "human", labelled[name], position) for name in sorted(labelled)]
    readers.append(_reader(CONSENSUS, "consensus", _agreed(evidence), position))
    prompts = np.array([row.prompt_id for row in rows], dtype=np.int64)
    return Readings(tuple(readers), np.unique(prompts, return_inverse=True)[1])


def _decided(decisions: Mapping[int, Decision]) -> dict[int, _Reading]:
    return {
        response_id: (int(decision.verdict == UNACCEPTABLE), None)
        for response_id, decision in decisions.items()
        if decision.verdict != UNDECIDED
    }


def _scored(evidence: Evidence) -> dict[str, dict[int, _Reading]]:
    is_binary = {judge.slug: judge.is_binary for judge in evidence.judges}
    scores: dict[str, dict[int, _Reading]] = {}
    for verdict in evidence.verdicts:
        if verdict.state == SCORED and verdict.score is not None:
            binary = is_binary[verdict.judge]
            reading = (int(judge_reading(verdict.score, binary)), None if binary else verdict.score)
            scores.setdefault(verdict.judge, {})[verdict.response_id] = reading
    return scores


def _labelled(evidence: Evidence) -> dict[str, dict[int, _Reading]]:
    labels: dict[str, dict[int, _Reading]] = {}
    for label in evidence.labels:
        if label.annotator is not None:
            reading = (int(label.unacceptable), label.severity)
            labels.setdefault(label.annotator, {})[label.response_id] = reading
    return labels


def _agreed(evidence: Evidence) -> dict[int, _Reading]:
    return {
        response_id: (int(joint.verdict == UNACCEPTABLE), None)
        for response_id, joint in consensus(evidence.labels).items()
        if joint.verdict != CONTESTED
    }


def _reader(
    name: str, kind: ReaderKind, values: Mapping[int, _Reading], position: Mapping[int, int]
) -> Reader:
    ordered = sorted((position[response_id], *reading) for response_id, reading in values.items())
    return Reader(
        name,
        kind,
        items=np.array([item for item, _, _ in ordered], dtype=np.int64),
        classes=np.array([reading for _, reading, _ in ordered], dtype=np.int64),
        levels=np.array([-1 if level is None else level - 1 for _, _, level in ordered], dtype=np.int64),
    )
