"""Rows of prompts and responses as a plan, one file kind a function.

Planning writes nothing. Each function reads every row, so that one run names all problems. A row
is planned only after everything that could refuse it has been looked at.
"""

from collections import Counter
from collections.abc import Callable

from annotation.choices import ResponseState
from annotation.importing.cells import RowCells, hash_text
from annotation.importing.content import Content, state_of
from annotation.importing.outcome import FileOutcome, FileRefused, RowRefused
from annotation.importing.tables import Row, open_table
from annotation.importing.text_files import TextFile
from annotation.selectors import EmptyShare

PROMPT_COLUMNS = ("case_uid", "risk_category", "risk_mechanism", "prompt")
RESPONSE_COLUMNS = (*PROMPT_COLUMNS, "model", "response")
OPTIONAL_RESPONSE_COLUMNS = ("rollout", "error")

ReadRow = Callable[[RowCells], bool]


def read_rows(
    file: TextFile,
    outcome: FileOutcome,
    *,
    required: tuple[str, ...],
    optional: tuple[str, ...] = (),
    read_row: ReadRow,
) -> None:
    """Read every row of a file through `read_row`, which says True for created, False for unchanged.

    Refusals of rows and of the file become problems of `outcome`.
    """
    known = (*required, *optional)
    try:
        table = open_table(file, known=known, required=required)
        for note in table.notes:
            outcome.note(note)
        for column in table.columns:
            if column not in known:
                outcome.note(f"column {column!r} was not read")
        for row in table.rows(outcome):
            _read_one(row, outcome, read_row)
        if not outcome.rows:
            raise FileRefused(
                "no_rows",
                "The file has a header and no rows. Check that it is the right one, or leave it out.",
            )
    except FileRefused as refusal:
        outcome.refuse_file(refusal)


def _read_one(row: Row, outcome: FileOutcome, read_row: ReadRow) -> None:
    cells = RowCells(row, place=f"{outcome.path} line {row.line}")
    try:
        created = read_row(cells)
    except RowRefused as refusal:
        outcome.refuse_row(line=row.line, column=refusal.column, code=refusal.code, message=refusal.message)
        return
    outcome.created += created
    outcome.unchanged += not created
    outcome.normalised += bool(cells.notes)
    for note in (*cells.notes, *cells.remarks):
        outcome.note(note)


def plan_prompts(file: TextFile, content: Content) -> FileOutcome:
    """Plan the prompts of one `prompts.csv`."""
    outcome = FileOutcome(path=file.name, kind="prompts")
    seen: set[str] = set()

    def read_row(cells: RowCells) -> bool:
        prompt, is_new = content.add_prompt(cells)
        if prompt.case_uid in seen:
            cells.remarks.append("a case stands in the file twice with the same text; one is kept")
        seen.add(prompt.case_uid)
        return is_new

    read_rows(file, outcome, required=PROMPT_COLUMNS, read_row=read_row)
    return outcome


def plan_responses(file: TextFile, content: Content) -> FileOutcome:
    """Plan the responses of one `responses.csv`, with prompts that are not there yet.

    A model that leaves many of them empty is noted: one that was never reached looks like that.
    """
    outcome = FileOutcome(path=file.name, kind="responses")
    seen: set[tuple[str, str, int]] = set()
    n_responses: Counter[str] = Counter()
    n_empty: Counter[str] = Counter()

    def read_row(cells: RowCells) -> bool:
        key = cells.key("case_uid"), cells.key("model"), cells.rollout()
        text, error = cells.text("response"), cells.text("error").strip() or None
        known = content.by_rollout.get(key)
        if known is not None:
            origin = content.origin_of_response(key)
            _refuse_other("response", known.text_hash, hash_text(text), key, cells, origin=origin)
            _refuse_other("error", known.error, error, key, cells, origin=origin)
        prompt, is_new_prompt = content.add_prompt(cells)
        outcome.implied["prompts"] += is_new_prompt
        if key in seen:
            cells.remarks.append("a response stands in the file twice with the same text; one is kept")
        else:
            n_responses[key[1]] += 1
            n_empty[key[1]] += state_of(text=text, error=error) == ResponseState.EMPTY
        seen.add(key)
        if known is not None:
            return False
        content.add_response(prompt=prompt, model=key[1], rollout=key[2], text=text, error=error)
        content.origins["response", key[0], key[1], str(key[2])] = cells.place
        return True

    read_rows(
        file,
        outcome,
        required=RESPONSE_COLUMNS,
        optional=OPTIONAL_RESPONSE_COLUMNS,
        read_row=read_row,
    )
    for model, n in n_responses.items():
        share = EmptyShare(model, n_empty[model], n)
        if share.is_large:
            outcome.note(
                f"{100 * share.rate:.1f} % of the {n:,} responses of model {model!r} are empty; find out why "
                "before judging them",
                count=share.n_empty,
            )
    return outcome


def _refuse_other(
    column: str,
    stored: str | None,
    given: str | None,
    key: tuple[str, str, int],
    cells: RowCells,
    *,
    origin: str,
) -> None:
    if stored != given:
        case_uid, model, rollout = key
        raise RowRefused(
            "conflict",
            f"The {column} of case {case_uid!r}, model {model!r}, rollout {rollout} on line {cells.line} "
            f"differs from the one of {origin}. Correct one of the two, or give the response "
            "a rollout of its own.",
            column=column,
        )
