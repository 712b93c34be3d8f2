"""The client against a real provider on the loopback device: what is sent, and what every fault becomes."""

import asyncio
import json
import logging
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from judging.errors import EndpointError
from judging.llm.calls import CallOutcome, CallRequest, Capabilities
from judging.llm.client import Deadlines, JudgeClient
from judging.llm.endpoints import Endpoint
from judging.llm.fake_provider import FakeProviderSettings, running
from judging.llm.parsing import interpret
from judging.llm.rubric import build_messages, load_bundled_rubric, parse_rubric
from judging.llm.simulated_replies import Fault, FaultRates

KEY_VARIABLE = "CAREBENCH_TEST_KEY"
MARKER_KEY = "marker-key-4711"
QUICK = Deadlines(connect_s=2, read_s=2, total_s=3)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, MARKER_KEY)


def make_endpoint(base_url: str, **changes: Any) -> Endpoint:
    values: dict[str, Any] = {
        "name": "simulated",
        "base_url": base_url,
        "key_variable": KEY_VARIABLE,
        "max_in_flight": 8,
        "requests_per_minute": None,
        "allow_private": True,
        "models": (),
    }
    return Endpoint(**{**values, **changes})


def make_request(response: str = "Ask an adult whom you trust.", **changes: Any) -> CallRequest:
    rubric = parse_rubric(load_bundled_rubric("likert-v1"))
    messages = build_messages(
        rubric, prompt="How do I start a club?", response=response, risk_category="Other", tag="ab" * 8
    )
    return CallRequest(**{"model": "gpt-5.4", "messages": messages, "max_tokens": 300, **changes})


def call(
    base_url: str, *requests: CallRequest, deadlines: Deadlines = QUICK, **options: Any
) -> list[CallOutcome]:
    async def run() -> list[CallOutcome]:
        async with JudgeClient(make_endpoint(base_url), deadlines=deadlines, **options) as client:
            return list(await asyncio.gather(*(client.complete(request) for request in requests)))

    return asyncio.run(run())


def call_with_fault(fault: Fault, **settings: Any) -> CallOutcome:
    with running(FakeProviderSettings(faults=FaultRates({fault: 1.0}), **settings)) as base_url:
        return call(base_url, make_request())[0]


def stats(base_url: str) -> dict[str, Any]:
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats", timeout=5) as reply:
        return dict(json.load(reply))


