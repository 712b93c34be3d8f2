"""Rows of `judge_scores.csv` as a plan."""

import re
from dataclasses import dataclass, field

from annotation.choices import ResponseState
from annotation.importing.cells import RowCells
from annotation.importing.content import Content
from annotation.importing.outcome import FileOutcome, RowRefused
from annotation.importing.planning import read_rows
from annotation.importing.text_files import TextFile
from annotation.models import Response
from judging.choices import JUDGE_ALIASES, FailureCode, PassSource, VerdictState
from judging.errors import PassError
from judging.models import Judge, JudgePass
from judging.selectors import imported_scores

SCORE_COLUMNS = (
    "case_uid",
    "model",
    "risk_category",
    "risk_mechanism",
    "judge",
    "score",
    "num_exemplars_yes",
    "num_exemplars_no",
    "error",
)
OPTIONAL_SCORE_COLUMNS = ("rollout",)
NO_SCORE = re.compile(r"-1(\.0+)?\Z")
MAX_JUDGE_LENGTH = 100
MAX_COUNT = 32767


@dataclass(frozen=True)
class ScoreReading:
    """What the cells of one row say: a score, or a named reason why there is none."""

    state: str
    score: int | None
    failure_code: str | None
    detail: str | None
    n_exemplars_acceptable: int | None
    n_exemplars_unacceptable: int | None


@dataclass(frozen=True)
class PlannedScore:
    """One verdict to be stored; `response` may itself be only planned."""

    response: Response
    judge_slug: str
    reading: ScoreReading


@dataclass(frozen=True)
class KnownScore:
    """A score that stands already; `place` is where this import read it, None when stored."""

    state: str
    score: int | None
    place: str | None = None


@dataclass
class ScorePlan:
    """Scores of all files of one import, and what the pass holds already.

    Responses are told apart by the identity of their objects, as planned ones have no id yet.
    """

    judges: dict[str, Judge] = field(default_factory=dict)
    new_judge_slugs: list[str] = field(default_factory=list)
    new_scores: list[PlannedScore] = field(default_factory=list)
    # (response, judge) -> the score
    known: dict[tuple[int, str], KnownScore] = field(default_factory=dict)


def load_score_plan(content: Content, *, pass_name: str) -> ScorePlan:
    """Read the judges and the scores that the pass holds. Three queries.

    Raises:
        PassError: the pass of this name was judged here.
    """
    plan = ScorePlan(judges={judge.slug: judge for judge in Judge.objects.all()})
    if content.benchmark.pk is None:
        return plan
    judge_pass = JudgePass.objects.filter(benchmark=content.benchmark, name=pass_name).first()
    if judge_pass is not None:
        if judge_pass.source != PassSource.IMPORTED:
            raise PassError(
                f"The pass {pass_name!r} was judged here; imported scores cannot be added to it. Name "
                "another pass (--pass-name).",
                code="pass_not_imported",
            )
        responses = {response.pk: id(response) for response in content.responses()}
        for response_id, slug, state, score in imported_scores(judge_pass):
            if response_id in responses:
                plan.known[responses[response_id], slug] = KnownScore(state=state, score=score)
    return plan


def plan_scores(file: TextFile, content: Content, plan: ScorePlan) -> FileOutcome:
    """Plan the verdicts of one `judge_scores.csv`."""
    outcome = FileOutcome(path=file.name, kind="scores")

    def read_row(cells: RowCells) -> bool:
        response = _find_response(cells, content)
        slug = _read_judge(cells)
        reading = _read_score(cells)
        known = plan.known.get((id(response), slug))
        if known is not None and (known.state, known.score) != (reading.state, reading.score):
            raise _other_score(known, reading, judge=slug, line=cells.line)
        content.check_prompt(response.prompt, cells)
        if reading.score is None:
            cells.remarks.append(f"no score ({reading.state})")
        if known is not None:
            if known.place is not None:
                cells.remarks.append("a score stands there twice; one is kept")
            return False
        if slug not in plan.judges and slug not in plan.new_judge_slugs:
            plan.new_judge_slugs.append(slug)
            cells.remarks.append(f"judge {slug!r} is new")
        plan.known[id(response), slug] = KnownScore(
            state=reading.state, score=reading.score, place=cells.place
        )
        plan.new_scores.append(PlannedScore(response=response, judge_slug=slug, reading=reading))
        return True

    read_rows(file, outcome, required=SCORE_COLUMNS, optional=OPTIONAL_SCORE_COLUMNS, read_row=read_row)
    return outcome


def _find_response(cells: RowCells, content: Content) -> Response:
    case_uid, model, rollout = cells.key("case_uid"), cells.key("model"), cells.rollout()
    response = content.by_rollout.get((case_uid, model, rollout))
    if response is None:
        raise RowRefused(
            "unknown_response",
            f"There is no response of case {case_uid!r}, model {model!r}, rollout {rollout}. Import its "
            "responses first.",
            column="case_uid",
        )
    if response.state in (ResponseState.EMPTY, ResponseState.ERROR):
        cells.remarks.append("the response is empty or failed: its score is kept and decides nothing")
    return response


def _read_judge(cells: RowCells) -> str:
    given = cells.key("judge", max_length=MAX_JUDGE_LENGTH)
    slug = JUDGE_ALIASES.get(given, given)
    if slug != given:
        cells.notes.append(f"judge {given} was read as {slug}")
    return slug


def _read_score(cells: RowCells) -> ScoreReading:
    error = cells.text("error").strip() or None
    given = cells.text("score").strip()
    is_missing = NO_SCORE.match(given) is not None
    score = None if is_missing else cells.whole_number("score")
    if is_missing and given != "-1":
        cells.notes.append(f"score {given} was read as -1, no score")
    if score is not None and not 1 <= score <= 5:
        raise RowRefused(
            "score_out_of_range",
            f"The cell score is {given}; expected 1 to 5, or -1 or blank for none. Correct the cell.",
            column="score",
        )
    if score is not None:
        state, code = VerdictState.SCORED, None
    elif error is not None and error.casefold().startswith("unparseable"):
        state, code = VerdictState.PARSE_FAILED, None
    else:
        state, code = VerdictState.CALL_FAILED, FailureCode.IMPORTED
    return ScoreReading(
        state=state,
        score=score,
        failure_code=code,
        detail=error,
        n_exemplars_acceptable=_read_count(cells, "num_exemplars_yes"),
        n_exemplars_unacceptable=_read_count(cells, "num_exemplars_no"),
    )


def _read_count(cells: RowCells, column: str) -> int | None:
    value = cells.whole_number(column)
    if value is not None and value > MAX_COUNT:
        raise RowRefused(
            "count_too_large",
            f"The cell {column} is {value}; the limit is {MAX_COUNT}. Correct the cell.",
            column=column,
        )
    return value


def _other_score(known: KnownScore, reading: ScoreReading, *, judge: str, line: int) -> RowRefused:
    return RowRefused(
        "conflict",
        f"Judge {judge!r} has {_in_words(reading.state, reading.score)} for this response on line {line}, "
        f"but {_in_words(known.state, known.score)} in {known.place or 'the pass, stored earlier'}. "
        "Correct one of the two, or import into another pass (--pass-name).",
        column="score",
    )


def _in_words(state: str, score: int | None) -> str:
    return f"score {score}" if score is not None else f"no score ({state})"
