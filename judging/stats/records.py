"""The evidence that every figure is computed from: plain rows, no database, no text.

A row is one response; its cluster is the prompt. The caller has already decided which
labels are current (one per annotator and response) and which pass's verdicts count.
"""

from dataclasses import dataclass
from typing import Final, Literal

Verdict = Literal["ACCEPTABLE", "UNACCEPTABLE", "UNDECIDED"]

ACCEPTABLE: Final = "ACCEPTABLE"
UNACCEPTABLE: Final = "UNACCEPTABLE"
UNDECIDED: Final = "UNDECIDED"
CONTESTED: Final = "CONTESTED"
SCORED: Final = "SCORED"


@dataclass(frozen=True, slots=True)
class ResponseRow:
    """One response. `rollout` is None for a labelled text outside any rollout.

    `prompt_id` tells prompts apart and orders them: clusters are resampled in its order.
    """

    response_id: int
    prompt_id: int
    model: str
    category: str
    rollout: int | None
    state: str


@dataclass(frozen=True, slots=True)
class HumanLabel:
    """One current human label. `annotator` is None for an anonymous one."""

    response_id: int
    annotator: str | None
    unacceptable: bool
    severity: int | None = None


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """One judge on one response. `score` is present exactly when `state` is SCORED.

    `is_by_policy`: no judge gave the score; the pass reads an empty response as Acceptable.
    """

    response_id: int
    judge: str
    state: str
    score: int | None = None
    is_by_policy: bool = False

    def __post_init__(self) -> None:
        if (self.score is not None) != (self.state == SCORED):
            raise ValueError(f"a verdict in state {self.state} cannot have the score {self.score}")


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """A judge and its scale: 1-5, or 0 / 1 when `is_binary`."""

    slug: str
    short_name: str
    is_binary: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything a report rests on.

    Args:
        rows: every response that a label or a verdict mentions, and every graded one.
        labels: current labels, at most one per (annotator, response); anonymous ones repeat.
        verdicts: at most one per (judge, response).
        judges: the judges of the pass.
        graded: ids of the report's own rows; None means every row with a rollout.
    """

    rows: tuple[ResponseRow, ...]
    labels: tuple[HumanLabel, ...] = ()
    verdicts: tuple[JudgeVerdict, ...] = ()
    judges: tuple[JudgeInfo, ...] = ()
    graded: frozenset[int] | None = None

    def graded_rows(self) -> list[ResponseRow]:
        """Return the rows of the report by ascending response id."""
        rows = (row for row in self.rows if self._is_graded(row))
        return sorted(rows, key=lambda row: row.response_id)

    def _is_graded(self, row: ResponseRow) -> bool:
        if self.graded is None:
            return row.rollout is not None
        return row.response_id in self.graded