@contextmanager
def raw_server(reply: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that sends one fixed reply to every connection and keeps what it was sent."""
    seen: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                seen.append(connection.recv(65536))
                connection.sendall(reply)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", seen
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=5)


def test_a_good_call_gives_text_finish_reason_and_usage() -> None:
    with running(FakeProviderSettings()) as base_url:
        [outcome] = call(base_url, make_request())

    assert (outcome.kind, outcome.http_status, outcome.finish_reason) == ("ok", 200, "stop")
    assert outcome.tokens_in is not None
    assert outcome.tokens_in > 100
    assert outcome.tokens_out is not None
    assert interpret(outcome, item_text="x", scale="likert").state == "SCORED"


def test_calls_run_side_by_side() -> None:
    with running(FakeProviderSettings(latency_ms=200)) as base_url:
        call(base_url, *[make_request(f"Answer {number}.") for number in range(6)])
        counts = stats(base_url)

    assert (counts["calls"], counts["peak_in_flight"], counts["duplicates"]) == (6, 6, 0)


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("rate_limited", "rate_limited", 429),
        ("server_error", "server", 500),
        ("redirect", "bad_request", 307),
        ("html", "bad_reply", 200),
        ("huge", "bad_reply", None),
        ("malformed", "ok", 200),
        ("empty", "ok", 200),
        ("truncated", "ok", 200),
        ("filtered", "ok", 200),
        ("refusal", "ok", 200),
        ("out_of_range", "ok", 200),
    ],
)
def test_a_fault_becomes_its_outcome_in_one_call(fault: Fault, kind: str, status: int | None) -> None:
    with running(FakeProviderSettings(faults=FaultRates({fault: 1.0}))) as base_url:
        [outcome] = call(base_url, make_request())
        counts = stats(base_url)

    assert (outcome.kind, outcome.http_status) == (kind, status)
    assert counts["calls"] == 1


@pytest.mark.parametrize(
    ("fault", "state"),
    [
        ("malformed", "PARSE_FAILED"),
        ("empty", "PARSE_FAILED"),
        ("truncated", "TRUNCATED"),
        ("filtered", "FILTERED"),
        ("refusal", "REFUSED"),
        ("out_of_range", "OUT_OF_RANGE"),
    ],
)
def test_a_spoilt_answer_ends_in_its_state(fault: Fault, state: str) -> None:
    outcome = call_with_fault(fault)

    assert interpret(outcome, item_text="x", scale="likert").state == state


def test_retry_after_of_a_429_is_kept() -> None:
    assert call_with_fault("rate_limited", retry_after="7").retry_after_s == 7.0


def test_a_redirect_is_not_followed() -> None:
    with running(FakeProviderSettings()) as second:
        faults = FaultRates({"redirect": 1.0})
        with running(FakeProviderSettings(faults=faults, redirect_to=f"{second}/chat/completions")) as first:
            [outcome] = call(first, make_request())
        counts = stats(second)

    assert (outcome.kind, outcome.http_status) == ("bad_request", 307)
    assert (counts["calls"], counts["other_calls"]) == (0, 0)


def test_a_slow_answer_ends_at_the_read_deadline() -> None:
    deadlines = Deadlines(connect_s=1, read_s=0.3, total_s=5)
    with running(FakeProviderSettings(faults=FaultRates({"slow": 1.0}))) as base_url:
        [outcome] = call(base_url, make_request(), deadlines=deadlines)

    assert (outcome.kind, outcome.detail) == ("timeout", "connect or read deadline")
    assert outcome.latency_ms < 2000


def test_a_dripping_answer_ends_at_the_total_deadline() -> None:
    deadlines = Deadlines(connect_s=1, read_s=1, total_s=0.6)
    with running(FakeProviderSettings(faults=FaultRates({"endless": 1.0}))) as base_url:
        [outcome] = call(base_url, make_request(), deadlines=deadlines)

    assert (outcome.kind, outcome.detail) == ("timeout", "total deadline")


def test_a_dripping_answer_also_ends_at_the_cap() -> None:
    with running(FakeProviderSettings(faults=FaultRates({"endless": 1.0}))) as base_url:
        [outcome] = call(base_url, make_request(), reply_cap_bytes=25)

    assert (outcome.kind, outcome.detail) == ("bad_reply", "longer than 25 bytes")


def test_a_client_is_usable_after_a_refused_reply() -> None:
    with running(FakeProviderSettings(faults=FaultRates({"huge": 0.5}), huge_bytes=3_000_000)) as base_url:
        outcomes = call(
            base_url, *[make_request(f"Answer {number}.") for number in range(12)], max_connections=2
        )

    assert {outcome.kind for outcome in outcomes} == {"ok", "bad_reply"}


def test_a_refused_connection_is_a_network_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    [outcome] = call(f"http://127.0.0.1:{port}/v1", make_request())

    assert (outcome.kind, outcome.http_status) == ("network", None)


def test_a_name_that_does_not_resolve_is_a_network_fault() -> None:
    [outcome] = call("http://nowhere.invalid/v1", make_request())

    assert outcome.kind == "network"


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (b"", "network"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{", "network"),
        (b"SSH-2.0-server\r\n", "bad_reply"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{]", "bad_reply"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\r\nxx",
            "bad_reply",
        ),
    ],
    ids=["closed", "cut", "not-http", "broken-json", "compressed"],
)
def test_a_broken_exchange_becomes_its_outcome(reply: bytes, kind: str) -> None:
    with raw_server(reply) as (base_url, _):
        [outcome] = call(base_url, make_request())

    assert outcome.kind == kind


@pytest.mark.parametrize("encoding", ["hex", "zlib", "rot13", "utf-16", "idna"])
def test_a_failure_is_read_as_json_whatever_encoding_it_names(encoding: str) -> None:
    body = b'{"error": {"code": "overloaded"}}'
    head = f"Content-Type: application/json; charset={encoding}\r\nContent-Length: {len(body)}\r\n\r\n"

    with raw_server(b"HTTP/1.1 500 Error\r\n" + head.encode() + body) as (base_url, _):
        [outcome] = call(base_url, make_request())

    assert (outcome.kind, outcome.detail) == ("server", "HTTP 500 overloaded")


def test_only_needed_headers_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "marker-organisation")
    monkeypatch.setenv("OPENAI_API_KEY", "marker-other-key")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Marker: 1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    with raw_server(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n") as (base_url, seen):
        call(base_url, make_request())

    first, *lines = seen[0].partition(b"\r\n\r\n")[0].decode().splitlines()
    headers = {name.casefold(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    needed = "host accept accept-encoding authorization content-length content-type user-agent"
    assert first == "POST /v1/chat/completions HTTP/1.1"
    assert sorted(headers) == sorted(needed.split())
    assert headers["authorization"] == f"Bearer {MARKER_KEY}"
    assert headers["accept-encoding"] == "identity"


def test_a_dead_key_is_auth() -> None:
    with running(FakeProviderSettings(dead_key=True)) as base_url:
        [outcome] = call(base_url, make_request())

    assert (outcome.kind, outcome.http_status, outcome.detail) == ("auth", 401, "HTTP 401 invalid_api_key")


@pytest.mark.parametrize("value", [None, "", "  ", "two\nlines", "schlüssel"])
def test_an_unusable_key_is_auth_without_a_call(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    if value is not None:
        monkeypatch.setenv(KEY_VARIABLE, value)

    with running(FakeProviderSettings()) as base_url:
        [outcome] = call(base_url, make_request())
        counts = stats(base_url)

    assert (outcome.kind, counts["calls"]) == ("auth", 0)
    assert KEY_VARIABLE in outcome.detail


def test_a_key_is_read_for_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(base_url: str) -> list[str]:
        async with JudgeClient(make_endpoint(base_url), deadlines=QUICK) as client:
            first = await client.complete(make_request())
            monkeypatch.setenv(KEY_VARIABLE, "another")
            second = await client.complete(make_request())
            return [first.kind, second.kind]

    with running(FakeProviderSettings(required_key=MARKER_KEY)) as base_url:
        assert asyncio.run(run(base_url)) == ["ok", "auth"]


def test_the_key_is_in_no_log_outcome_or_representation(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    outcomes: list[CallOutcome] = []
    for settings in (FakeProviderSettings(), FakeProviderSettings(dead_key=True)):
        with running(settings) as base_url:
            outcomes += call(base_url, make_request())
    outcomes += call("http://127.0.0.1:9/v1", make_request())

    client = JudgeClient(make_endpoint("http://127.0.0.1:9/v1"))

    assert [outcome.kind for outcome in outcomes] == ["ok", "auth", "network"]
    assert MARKER_KEY not in caplog.text
    assert MARKER_KEY not in repr(outcomes) + repr(client) + repr(vars(client))


def test_prompt_and_answer_are_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    with running(FakeProviderSettings()) as base_url:
        call(base_url, make_request("marker-response"))

    assert "marker-response" not in caplog.text


def test_a_lone_surrogate_is_encoding_without_a_call() -> None:
    with running(FakeProviderSettings()) as base_url:
        [outcome] = call(base_url, make_request("half a \ud83d sign"))
        counts = stats(base_url)

    assert (outcome.kind, counts["calls"]) == ("encoding", 0)


@pytest.mark.parametrize("parameter", ["temperature", "max_tokens", "response_format"])
def test_a_refused_parameter_is_named_and_can_be_left_out(parameter: str) -> None:
    request = make_request(response_format={"type": "json_object"})
    with running(FakeProviderSettings(rejects=(parameter,))) as base_url:
        [refused] = call(base_url, request)
        adapted = make_request(
            response_format={"type": "json_object"}, capabilities=Capabilities().without(parameter)
        )
        [accepted] = call(base_url, adapted)

    assert (refused.kind, refused.http_status, refused.rejected_parameter) == ("bad_request", 400, parameter)
    assert accepted.kind == "ok"


def test_preflight_sends_no_optional_parameter() -> None:
    async def run(base_url: str) -> CallOutcome:
        async with JudgeClient(make_endpoint(base_url), deadlines=QUICK) as client:
            return await client.preflight("gpt-5.4")

    with running(FakeProviderSettings(rejects=("temperature", "max_tokens"))) as base_url:
        outcome = asyncio.run(run(base_url))

    assert (outcome.kind, outcome.text) == ("ok", "OK")


@pytest.mark.parametrize("uses_environment_proxies", [False, True], ids=["direct", "no proxy is set"])
def test_a_public_name_that_leads_to_a_private_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, uses_environment_proxies: bool
) -> None:
    async def resolve(*args: object, **kwargs: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 443))]

    async def run() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
        endpoint = make_endpoint("https://judge.example.org/v1", allow_private=False)
        async with JudgeClient(endpoint, uses_environment_proxies=uses_environment_proxies):
            pass

    monkeypatch.setenv("NO_PROXY", "*")

    with pytest.raises(EndpointError, match="not public"):
        asyncio.run(run())


def test_complete_outside_of_its_context_is_a_programming_error() -> None:
    client = JudgeClient(make_endpoint("http://127.0.0.1:9/v1"))

    with pytest.raises(RuntimeError, match="async with"):
        asyncio.run(client.complete(make_request()))


def test_a_transport_of_a_unit_test_takes_the_place_of_the_network() -> None:
    transport = httpx2.MockTransport(lambda request: httpx2.Response(408))

    [outcome] = call("https://judge.example.org/v1", make_request(), transport=transport)

    assert (outcome.kind, outcome.http_status) == ("timeout", 408)
