"""Calls for vectors, against the real loopback provider, and how strange replies are read."""

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from judging.llm.client import Deadlines, JudgeClient
from judging.llm.embedding_calls import EmbeddingOutcome, EmbeddingRequest, read_embeddings, reply_cap_bytes
from judging.llm.endpoints import Endpoint
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.simulated_replies import Fault, FaultRates

KEY_VARIABLE = "CAREBENCH_TEST_KEY"
TEXTS = (
    "How long may a child look at a screen in the evening?",
    "How long may a child look at a screen in the morning?",
    "Which helmet fits a small bicycle?",
)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "marker-key-4711")


def embed(base_url: str, *, texts: tuple[str, ...] = TEXTS, **request: Any) -> EmbeddingOutcome:
    endpoint = Endpoint(
        name="simulated",
        base_url=base_url,
        key_variable=KEY_VARIABLE,
        max_in_flight=8,
        requests_per_minute=None,
        allow_private=True,
        models=(),
    )

    async def run() -> EmbeddingOutcome:
        deadlines = Deadlines(connect_s=2, read_s=2, total_s=3)
        cap = reply_cap_bytes(len(texts))
        async with JudgeClient(endpoint, deadlines=deadlines, reply_cap_bytes=cap) as client:
            return await client.embed(EmbeddingRequest(model="m", texts=texts, **request))

    return asyncio.run(run())


def test_vectors_come_in_the_order_of_the_texts_with_what_they_cost() -> None:
    with running(FakeProviderSettings()) as base_url:
        outcome = embed(base_url)

    assert outcome.vectors is not None
    cosines = outcome.vectors @ outcome.vectors.T
    assert outcome.vectors.shape == (3, 256)
    assert np.allclose(np.diag(cosines), 1, atol=1e-6)
    assert cosines[0, 1] > 0.8 > cosines[0, 2]
    assert outcome.call.is_ok
    assert outcome.call.is_simulated
    assert outcome.call.tokens_in > 0


def test_a_number_of_dimensions_is_asked_for() -> None:
    with running(FakeProviderSettings()) as base_url:
        outcome = embed(base_url, dimensions=32)

    assert outcome.vectors.shape == (3, 32)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("rate_limited", "rate_limited"), ("server_error", "server"), ("html", "bad_reply")],
)
def test_a_failure_is_an_outcome_as_for_judges(fault: Fault, kind: str) -> None:
    with running(FakeProviderSettings(faults=FaultRates({fault: 1.0}))) as base_url:
        outcome = embed(base_url)

    assert outcome.call.kind == kind
    assert outcome.vectors is None


def test_a_refused_key_is_told() -> None:
    with running(FakeProviderSettings(dead_key=True)) as base_url:
        outcome = embed(base_url)

    assert (outcome.call.kind, outcome.call.http_status) == ("auth", 401)


def test_a_redirect_is_not_followed() -> None:
    with (
        running(FakeProviderSettings()) as other,
        running(FakeProviderSettings(redirect_to=other, faults=FaultRates({"redirect": 1.0}))) as base_url,
    ):
        outcome = embed(base_url)

    assert outcome.call.kind == "bad_request"
    assert outcome.call.http_status == 307


def reply(*vectors: Any, **changes: Any) -> bytes:
    data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json.dumps({"data": data, **changes}).encode()


TWO = EmbeddingRequest(model="m", texts=("one", "two"))


def read(content: bytes, request: EmbeddingRequest = TWO, content_type: str = "") -> EmbeddingOutcome:
    return read_embeddings(status=200, content_type=content_type, content=content, request=request)


def test_vectors_are_sorted_by_index_and_brought_to_length_one() -> None:
    data = [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]

    outcome = read(json.dumps({"data": data}).encode(), content_type="application/json")

    assert outcome.vectors.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 1]]
    assert outcome.call.tokens_in is None
    assert not outcome.call.is_simulated


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"<html>", id="no JSON"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b"{}", id="no data"),
        pytest.param(reply([1, 0]), id="a text without a vector"),
        pytest.param(reply([1, 0], [0, 1], [1, 1]), id="a vector without a text"),
        pytest.param(
            b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', id="one text twice"
        ),
        pytest.param(reply([1, 0], [1]), id="two lengths"),
        pytest.param(reply([], []), id="no number"),
        pytest.param(reply([1, 0], [0, 0]), id="zero"),
        pytest.param(reply([1, 0], [0, True]), id="a truth value"),
        pytest.param(reply([1, 0], [0, "1"]), id="a word"),
        pytest.param(reply([1, 0], [0, None]), id="null"),
        pytest.param(reply([1, 0], "AACAPw=="), id="base64"),
        pytest.param(reply([1], [float("inf")]), id="infinite"),
        pytest.param(reply([1], [float("nan")]), id="NaN"),
        pytest.param(reply([1], [10**400]), id="too large"),
    ],
)  # fmt: skip
def test_a_reply_that_is_no_set_of_vectors_is_a_bad_reply(content: bytes) -> None:
    outcome = read(content)

    assert outcome.call.kind == "bad_reply"
    assert outcome.vectors is None


def test_other_dimensions_than_asked_for_are_a_bad_reply() -> None:
    asked = EmbeddingRequest(model="m", texts=("one", "two"), dimensions=3)

    assert read(reply([1, 0], [0, 1]), asked).call.detail == "2 dimensions instead of 3"
    assert read(reply([1, 0, 0], [0, 1, 0]), asked).call.is_ok


@pytest.mark.parametrize("n_tokens", [True, -1, 2**31, "7", None])
def test_a_count_that_is_none_is_left_open(n_tokens: object) -> None:
    assert read(reply([1], [1], usage={"prompt_tokens": n_tokens})).call.tokens_in is None


def test_a_model_that_no_database_can_hold_is_mended() -> None:
    assert read(reply([1], [1], model="m\0")).call.model == "m\ufffd"


def test_a_page_by_its_content_type_is_a_bad_reply() -> None:
    assert read(reply([1], [1]), content_type="text/html").call.kind == "bad_reply"
