"""Rows of prompts, responses and labels as a plan, one file kind a function.

Planning writes nothing. Each function reads every row, so that one run names all problems.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from annotation.choices import AnnotatorType, Rating
from annotation.importing.cells import RowCells, hash_text
from annotation.importing.content import Content, look_alike_key
from annotation.importing.outcome import FileOutcome, RowRefused
from annotation.importing.tables import FileRefused, Row, open_table
from annotation.models import Annotator, Response
from annotation.selectors import current_labels

PROMPT_COLUMNS = ("case_uid", "risk_category", "risk_mechanism", "prompt")
RESPONSE_COLUMNS = (*PROMPT_COLUMNS, "model", "response")
LABEL_COLUMNS = (*PROMPT_COLUMNS, "model", "exemplar_response", "human_rating")
OPTIONAL_COLUMNS = frozenset({"rollout", "error", "annotator_type", "annotator", "severity"})

ReadRow = Callable[[RowCells], bool]


@dataclass(frozen=True)
class PlannedLabel:
    """One label to be stored; `response` may itself be only planned."""

    response: Response
    annotator_code: str | None
    rating: Rating
    rating_raw: str
    severity: int | None
    annotator_type: AnnotatorType
    annotator_type_raw: str | None


@dataclass
class LabelPlan:
    """Labels of all files of one import, and what is stored already."""

    new_labels: list[PlannedLabel] = field(default_factory=list)
    annotators: dict[str, Annotator] = field(default_factory=dict)
    # (response, annotator code) -> (rating, severity, where it was read)
    named: dict[tuple[int, str], tuple[str, int | None, str]] = field(default_factory=dict)
    # (response, type, rating, severity) -> how many anonymous labels are stored and not yet matched
    anonymous: Counter[tuple[int, str, str, int | None]] = field(default_factory=Counter)


def read_rows(
    path: Path, outcome: FileOutcome, *, required: tuple[str, ...], encoding: str, read_row: ReadRow
) -> None:
    """Read every row of a file through `read_row`, which says True for created, False for unchanged.

    Refusals of rows and of the file become problems of `outcome`.
    """
    try:
        table, notes = open_table(path, required=required, encoding=encoding)
        for note in notes:
            outcome.note(note)
        for column in table.columns:
            if column not in required and column not in OPTIONAL_COLUMNS:
                outcome.note(f"column {column} was not read")
        for row in table.rows(outcome):
            _read_one(row, outcome, read_row)
        if not outcome.rows:
            raise FileRefused("no_rows", "The file has a header and no rows. Nothing was read from it.")
    except FileRefused as refusal:
        outcome.refuse(line=None, column=refusal.column, code=refusal.code, message=refusal.message)


def _read_one(row: Row, outcome: FileOutcome, read_row: ReadRow) -> None:
    cells = RowCells(row)
    try:
        created = read_row(cells)
    except RowRefused as refusal:
        outcome.refuse(line=row.line, column=refusal.column, code=refusal.code, message=refusal.message)
        return
    outcome.created += created
    outcome.unchanged += not created
    outcome.normalised += bool(cells.notes)
    for note in cells.notes:
        outcome.note(note)


def plan_prompts(path: Path, content: Content, *, encoding: str = "utf-8") -> FileOutcome:
    """Plan the prompts of one `prompts.csv`."""
    outcome = FileOutcome(path=path.name, kind="prompts")
    seen: set[str] = set()

    def read_row(cells: RowCells) -> bool:
        prompt, is_new = content.add_prompt(cells, place=f"{path.name} line {cells.line}")
        if prompt.case_uid in seen:
            outcome.note("a case stands in the file twice with the same text; one is kept")
        seen.add(prompt.case_uid)
        return is_new

    read_rows(path, outcome, required=PROMPT_COLUMNS, encoding=encoding, read_row=read_row)
    _note_look_alikes(content, outcome)
    return outcome


def plan_responses(path: Path, content: Content, *, encoding: str = "utf-8") -> FileOutcome:
    """Plan the responses of one `responses.csv`, with prompts that are not there yet."""
    outcome = FileOutcome(path=path.name, kind="responses")

    def read_row(cells: RowCells) -> bool:
        model = cells.key("model")
        if "rollout" in cells.row.cells:
            rollout = cells.rollout()
        else:
            rollout = 0
            outcome.note("the file has no rollout column: every row is rollout 0")
        text, error = cells.text("response"), cells.text("error").strip() or None
        place = f"{path.name} line {cells.line}"
        case_uid = cells.key("case_uid")
        known = content.by_rollout.get((case_uid, model, rollout))
        if known is not None and known.text_hash != hash_text(text):
            raise RowRefused(
                "conflict",
                f"The response of case {case_uid!r}, model {model!r}, rollout {rollout} on line {cells.line} "
                f"differs from the one of {content.origin_of('response', case_uid, model, str(rollout))}. "
                "Correct one of the two, or give it a rollout of its own.",
                column="response",
            )
        if known is not None and known.error != error:
            raise RowRefused(
                "conflict",
                f"The error of case {case_uid!r}, model {model!r}, rollout {rollout} on line {cells.line} "
                f"differs from the one of {content.origin_of('response', case_uid, model, str(rollout))}.",
                column="error",
            )
        prompt, is_new_prompt = content.add_prompt(cells, place=place)
        outcome.implied["prompts"] += is_new_prompt
        if known is not None:
            if ("response", case_uid, model, str(rollout)) in content.origins:
                outcome.note("a response stands there twice with the same text; one is kept")
            return False
        content.add_response(prompt=prompt, model=model, rollout=rollout, text=text, error=error, place=place)
        return True

    read_rows(path, outcome, required=RESPONSE_COLUMNS, encoding=encoding, read_row=read_row)
    _note_look_alikes(content, outcome)
    return outcome


def load_label_plan(content: Content) -> LabelPlan:
    """Read the benchmark's current labels, to tell new rows from known ones. Two queries."""
    plan = LabelPlan()
    if content.benchmark.pk is None:
        return plan
    plan.annotators = {row.code: row for row in Annotator.objects.filter(benchmark=content.benchmark)}
    stored = {response.pk: response for response in content.by_rollout.values()}
    stored |= {row.pk: row for rows in content.by_text.values() for row in rows}
    for label in (
        current_labels(content.benchmark).select_related("annotator", "item").order_by("created_at", "pk")
    ):
        response = stored[label.item.response_id]
        if label.annotator is not None:
            plan.named[id(response), label.annotator.code] = (
                label.rating,
                label.severity,
                "stored in the benchmark earlier",
            )
        elif label.is_imported:
            plan.anonymous[id(response), label.annotator_type, label.rating, label.severity] += 1
    return plan


