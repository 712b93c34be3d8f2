"""Rows of `judge_scores.csv` as a plan."""

from dataclasses import dataclass, field
from pathlib import Path

from annotation.importing.cells import RowCells
from annotation.importing.content import Content
from annotation.importing.outcome import FileOutcome, RowRefused
from annotation.importing.planning import read_rows
from annotation.models import Response
from judging.choices import FailureCode, VerdictState
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
NO_SCORE = "-1"
# The paper's result files spell its judges with underscores.
JUDGE_ALIASES = {
    "gemini_3_1_pro": "gemini-3.1-pro",
    "gpt_5_4": "gpt-5.4",
    "opus_4_6": "claude-opus-4.6",
}


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


@dataclass
class ScorePlan:
    """Scores of all files of one import, and what the pass holds already."""

    judges: dict[str, Judge] = field(default_factory=dict)
    new_judge_slugs: list[str] = field(default_factory=list)
    new_scores: list[PlannedScore] = field(default_factory=list)
    # (response, judge) -> (state, score, where it was read)
    known: dict[tuple[int, str], tuple[str, int | None, str]] = field(default_factory=dict)


def load_score_plan(content: Content, *, pass_name: str) -> ScorePlan:
    """Read the judges and the scores that the pass holds. Two queries."""
    plan = ScorePlan(judges={judge.slug: judge for judge in Judge.objects.all()})
    if content.benchmark.pk is None:
        return plan
    judge_pass = JudgePass.objects.filter(benchmark=content.benchmark, name=pass_name).first()
    if judge_pass is not None:
        responses = {row.pk: row for rows in content.by_text.values() for row in rows}
        for response_id, slug, state, score in imported_scores(judge_pass):
            plan.known[id(responses[response_id]), slug] = (state, score, "stored in the pass earlier")
    return plan


def plan_scores(path: Path, content: Content, plan: ScorePlan, *, encoding: str = "utf-8") -> FileOutcome:
    """Plan the verdicts of one `judge_scores.csv`."""
    outcome = FileOutcome(path=path.name, kind="scores")

    def read_row(cells: RowCells) -> bool:
        case_uid, model = cells.key("case_uid"), cells.key("model")
        slug = cells.key("judge")
        slug = JUDGE_ALIASES.get(slug, slug)
        if len(slug) > 100:
            raise RowRefused(
                "key_too_long", "The judge has over 100 characters; the limit is 100.", column="judge"
            )
        if "rollout" in cells.row.cells:
            rollout = cells.rollout()
        else:
            rollout = 0
            outcome.note("the file has no rollout column: every row is rollout 0")
        response = content.by_rollout.get((case_uid, model, rollout))
        if response is None:
            raise RowRefused(
                "unknown_response",
                f"There is no response of case {case_uid!r}, model {model!r}, rollout {rollout}. Import its "
                "responses first.",
                column="case_uid",
            )
        content.add_prompt(cells, place=f"{path.name} line {cells.line}")
        reading = _read_score(cells)
        known = plan.known.get((id(response), slug))
        if known is None:
            _add_judge(slug, plan, outcome)
            plan.known[id(response), slug] = (reading.state, reading.score, f"{path.name} line {cells.line}")
            plan.new_scores.append(PlannedScore(response=response, judge_slug=slug, reading=reading))
            return True
        state, score, origin = known
        if (state, score) != (reading.state, reading.score):
            raise RowRefused(
                "conflict",
                f"Judge {slug!r} has {_in_words(reading.state, reading.score)} for this response on line {cells.line}, "
                f"but {_in_words(state, score)} at {origin}. Correct one of the two, or name another pass.",
                column="score",
            )
        return False

    read_rows(path, outcome, required=SCORE_COLUMNS, encoding=encoding, read_row=read_row)
    return outcome


def _add_judge(slug: str, plan: ScorePlan, outcome: FileOutcome) -> None:
    if slug not in plan.judges and slug not in plan.new_judge_slugs:
        plan.new_judge_slugs.append(slug)
        outcome.note(f"judge {slug} is new")


def _read_score(cells: RowCells) -> ScoreReading:
    error = cells.text("error").strip() or None
    given = cells.text("score").strip()
    score = None if given == NO_SCORE else cells.whole_number("score")
    if score is not None and not 1 <= score <= 5:
        raise RowRefused(
            "score_out_of_range",
            f"The cell score is {given}; expected 1 to 5, or -1 or blank for none.",
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
    if value is not None and value > 32767:
        raise RowRefused(
            "count_too_large", f"The cell {column} is {value}; the limit is 32767.", column=column
        )
    return value


def _in_words(state: str, score: int | None) -> str:
    return f"score {score}" if score is not None else f"no score ({state})"
