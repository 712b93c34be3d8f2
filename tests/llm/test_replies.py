import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from judging.llm.calls import CallOutcome, CallRequest, Capabilities
from judging.llm.replies import parse_retry_after, read_completion, read_failure

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
REQUEST = CallRequest(model="m", messages=[{"role": "user", "content": "Hello"}], max_tokens=100)


def completion(**changes: Any) -> bytes:
    message = {"role": "assistant", "content": "Fine."}
    reply: dict[str, Any] = {"choices": [{"message": message, "finish_reason": "stop"}]}
    return json.dumps({**reply, **changes}).encode()


def read(content: bytes) -> CallOutcome:
    return read_completion(status=200, content_type="application/json", content=content)


def failure(status: int, error: object, request: CallRequest = REQUEST) -> Any:
    return read_failure(status=status, headers={}, body={"error": error}, request=request)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html></html>",
        b"{",
        b"[]",
        b"null",
        b"[" * 100_000,
        b"\xff\xfe",
        b'"text"',
        completion(choices=None),
        completion(choices=[]),
        completion(choices=[None]),
        completion(choices=[{"message": None}]),
        completion(choices=[{"message": {"content": 4}}]),
        completion(choices={"0": {}}),
        b'{"error": {"message": "busy"}}',
    ],
    ids=range(15),
)
def test_a_success_without_an_answer_is_a_bad_reply(content: bytes) -> None:
    outcome = read(content)

    assert (outcome.kind, outcome.text) == ("bad_reply", None)


def test_a_success_with_another_content_type_is_a_bad_reply() -> None:
    assert read_completion(status=200, content_type="text/html", content=completion()).kind == "bad_reply"


def test_an_answer_in_parts_is_joined() -> None:
    parts = [{"type": "text", "text": "Fi"}, {"type": "image"}, {"type": "text", "text": "ne."}]

    outcome = read_completion(
        status=200,
        content_type="application/json",
        content=completion(choices=[{"message": {"content": parts}}]),
    )

    assert outcome.text == "Fine."


def test_characters_that_no_database_holds_are_replaced() -> None:
    content = completion(choices=[{"message": {"content": "a\x00b\ud800c"}}])

    assert (
        read_completion(status=200, content_type="application/json", content=content).text
        == "a\ufffdb\ufffdc"
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 0}, (7, 0)),
        ({"prompt_tokens": -1, "completion_tokens": True}, (None, None)),
        ({"prompt_tokens": "7", "completion_tokens": 1.5}, (None, None)),
        (None, (None, None)),
        ([], (None, None)),
    ],
)
def test_usage_that_is_no_count_is_unknown(usage: object, expected: tuple[int | None, int | None]) -> None:
    outcome = read(completion(usage=usage))

    assert (outcome.tokens_in, outcome.tokens_out) == expected


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (307, "bad_request"),
        (400, "bad_request"),
        (401, "auth"),
        (402, "auth"),
        (403, "auth"),
        (404, "bad_request"),
        (408, "timeout"),
        (409, "server"),
        (413, "bad_request"),
        (422, "bad_request"),
        (429, "rate_limited"),
        (500, "server"),
        (503, "server"),
        (529, "server"),
    ],
)
def test_a_status_has_its_code(status: int, kind: str) -> None:
    assert failure(status, {"message": "no"}).kind == kind


@pytest.mark.parametrize(
    ("error", "parameter"),
    [
        ({"param": "temperature", "message": "no"}, "temperature"),
        ({"param": "messages", "message": "max_tokens"}, None),
        ({"param": "top_p", "message": "no"}, None),
        ({"message": "'max_tokens' is not supported. Use 'max_completion_tokens' instead."}, "max_tokens"),
        ({"message": "the temperatures are odd"}, None),
        ({"message": "response_format is unknown"}, None),
        ("temperature must be 1", "temperature"),
        ({"message": None, "param": 4}, None),
    ],
)
def test_only_a_parameter_that_was_sent_is_named(error: object, parameter: str | None) -> None:
    assert failure(400, error).rejected_parameter == parameter


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            400,
            {
                "code": 400,
                "status": "INVALID_ARGUMENT",
                "message": "API key not valid. Pass a valid one.",
            },
        ),
        (429, {"code": "insufficient_quota", "message": "You exceeded your current quota."}),
    ],
    ids=["google", "openai"],
)
def test_a_refused_key_under_another_status_is_auth(status: int, error: object) -> None:
    assert failure(status, error).kind == "auth"


