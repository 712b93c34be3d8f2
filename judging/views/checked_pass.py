"""What the check of a pass found, in the words and tables of its page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from annotation.choices import ResponseState
from annotation.models import Response
from annotation.templatetags import formatting
from judging.passes.checking import PassCheck
from judging.passes.estimating import JudgeEstimate
from judging.passes.sampling import SamplePrompt
from judging.passes.seats import SeatCheck
from judging.retrieval.embedding_estimate import EmbeddingEstimate
from judging.views.tables import Cell, Column, Row, Table, text_column
from judging.views.wording import counted

NO_PRICE = "the endpoints file gives no price"
MESSAGE_ROLES: Mapping[str, str] = {"system": "System message", "user": "User message"}


@dataclass(frozen=True)
class ShownExemplar:
    """One exemplar of the sample, as a line."""

    response: Response
    similarity: str
    kind: str


@dataclass(frozen=True)
class ShownSample:
    """A sample request, in the shape of `_sample_prompt.html`. `parameters` are JSON, by judge."""

    response: Response
    messages: list[tuple[str, str]]
    exemplars: list[ShownExemplar]
    parameters: list[tuple[str, str]]


def check_answer(checked: PassCheck) -> str:
    """One sentence: whether it can start, and what it comes to."""
    silent = [judge.seat.slug for judge in checked.judges if judge.fault is not None]
    if silent:
        verb = "does" if len(silent) == 1 else "do"
        return f"{', '.join(silent)} {verb} not answer, so the pass cannot start."
    if checked.sample_problem:
        return "Every judge answers, and the pass cannot start as chosen."
    estimate = checked.estimate
    cost = f", likely costs {_amount(estimate.cost)}" if estimate.cost is not None else ""
    answers = "Every judge answers" if len(checked.judges) > 1 else "The judge answers"
    calls = counted(estimate.n_calls, "call")
    return f"{answers}: the pass makes {calls}{cost} and takes about {_duration(estimate.seconds)}."


def check_basis(checked: PassCheck) -> str:
    """What the sentence rests on, and what is left out."""
    left_out = [
        f"{n:,} {ResponseState(state).label}"
        for state, n in checked.counts.items()
        if state != ResponseState.OK
    ]
    n_left_out = sum(n for state, n in checked.counts.items() if state != ResponseState.OK)
    rest = f" · {n_left_out:,} not complete: {', '.join(left_out)}" if left_out else ""
    responses = counted(checked.estimate.n_responses, "complete response")
    return f"n = {responses} for each of {counted(len(checked.judges), 'judge')}{rest}"


def judge_table(checked: PassCheck) -> Table:
    """Each judge: how it answered, and its share of calls, tokens, cost and time."""
    estimates = {judge.slug: judge for judge in checked.estimate.judges}
    return Table(
        id="judges",
        caption="What each judge comes to",
        note=_table_note(checked.estimate.judges),
        columns=[
            text_column("Judge"),
            text_column("Test call"),
            Column("Calls"),
            Column("Sent", unit="tokens"),
            Column("Answered", unit="tokens"),
            Column("Likely cost", unit="in the prices' unit"),
            Column("At most", unit="in the prices' unit"),
            Column("A call takes", unit="seconds"),
        ],
        rows=[_judge_row(judge, estimates[judge.seat.slug]) for judge in checked.judges],
    )


def embeddings_in_words(estimate: EmbeddingEstimate) -> str:
    """What finding the exemplars comes to, beside the judges."""
    if not estimate.n_missing:
        texts = counted(estimate.n_texts, "text")
        return f"Every one of the {texts} has its vector of {estimate.slug} already; none is asked for."
    cost = "at a price that is not known"
    if estimate.cost is not None:
        cost = f"which likely cost {estimate.cost:,.4f}"
    return (
        f"To find exemplars, {estimate.slug} at {estimate.endpoint_name} is asked for the vectors of "
        f"{counted(estimate.n_missing, 'text')} in {counted(estimate.n_calls, 'call')}, {cost}. "
        "They are kept for every later pass."
    )


def shown_sample(sample: SamplePrompt) -> ShownSample:
    """The sample in the shape that its template draws."""
    return ShownSample(
        response=sample.response,
        messages=[(MESSAGE_ROLES[message["role"]], message["content"]) for message in sample.messages],
        exemplars=[
            ShownExemplar(
                response=response,
                similarity=f"{similarity:.2f}",
                kind="UNACCEPTABLE" if is_unacceptable else "ACCEPTABLE",
            )
            for response, similarity, is_unacceptable in sample.exemplars
        ],
        parameters=[
            (judge, json.dumps(values, ensure_ascii=False, sort_keys=True))
            for judge, values in sample.parameters.items()
        ],
    )


def _table_note(judges: Sequence[JudgeEstimate]) -> str:
    assumed = [judge.slug for judge in judges if not judge.has_history]
    note = "Without retries; a cap on calls counts those too."
    if not assumed:
        return note
    return (
        f"{note} Length and time are assumed where no answer to this rubric is known: {', '.join(assumed)}."
    )


def _judge_row(judge: SeatCheck, estimate: JudgeEstimate) -> Row:
    model = judge.seat.model
    answer = judge.fault or f"answers, {judge.latency_ms / 1000:.1f} s"
    if judge.is_simulated:
        answer = f"{answer}, simulated"
    return Row(
        [
            Cell(f"{judge.seat.slug} ({model.model_id} at {judge.seat.endpoint.name})"),
            Cell(answer),
            Cell(estimate.n_calls, kind="count"),
            Cell(estimate.tokens_in, kind="count"),
            Cell(estimate.tokens_out, kind="count"),
            Cell(estimate.cost, kind="score", reason=NO_PRICE),
            Cell(estimate.worst_cost, kind="score", reason=NO_PRICE),
            Cell(estimate.latency_s, kind="score"),
        ]
    )


def _amount(cost: Decimal | None) -> str | None:
    return None if cost is None else f"{cost:,.2f}"


def _duration(seconds: float) -> str:
    return formatting.duration_text(max(seconds, 1))
