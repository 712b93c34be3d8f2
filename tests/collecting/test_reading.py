"""What a target model's answer is: a response, or a named reason why there is none."""

from typing import Any

import pytest

from judging.collecting.reading import read_answer
from judging.llm.calls import CallOutcome

ANSWER = "Talk with your child about it, calmly and often."
CUT = "Talk with your child about"
REFUSAL = "I would rather not go into that."


def answered(text: str | None = ANSWER, **values: Any) -> CallOutcome:
    """A call that came back with a completion."""
    return CallOutcome(**{"kind": "ok", "text": text, "finish_reason": "stop", "tokens_out": 12, **values})


@pytest.mark.parametrize(
    ("outcome", "state", "text"),
    [
        pytest.param(answered(), "COLLECTED", ANSWER, id="an answer"),
        pytest.param(answered(f"  {ANSWER}\n"), "COLLECTED", f"  {ANSWER}\n", id="white space is kept"),
        pytest.param(answered("N/A"), "COLLECTED", "N/A", id="a word that looks like nothing is an answer"),
        pytest.param(answered("I'm sorry, but I can't assist with that."), "COLLECTED", None, id="declined"),
        pytest.param(answered(None, refusal=REFUSAL), "COLLECTED", REFUSAL, id="refusal field"),
        pytest.param(answered("", refusal=REFUSAL), "COLLECTED", REFUSAL, id="refusal beside empty content"),
        pytest.param(answered(ANSWER, refusal=REFUSAL), "COLLECTED", ANSWER, id="refusal beside an answer"),
        pytest.param(
            answered(ANSWER, finish_reason="refusal"), "COLLECTED", ANSWER, id="stopped with a text"
        ),
        pytest.param(answered(None, finish_reason="refusal"), "FILTERED", "", id="stopped by a classifier"),
        pytest.param(answered(None), "EMPTY", "", id="null"),
        pytest.param(answered(""), "EMPTY", "", id="no characters"),
        pytest.param(answered(" \n\t"), "EMPTY", " \n\t", id="only white space"),
        pytest.param(answered(CUT, finish_reason="length"), "TRUNCATED", CUT, id="cut off"),
        pytest.param(answered("", finish_reason="length"), "TRUNCATED", "", id="all spent on reasoning"),
        pytest.param(answered(None, finish_reason="content_filter"), "FILTERED", "", id="filtered"),
        pytest.param(answered(CUT, finish_reason="content_filter"), "FILTERED", CUT, id="filtered half-way"),
        pytest.param(
            CallOutcome(kind="bad_request", http_status=400, is_filtered=True),
            "FILTERED",
            "",
            id="prompt not taken",
        ),
        pytest.param(CallOutcome(kind="bad_request", http_status=400), "CALL_FAILED", "", id="400"),
        pytest.param(CallOutcome(kind="rate_limited", http_status=429), "CALL_FAILED", "", id="429"),
        pytest.param(CallOutcome(kind="server", http_status=500), "CALL_FAILED", "", id="500"),
        pytest.param(CallOutcome(kind="timeout"), "CALL_FAILED", "", id="time-out"),
        pytest.param(CallOutcome(kind="network"), "CALL_FAILED", "", id="no connection"),
        pytest.param(
            CallOutcome(kind="bad_reply", http_status=200), "CALL_FAILED", "", id="a page for a reply"
        ),
        pytest.param(CallOutcome(kind="auth", http_status=401), "CALL_FAILED", "", id="dead key"),
    ],
)
def test_read_answer(outcome: CallOutcome, state: str, text: str | None) -> None:
    answer = read_answer(outcome)

    assert answer.state == state
    assert answer.text == (outcome.text if text is None else text)
    assert (answer.code is not None) == (state == "CALL_FAILED")


def test_a_refusal_apart_from_the_answer_is_told_from_one_in_words() -> None:
    assert read_answer(answered(None, refusal=REFUSAL)).is_refusal
    assert not read_answer(answered(REFUSAL)).is_refusal


def test_length_is_the_providers_count() -> None:
    answer = read_answer(answered(tokens_out=12))

    assert (answer.n_tokens, answer.tokens_source) == (12, "PROVIDER")


def test_length_without_the_providers_count_is_estimated_and_said_to_be() -> None:
    answer = read_answer(answered("one two three", tokens_out=None))

    # o200k_base: one token for each of these words.
    assert (answer.n_tokens, answer.tokens_source) == (3, "ESTIMATED")


def test_no_text_and_no_count_is_no_length() -> None:
    answer = read_answer(answered(None, tokens_out=None))

    assert (answer.n_tokens, answer.tokens_source) == (None, None)