@pytest.mark.parametrize(
    ("status", "error", "reading"),
    [
        (403, {"message": "no"}, ("auth", True, False)),
        (403, {"code": "unsupported_country_region_territory"}, ("auth", True, False)),
        (403, {"code": 403, "status": "PERMISSION_DENIED", "message": "Denied."}, ("auth", True, False)),
        (403, {"code": "invalid_api_key"}, ("auth", False, False)),
        (403, {"type": "authentication_error"}, ("auth", False, False)),
        (403, {"message": "Your API key was reported as leaked."}, ("auth", False, False)),
        (403, {"code": "content_policy_violation"}, ("bad_request", False, True)),
        (403, {"message": "Content violates usage guidelines."}, ("bad_request", False, True)),
        (400, {"code": "content_filter"}, ("bad_request", False, True)),
        (400, {"code": "invalid_request_error"}, ("bad_request", False, False)),
        (401, {"code": "content_filter"}, ("auth", False, False)),
        (402, {"message": "no"}, ("auth", False, False)),
    ],
)
def test_a_refusal_blames_the_key_or_perhaps_the_item_or_its_content(
    status: int, error: object, reading: tuple[str, bool, bool]
) -> None:
    outcome = failure(status, error)

    assert (outcome.kind, outcome.is_forbidden, outcome.is_filtered) == reading


@pytest.mark.parametrize(
    "error",
    [
        {"param": "response_format.json_schema", "message": "no"},
        {"message": "This model does not support json_schema."},
        {"message": "This response_format type is unavailable now."},
    ],
)
def test_a_refusal_of_the_schema_names_the_parameter_that_holds_it(error: object) -> None:
    outcome = failure(400, error, replace(REQUEST, response_format={"type": "json_object"}))

    assert outcome.rejected_parameter == "response_format"


def test_a_parameter_in_another_refusal_is_not_named() -> None:
    assert failure(422, {"param": "temperature"}).rejected_parameter is None


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"error": {"code": "model_not_found", "message": "marker"}}, "HTTP 404 model_not_found"),
        ({"error": {"code": 404, "status": "NOT_FOUND"}}, "HTTP 404 NOT_FOUND"),
        ([{"error": {"status": "NOT_FOUND"}}], "HTTP 404 NOT_FOUND"),
        ({"error": {"code": "sk-marker", "type": "key 4711"}}, "HTTP 404"),
        ("marker text", "HTTP 404"),
        (None, "HTTP 404"),
    ],
)
def test_the_detail_holds_the_providers_code_and_nothing_else_of_it(body: object, detail: str) -> None:
    assert read_failure(status=404, headers={}, body=body, request=REQUEST).detail == detail


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("0", 0.0),
        (" 12 ", 12.0),
        ("1.5", 1.5),
        ("999999999", 86_400.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:59:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400.0),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, now=NOW) == seconds


def test_capabilities_decide_what_is_sent() -> None:
    known = Capabilities().without("temperature").without("max_tokens")
    request = CallRequest(
        model="m", messages=[], max_tokens=9, response_format={"type": "x"}, capabilities=known
    )

    assert request.parameters() == {"max_completion_tokens": 9, "response_format": {"type": "x"}}
    assert known.without("max_completion_tokens").token_parameter is None


def test_capabilities_without_an_unknown_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="top_p"):
        Capabilities().without("top_p")
