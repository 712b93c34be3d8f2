"""Rows of `annotated_responses.csv` as a plan: which response each joins, and whether it is new."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotation.choices import AnnotatorType, Rating
from annotation.importing.cells import MAX_WORD_LENGTH, RowCells, hash_text
from annotation.importing.content import STORED_EARLIER, Content
from annotation.importing.outcome import FileOutcome, RowRefused
from annotation.importing.planning import PROMPT_COLUMNS, read_rows
from annotation.importing.text_files import TextFile
from annotation.models import RESERVED_CODE, Annotator, Response
from annotation.selectors import current_labels

LABEL_COLUMNS = (*PROMPT_COLUMNS, "model", "exemplar_response", "human_rating")
OPTIONAL_LABEL_COLUMNS = ("rollout", "annotator_type", "annotator", "severity")

AnonymousKey = tuple[int, str, str, int | None]


@dataclass(frozen=True)
class Answer:
    """What the cells of one row say about a response. No annotator means an anonymous label."""

    annotator_code: str | None
    rating: Rating
    rating_raw: str
    severity: int | None
    annotator_type: AnnotatorType
    annotator_type_raw: str | None


@dataclass(frozen=True)
class PlannedLabel:
    """One label to be stored; `response` may itself be only planned."""

    response: Response
    answer: Answer


@dataclass(frozen=True)
class KnownLabel:
    """A named label that stands already; `place` is where this import read it, None when stored."""

    rating: str
    severity: int | None
    place: str | None = None


@dataclass
class LabelPlan:
    """Labels of all files of one import, and what is stored already.

    Responses are told apart by the identity of their objects, as planned ones have no id yet.
    """

    new_labels: list[PlannedLabel] = field(default_factory=list)
    annotators: dict[str, Annotator] = field(default_factory=dict)
    # (response, annotator code) -> the label
    named: dict[tuple[int, str], KnownLabel] = field(default_factory=dict)
    # How many anonymous labels of each sort are stored and not yet met in a file.
    anonymous: Counter[AnonymousKey] = field(default_factory=Counter)


def load_label_plan(content: Content) -> LabelPlan:
    """Read the benchmark's current labels, to tell new rows from known ones. Two queries.

    Of several labels of one annotator on one response (in several campaigns) the newest counts.
    """
    plan = LabelPlan()
    if content.benchmark.pk is None:
        return plan
    plan.annotators = {row.code: row for row in Annotator.objects.filter(benchmark=content.benchmark)}
    stored = {response.pk: id(response) for response in content.responses()}
    labels = current_labels(content.benchmark).values_list(
        "item__response_id", "annotator__code", "is_imported", "annotator_type", "rating", "severity"
    )
    for response_id, code, is_imported, annotator_type, rating, severity in labels.iterator():
        response = stored.get(response_id)
        if response is None or rating is None:
            continue
        if code is not None:
            plan.named[response, code] = KnownLabel(rating=rating, severity=severity)
        elif is_imported:
            plan.anonymous[response, annotator_type, rating, severity] += 1
    return plan


def plan_labels(file: TextFile, content: Content, plan: LabelPlan) -> FileOutcome:
    """Plan the labels of one `annotated_responses.csv`, with prompts and responses they bring."""
    outcome = FileOutcome(path=file.name, kind="labels")

    def read_row(cells: RowCells) -> bool:
        answer = _read_answer(cells)
        candidates = _find_responses(cells, content)
        known_at = _find_known(plan, candidates, answer, cells)
        prompt, is_new_prompt = content.add_prompt(cells)
        outcome.implied["prompts"] += is_new_prompt
        outcome.answers[answer.rating, answer.severity] += 1
        if known_at is not None:
            if answer.annotator_code is None:
                plan.anonymous[_anonymous_key(known_at, answer)] -= 1
            return False
        if candidates:
            response = candidates[0]
        else:
            response = content.add_response(
                prompt=prompt,
                model=cells.key("model"),
                rollout=None,
                text=cells.text("exemplar_response"),
                error=None,
            )
            outcome.implied["responses"] += 1
        plan.new_labels.append(PlannedLabel(response=response, answer=answer))
        if answer.annotator_code is not None:
            plan.named[id(response), answer.annotator_code] = KnownLabel(
                rating=answer.rating, severity=answer.severity, place=cells.place
            )
        return True

    read_rows(file, outcome, required=LABEL_COLUMNS, optional=OPTIONAL_LABEL_COLUMNS, read_row=read_row)
    return outcome


def _read_answer(cells: RowCells) -> Answer:
    annotator_type, annotator_type_raw = cells.annotator_type()
    return Answer(
        annotator_code=_read_annotator(cells),
        rating=cells.rating(),
        rating_raw=cells.text("human_rating")[:MAX_WORD_LENGTH],
        severity=cells.severity(),
        annotator_type=annotator_type,
        annotator_type_raw=annotator_type_raw,
    )


def _read_annotator(cells: RowCells) -> str | None:
    code = cells.optional_key("annotator", max_length=MAX_WORD_LENGTH)
    if code is not None and code.casefold() == RESERVED_CODE:
        raise RowRefused(
            "reserved_code",
            f"The cell annotator is {code!r}, which reports use for the joint reading of all annotators; "
            "expected the code of one person. Give the annotator another code.",
            column="annotator",
        )
    return code


def _find_responses(cells: RowCells, content: Content) -> list[Response]:
    """The response a row names by its rollout; else those with its text, the one to join first."""
    case_uid, model, text = cells.key("case_uid"), cells.key("model"), cells.text("exemplar_response")
    rollout = cells.whole_number("rollout")
    if rollout is None:
        found = content.find_by_text(case_uid=case_uid, model=model, text=text)
        if len(found) > 1:
            cells.remarks.append("several rollouts have the labelled text: the label joins the lowest")
        return found
    named = content.by_rollout.get((case_uid, model, rollout))
    if named is None:
        raise RowRefused(
            "unknown_response",
            f"There is no response of case {case_uid!r}, model {model!r}, rollout {rollout}. Import its "
            "responses first, or leave the rollout blank to join by the exact text.",
            column="rollout",
        )
    if named.text_hash != hash_text(text):
        raise RowRefused(
            "conflict",
            f"The text on line {cells.line} differs from the response of case {case_uid!r}, model {model!r}, "
            f"rollout {rollout} of {content.origin_of_response((case_uid, model, rollout))}. Correct one "
            "of the two, or leave the rollout blank.",
            column="exemplar_response",
        )
    return [named]


def _find_known(
    plan: LabelPlan, candidates: Sequence[Response], answer: Answer, cells: RowCells
) -> Response | None:
    """Where the label stands already, None if it is new.

    A row without a rollout may have been stored when other rollouts were there: an equal stored
    label on any response with its text is the same label.
    """
    if answer.annotator_code is None:
        return next((row for row in candidates if plan.anonymous[_anonymous_key(row, answer)] > 0), None)
    for position, response in enumerate(candidates):
        known = plan.named.get((id(response), answer.annotator_code))
        if known is None:
            continue
        is_equal = (known.rating, known.severity) == (answer.rating, answer.severity)
        if position == 0:
            if not is_equal:
                raise _other_answer(known, answer, line=cells.line)
            if known.place is not None:
                cells.remarks.append("a label stands there twice with the same answer; one is kept")
            return response
        if is_equal and known.place is None:
            cells.remarks.append("the label stands at another rollout with the same text")
            return response
    return None


def _anonymous_key(response: Response, answer: Answer) -> AnonymousKey:
    return id(response), answer.annotator_type, answer.rating, answer.severity


def _other_answer(known: KnownLabel, answer: Answer, *, line: int) -> RowRefused:
    is_other_rating = known.rating != answer.rating
    return RowRefused(
        "conflict",
        f"Annotator {answer.annotator_code!r} rates this response "
        f"{_in_words(answer.rating, answer.severity)} on line {line}, but "
        f"{_in_words(known.rating, known.severity)} in {known.place or STORED_EARLIER}. "
        "Correct one of the two.",
        column="human_rating" if is_other_rating else "severity",
    )


def _in_words(rating: str, severity: int | None) -> str:
    label = Rating(rating).label
    return f"{label} with severity {severity}" if severity is not None else f"{label} without severity"
