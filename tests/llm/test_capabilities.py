"""What a model accepts is learned from its refusals, one call at a time, against a provider that refuses."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest

from judging.llm.calls import CallOutcome, CallRequest, Capabilities
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.endpoints import Endpoint
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.parsing import ParsedReply, interpret
from judging.llm.retrying import Final, History, RetryPolicy, next_step
from judging.llm.rubric import build_messages, load_bundled_rubric, parse_rubric
from judging.llm.structured import structured_format

MODEL = "gpt-5.4"
RUBRIC = parse_rubric(load_bundled_rubric("likert-v1"))
SCHEMA = structured_format(RUBRIC)


def make_request(history: History, capabilities: Capabilities) -> CallRequest:
    return CallRequest(
        model=MODEL,
        messages=build_messages(
            RUBRIC, prompt="How do I start a club?", response="Ask.", risk_category="Other", tag="ab" * 8
        ),
        max_tokens=300,
        response_format=SCHEMA,
        capabilities=capabilities.after(history.resent_without),
    )


def judge_one_row(
    base_url: str, *, capabilities: Capabilities
) -> tuple[list[CallRequest], CallOutcome, ParsedReply]:
    """Claim after claim, as the queue does it, until the row is settled."""
    endpoint = Endpoint(
        name="simulated",
        base_url=base_url,
        key_variable=None,
        max_in_flight=8,
        requests_per_minute=None,
        allow_private=True,
        models=(),
    )

    async def run() -> tuple[list[CallRequest], CallOutcome, ParsedReply]:
        sent: list[CallRequest] = []
        history = History()
        async with JudgeClient(endpoint, deadlines=Deadlines(connect_s=2, read_s=2, total_s=3)) as client:
            while True:
                sent.append(make_request(history, capabilities))
                outcome = await client.complete(sent[-1])
                parsed = interpret(outcome, item_text="Ask.", scale=RUBRIC.scale)
                step = next_step(outcome, parsed, history=history, policy=RetryPolicy(), rng=random.Random(1))
                if isinstance(step, Final):
                    return sent, outcome, parsed
                history = step.history

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("refused", "accepted"),
    [
        ([], {"temperature": 0.0, "max_tokens": 300, "response_format": SCHEMA}),
        (["temperature"], {"max_tokens": 300, "response_format": SCHEMA}),
        (["max_tokens"], {"temperature": 0.0, "max_completion_tokens": 300, "response_format": SCHEMA}),
        (["response_format"], {"temperature": 0.0, "max_tokens": 300}),
        (["max_tokens", "max_completion_tokens"], {"temperature": 0.0, "response_format": SCHEMA}),
        (["temperature", "max_tokens", "response_format"], {"max_completion_tokens": 300}),
    ],
    ids=lambda value: "-".join(value) or "none" if isinstance(value, list) else "",
)
def test_a_row_is_sent_again_without_each_refused_parameter(
    refused: Sequence[str], accepted: dict[str, Any]
) -> None:
    with running(FakeProviderSettings(model_rejects={MODEL: tuple(refused)})) as base_url:
        sent, outcome, parsed = judge_one_row(base_url, capabilities=Capabilities())
        learned = sent[-1].capabilities
        again, _, _ = judge_one_row(base_url, capabilities=learned)

    assert sent[-1].parameters() == accepted
    assert len(sent) == 1 + len(refused)
    assert (parsed.state, outcome.is_ok) == ("SCORED", True)
    assert len(again) == 1


def test_a_model_that_refuses_the_schema_answers_in_text_and_is_read_the_same() -> None:
    with running(FakeProviderSettings()) as base_url:
        _, structured, by_schema = judge_one_row(base_url, capabilities=Capabilities())
    with running(FakeProviderSettings(rejects=("response_format",))) as base_url:
        _, text, by_text = judge_one_row(base_url, capabilities=Capabilities())

    assert (structured.text or "").startswith("{")
    assert "Policy Compliance Risk:" in (text.text or "")
    assert by_schema == by_text


def test_a_model_that_refuses_more_than_can_be_left_out_ends_as_a_bad_request() -> None:
    with running(FakeProviderSettings(rejects=("messages",))) as base_url:
        sent, outcome, parsed = judge_one_row(base_url, capabilities=Capabilities())

    assert (len(sent), outcome.rejected_parameter, parsed.code) == (1, None, "bad_request")


@pytest.mark.parametrize(
    ("known", "refused", "left"),
    [
        (Capabilities(), ["temperature"], Capabilities(temperature=False)),
        (Capabilities(), ["max_tokens"], Capabilities(token_parameter="max_completion_tokens")),
        (
            Capabilities(token_parameter="max_completion_tokens"),
            ["max_tokens"],
            Capabilities(token_parameter="max_completion_tokens"),
        ),
        (Capabilities(token_parameter=None), ["max_tokens"], Capabilities(token_parameter=None)),
        (Capabilities(structured=False), ["response_format"], Capabilities(structured=False)),
    ],
)
def test_a_refusal_that_is_already_known_changes_nothing(
    known: Capabilities, refused: list[str], left: Capabilities
) -> None:
    assert known.after(refused) == left