def plan_labels(path: Path, content: Content, plan: LabelPlan, *, encoding: str = "utf-8") -> FileOutcome:
    """Plan the labels of one `annotated_responses.csv`, with prompts and responses they bring."""
    outcome = FileOutcome(path=path.name, kind="labels")

    def read_row(cells: RowCells) -> bool:
        rating, severity = cells.rating(), cells.severity()
        annotator_type, annotator_type_raw = cells.annotator_type()
        code = cells.optional_key("annotator")
        if code is not None and len(code) > 100:
            raise RowRefused("key_too_long", "The annotator has over 100 characters.", column="annotator")
        response = _join_response(cells, content, outcome, place=f"{path.name} line {cells.line}")
        label = PlannedLabel(
            response=response,
            annotator_code=code,
            rating=rating,
            rating_raw=cells.text("human_rating")[:100],
            severity=severity,
            annotator_type=annotator_type,
            annotator_type_raw=annotator_type_raw,
        )
        is_new = _add_label(label, plan, place=f"{path.name} line {cells.line}", line=cells.line)
        if (rating == Rating.ACCEPTABLE and severity is not None and severity >= 4) or (
            rating == Rating.UNACCEPTABLE and severity == 1
        ):
            outcome.note("rating and severity point apart; both are kept")
        return is_new

    read_rows(path, outcome, required=LABEL_COLUMNS, encoding=encoding, read_row=read_row)
    return outcome


def _join_response(cells: RowCells, content: Content, outcome: FileOutcome, *, place: str) -> Response:
    case_uid, model, text = cells.key("case_uid"), cells.key("model"), cells.text("exemplar_response")
    rollout = cells.whole_number("rollout")
    if rollout is not None:
        known = content.by_rollout.get((case_uid, model, rollout))
        if known is None:
            raise RowRefused(
                "unknown_response",
                f"There is no response of case {case_uid!r}, model {model!r}, rollout {rollout}. Import the "
                "responses first, or leave the rollout blank to join by the exact text.",
                column="rollout",
            )
        if known.text_hash != hash_text(text):
            raise RowRefused(
                "conflict",
                f"The text on line {cells.line} differs from the response of case {case_uid!r}, model {model!r}, "
                f"rollout {rollout} ({content.origin_of('response', case_uid, model, str(rollout))}).",
                column="exemplar_response",
            )
        content.add_prompt(cells, place=place)
        return known
    prompt, is_new_prompt = content.add_prompt(cells, place=place)
    outcome.implied["prompts"] += is_new_prompt
    found = content.find_by_text(case_uid=case_uid, model=model, text=text)
    if found is None:
        outcome.implied["responses"] += 1
        return content.add_response(
            prompt=prompt, model=model, rollout=None, text=text, error=None, place=place
        )
    if len(content.by_text[case_uid, model, found.text_hash]) > 1:
        outcome.note("several rollouts have the labelled text; the label joins the lowest")
    return found


def _add_label(label: PlannedLabel, plan: LabelPlan, *, place: str, line: int) -> bool:
    response_key = id(label.response)
    if label.annotator_code is None:
        key = (response_key, label.annotator_type, label.rating, label.severity)
        if plan.anonymous[key] > 0:
            plan.anonymous[key] -= 1
            return False
        plan.new_labels.append(label)
        return True
    known = plan.named.get((response_key, label.annotator_code))
    if known is None:
        plan.named[response_key, label.annotator_code] = (label.rating, label.severity, place)
        plan.new_labels.append(label)
        return True
    rating, severity, origin = known
    if (rating, severity) != (label.rating, label.severity):
        raise RowRefused(
            "conflict",
            f"Annotator {label.annotator_code!r} rates this response {label.rating}, severity {label.severity} on line "
            f"{line}, but {rating}, severity {severity} at {origin}. Correct one of the two.",
            column="human_rating",
        )
    return False


def _note_look_alikes(content: Content, outcome: FileOutcome) -> None:
    groups: dict[str, set[str]] = defaultdict(set)
    for case_uid in content.prompts:
        groups[look_alike_key(case_uid)].add(case_uid)
    for group in groups.values():
        if len(group) > 1:
            outcome.note(f"look-alike case ids are kept apart: {', '.join(sorted(group)[:5])}")
