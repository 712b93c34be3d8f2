"""Turns what a provider sent into an outcome. Plain bytes and values in; no SDK, no network."""

import json
import re
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from judging.llm.calls import SIMULATED_FINGERPRINT, CallKind, CallOutcome, SentRequest

RETRY_AFTER_MOST_S = 86_400.0

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z_.]{0,49}")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?")
# What providers call a dead key or an empty account, and a blocked text, in their codes and messages.
_KEY_WORDS = re.compile(r"api[ _-]?key|authenticat|unauthori[sz]ed|account|billing|credit|quota")
_CONTENT_WORDS = re.compile(
    r"content[ _-]?(?:management[ _-])?(?:policy|filter)|usage (?:guidelines|polic)|policy_violation"
    r"|safety|moderation|prohibited_content|responsible_?ai"
)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class ReplyRefused(Exception):
    """The reply was refused while it arrived. Not shown to anyone; it becomes a `bad_reply`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def capped(chunks: AsyncIterable[bytes], *, cap_bytes: int) -> AsyncIterator[bytes]:
    """The chunks as they come, until more than the cap has come.

    Raises:
        ReplyRefused: the reply is longer than the cap.
    """
    seen = 0
    async for chunk in chunks:
        seen += len(chunk)
        if seen > cap_bytes:
            raise ReplyRefused(f"longer than {cap_bytes} bytes")
        yield chunk


def read_completion(*, status: int, content_type: str, content: bytes) -> CallOutcome:
    """Read a reply with a success status.

    A success can still be no answer: an HTML page, broken JSON, no choices. All are `bad_reply`. A
    `content` of null or "" is an answer (`text` None or ""), as its finish reason may say why.
    """
    if content_type and "json" not in content_type.casefold():
        return _bad_reply(status, "not JSON by its content type")
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError):
        return _bad_reply(status, "broken JSON")
    if not isinstance(reply, dict):
        return _bad_reply(status, "not a JSON object")
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        return _bad_reply(status, "no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        return _bad_reply(status, "no message")
    text = _join_text(message.get("content"))
    if text is not None and not isinstance(text, str):
        return _bad_reply(status, "content is no text")
    usage = reply.get("usage")
    counts: Mapping[str, Any] = usage if isinstance(usage, dict) else {}
    return CallOutcome(
        kind="ok",
        http_status=status,
        text=_storable(text),
        finish_reason=short_text(choice.get("finish_reason")),
        refusal=_storable(message.get("refusal")) if isinstance(message.get("refusal"), str) else None,
        tokens_in=read_count(counts.get("prompt_tokens")),
        tokens_out=read_count(counts.get("completion_tokens")),
        model=short_text(reply.get("model")),
        is_simulated=reply.get("system_fingerprint") == SIMULATED_FINGERPRINT,
    )


def read_failure(
    *,
    status: int,
    headers: Mapping[str, str],
    body: object,
    request: SentRequest,
    now: datetime | None = None,
) -> CallOutcome:
    """Read a reply with a status that is no success.

    The provider's message is not repeated: it may hold the key or the prompt. Its short error code is.

    Args:
        status: 300 and above.
        headers: looked up in lower case.
        body: decoded JSON, or text, or None.
        request: what was sent, to tell which optional parameter the refusal names.
        now: for a Retry-After date; default is the present.
    """
    error = _error_object(body)
    names = (_identifier(error.get(key)) for key in ("code", "type", "status"))
    code = next((name for name in names if name is not None), None)
    is_key_refused = _is_key_refused(error)
    is_filtered = status in (400, 403) and not is_key_refused and _says(_CONTENT_WORDS, error)
    kind: CallKind = "auth" if is_key_refused else "bad_request" if is_filtered else _kind_of(status)
    return CallOutcome(
        kind=kind,
        http_status=status,
        retry_after_s=parse_retry_after(headers.get("retry-after"), now=now),
        rejected_parameter=_rejected_parameter(error, request) if status == 400 else None,
        is_filtered=is_filtered,
        is_forbidden=status == 403 and kind == "auth" and not _says(_KEY_WORDS, error),
        detail=f"HTTP {status} {code}" if code else f"HTTP {status}",
    )


def read_failure_body(content: bytes) -> object:
    """The decoded JSON of a failure's body; its text when it is none. As UTF-8, whatever it says it is."""
    text = content.decode("utf-8", errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def parse_retry_after(value: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds to wait by a Retry-After header, in seconds or as an HTTP date; None if absent or senseless.

    A date in the past is 0; anything over a day is a day.
    """
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), RETRY_AFTER_MOST_S)
    try:
        until = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return min(max((until - (now or datetime.now(UTC))).total_seconds(), 0.0), RETRY_AFTER_MOST_S)


def read_count(value: object) -> int | None:
    """A number of tokens as a provider states it; None when it is none that could be stored."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < 2**31 else None


def short_text(value: object) -> str | None:
    """The first 100 characters of a text that can be stored; None for anything else."""
    return _storable(value[:100]) if isinstance(value, str) else None


def _kind_of(status: int) -> CallKind:
    if status == 429:
        return "rate_limited"
    # 402 is an account without money: like a dead key it fails every call until someone acts.
    if status in (401, 402, 403):
        return "auth"
    if status == 408:
        return "timeout"
    if status == 409 or status >= 500:
        return "server"
    return "bad_request"


def _is_key_refused(error: Mapping[str, Any]) -> bool:
    """A dead key or an empty account that comes under another status: Google's 400, OpenAI's 429."""
    message = str(error.get("message"))[:500].casefold()
    return error.get("code") == "insufficient_quota" or "api key not valid" in message


def _says(words: re.Pattern[str], error: Mapping[str, Any]) -> bool:
    """Whether a failure's codes or its message hold one of the words."""
    texts = (error.get(key) for key in ("code", "type", "status", "message"))
    return any(isinstance(text, str) and words.search(text[:500].casefold()) for text in texts)


def _rejected_parameter(error: Mapping[str, Any], request: SentRequest) -> str | None:
    """The optional parameter of this request that a 400 names: in `param`, else first in its message."""
    sent = request.parameters()
    named = error.get("param")
    if isinstance(named, str) and named.strip():
        name = re.split(r"[.\[]", named.strip(), maxsplit=1)[0]
        return name if name in sent else None
    message = error.get("message")
    if not isinstance(message, str):
        return None
    found = {
        match.start(): name
        for name in sent
        if (match := _name_in_message(name).search(message[:2000])) is not None
    }
    return found[min(found)] if found else None


def _name_in_message(parameter: str) -> re.Pattern[str]:
    """A parameter as a refusal may call it: by its name, or by what it holds."""
    names = f"{parameter}|json_schema" if parameter == "response_format" else parameter
    return re.compile(rf"(?<![A-Za-z_])(?:{names})(?![A-Za-z_])")


def _error_object(body: object) -> Mapping[str, Any]:
    """The `error` of a failure body, also where it stands in a list or is the body itself."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    error = body.get("error", body)
    return error if isinstance(error, dict) else {"message": error}


def _join_text(content: object) -> object:
    """The text of a message whose content is a list of parts; other content as it is."""
    if not isinstance(content, list):
        return content
    texts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


def _storable(text: str | None) -> str | None:
    """The text without NUL and lone surrogates, which neither database can hold."""
    return None if text is None else _UNSTORABLE.sub("\ufffd", text)


def _identifier(value: object) -> str | None:
    """A provider's error code: letters and underscores only, so that nothing shaped like a key passes."""
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else None


def _bad_reply(status: int, detail: str) -> CallOutcome:
    return CallOutcome(kind="bad_reply", http_status=status, detail=detail)
