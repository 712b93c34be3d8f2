"""An OpenAI-compatible provider on this machine, for the demo and for tests of calls as they really are.

It answers chat, embeddings and models, shows faults at set rates, and counts at `/stats` what it was
asked. Everything scored with it is simulated.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judging.llm.calls import SIMULATED_FINGERPRINT
from judging.llm.simulated_embeddings import SIMULATED_DIMENSIONS, simulate_embeddings
from judging.llm.simulated_ledger import Ledger
from judging.llm.simulated_replies import Fault, FaultRates, Item, answer_item, find_question
from judging.llm.simulated_scores import fraction, hash_item, hash_text
from judging.llm.tokens import estimate_tokens

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class FakeProviderSettings:
    """How the provider behaves.

    `truth` maps the SHA-256 of a response's text to a planted severity 1-5. `revoke_after` answers
    every call with 401 once that many items were answered, `revoke_embeddings_after` every call for
    embeddings beyond that many; `dead_key` does from the start, and
    `required_key` does for any other key. A parameter in `rejects` is refused with a 400 that names it,
    one in `model_rejects` for the models named there.
    `answer` takes the place of the simulated judges: it gets a judging request and gives the reply's text.
    """

    truth: Mapping[str, int] = field(default_factory=dict)
    faults: FaultRates = field(default_factory=FaultRates)
    latency_ms: int = 0
    jitter_ms: int = 0
    slow_ms: int = 5_000
    retry_after: str = "1"
    redirect_to: str = "http://127.0.0.1:9/"
    huge_bytes: int = 10_000_000
    revoke_after: int | None = None
    revoke_embeddings_after: int | None = None
    dead_key: bool = False
    required_key: str | None = None
    rejects: tuple[str, ...] = ()
    model_rejects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    answer: Callable[[Mapping[str, Any]], str] | None = None


def create_app(settings: FakeProviderSettings) -> "Starlette":
    """The provider as an ASGI application, with counts of its own at `/stats` and `app.state.ledger`."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    ledger = Ledger()

    async def chat(request: "Request") -> "Response":
        ledger.in_flight += 1
        ledger.peak_in_flight = max(ledger.peak_in_flight, ledger.in_flight)
        try:
            response = await _answer_chat(request, settings, ledger)
        finally:
            ledger.in_flight -= 1
        ledger.by_status[str(response.status_code)] += 1
        return response

    async def embeddings(request: "Request") -> "Response":
        return await _answer_embeddings(request, settings, ledger)

    async def models(request: "Request") -> "Response":
        data = [{"id": "simulated", "object": "model", "created": 0, "owned_by": "simulated"}]
        return JSONResponse({"object": "list", "data": data})

    async def stats(request: "Request") -> "Response":
        return JSONResponse(ledger.as_json())

    app = Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/embeddings", embeddings, methods=["POST"]),
            Route("/v1/models", models),
            Route("/stats", stats),
        ]
    )
    app.state.ledger = ledger
    return app


def run(settings: FakeProviderSettings, *, port: int, on_ready: Callable[[str], None]) -> None:
    """Serve on 127.0.0.1 until interrupted.

    Args:
        settings: how to behave.
        port: 0 takes any free one.
        on_ready: called with the base URL once connections are accepted.
    """
    with _listen(port) as listener:
        on_ready(_base_url(listener))
        # uvicorn shuts down in order on Ctrl-C and then raises it again.
        with suppress(KeyboardInterrupt):
            _make_server(settings).run(sockets=[listener])


@contextmanager
def running(settings: FakeProviderSettings, *, port: int = 0) -> Iterator[str]:
    """Serve from a thread for the length of a `with` block, by default on a free port; gives the base URL."""
    with _listen(port) as listener:
        server = _make_server(settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield _base_url(listener)
        finally:
            server.should_exit = True
            server.force_exit = True
            thread.join(timeout=10)


async def _answer_chat(request: "Request", settings: FakeProviderSettings, ledger: Ledger) -> "Response":
    body = await request.json()
    item = find_question(body.get("messages") or [])
    if item is None:
        ledger.other_calls += 1
    else:
        ledger.calls += 1
    if _is_refused(request, settings, ledger):
        return _error(401, "invalid_api_key", "Incorrect API key provided.")
    refused = (*settings.rejects, *settings.model_rejects.get(str(body.get("model")), ()))
    rejected = next((name for name in refused if name in body), None)
    if rejected is not None:
        message = f"Unsupported parameter: '{rejected}' is not supported with this model."
        return _error(400, "unsupported_parameter", message, param=rejected)
    if item is None:
        await asyncio.sleep(settings.latency_ms / 1000)
        return _completion(body, "OK")
    return await _answer_question(body, item, settings, ledger)


async def _answer_embeddings(
    request: "Request", settings: FakeProviderSettings, ledger: Ledger
) -> "Response":
    from starlette.responses import JSONResponse

    ledger.embedding_calls += 1
    body = await request.json()
    is_revoked = settings.revoke_embeddings_after is not None and (
        ledger.embedding_calls > settings.revoke_embeddings_after
    )
    if is_revoked or _is_refused(request, settings, ledger):
        return _error(401, "invalid_api_key", "Incorrect API key provided.")
    given = body.get("input")
    texts = [str(text) for text in given] if isinstance(given, list) else [str(given)]
    model, texts_hash = str(body.get("model")), hash_item(texts)
    attempt = ledger.attempts[model, texts_hash]
    ledger.attempts[model, texts_hash] += 1
    fault = settings.faults.draw(model=model, item_hash=texts_hash, attempt=attempt)
    await asyncio.sleep(settings.latency_ms / 1000)
    refusal = _refuse_by(fault, settings)
    if refusal is not None:
        return refusal
    ledger.embedded.update((model, hash_text(text)) for text in texts)
    n_tokens = sum(estimate_tokens(text) for text in texts)
    return JSONResponse(
        {
            "object": "list",
            "model": model,
            "system_fingerprint": SIMULATED_FINGERPRINT,
            "data": simulate_embeddings(texts, n_dimensions=body.get("dimensions") or SIMULATED_DIMENSIONS),
            "usage": {"prompt_tokens": n_tokens, "total_tokens": n_tokens},
        }
    )


async def _answer_question(
    body: Mapping[str, Any], item: Item, settings: FakeProviderSettings, ledger: Ledger
) -> "Response":
    from starlette.responses import StreamingResponse

    model = str(body.get("model"))
    key = (model, item.item_hash)
    attempt = ledger.attempts[key]
    ledger.attempts[key] += 1
    fault = settings.faults.draw(model=model, item_hash=item.item_hash, attempt=attempt)
    if fault is not None:
        ledger.faults[fault] += 1
    jitter = settings.jitter_ms * fraction(model, item.item_hash, str(attempt), "latency")
    await asyncio.sleep((settings.latency_ms + jitter + (settings.slow_ms if fault == "slow" else 0)) / 1000)
    if settings.answer is not None and item.response_hash is not None:
        text = settings.answer(body)
    else:
        n_before = ledger.rollouts[key]
        text = answer_item(body, item, truth=settings.truth, fault=fault, n_before=n_before)
    refusal = _refuse_by(fault, settings)
    if refusal is not None:
        return refusal
    match fault:
        case "huge":
            return _completion(body, "x" * settings.huge_bytes)
        case "endless":
            return StreamingResponse(_drip(), media_type="application/json")
        case "empty":
            return _completion(body, "")
        case "filtered":
            return _completion(body, None, finish_reason="content_filter")
        case "truncated":
            return _completion(body, text, finish_reason="length")
    # A target model that declines has answered, and none of its texts is malformed.
    if fault in (None, "slow") or item.response_hash is None:
        ledger.count_answer(model, item)
    return _completion(body, text)


def _refuse_by(fault: Fault | None, settings: FakeProviderSettings) -> "Response | None":
    """The reply of a fault that any kind of call can meet; None for the others."""
    from starlette.responses import HTMLResponse, RedirectResponse

    match fault:
        case "rate_limited":
            return _error(
                429, "rate_limit_exceeded", "Slow down.", headers={"Retry-After": settings.retry_after}
            )
        case "server_error":
            return _error(500, "server_error", "The server had an error.")
        case "forbidden":
            return _error(403, "request_forbidden", "This request is not allowed.")
        case "blocked":
            return _error(403, "content_policy_violation", "This text is not accepted.")
        case "redirect":
            return RedirectResponse(settings.redirect_to, status_code=307)
        case "html":
            return HTMLResponse("<html><body>Please log in to this network.</body></html>")
    return None


def _is_refused(request: "Request", settings: FakeProviderSettings, ledger: Ledger) -> bool:
    if settings.dead_key:
        return True
    if settings.revoke_after is not None and ledger.answers.total() >= settings.revoke_after:
        return True
    given = request.headers.get("authorization")
    return settings.required_key is not None and given != f"Bearer {settings.required_key}"


def _completion(body: Mapping[str, Any], text: str | None, *, finish_reason: str = "stop") -> "Response":
    from starlette.responses import JSONResponse

    n_in = sum(estimate_tokens(str(message.get("content") or "")) for message in body.get("messages") or [])
    n_out = estimate_tokens(text or "")
    message = {"role": "assistant", "content": text}
    return JSONResponse(
        {
            "id": "chatcmpl-simulated",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "system_fingerprint": SIMULATED_FINGERPRINT,
            "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
            "usage": {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out},
        }
    )


def _error(
    status: int,
    code: str,
    message: str,
    *,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> "Response":
    from starlette.responses import JSONResponse

    error = {"message": message, "type": "simulated", "code": code, "param": param}
    return JSONResponse({"error": error}, status_code=status, headers=headers)


async def _drip() -> AsyncIterator[bytes]:
    """A reply that never ends: white space is valid before a JSON document, for ever."""
    while True:
        yield b" " * 10
        await asyncio.sleep(0.05)


def _make_server(settings: FakeProviderSettings) -> "uvicorn.Server":
    import uvicorn

    config = uvicorn.Config(
        create_app(settings), log_level="warning", access_log=False, lifespan="off", timeout_keep_alive=75
    )
    return uvicorn.Server(config)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(2048)
    except OSError:
        listener.close()
        raise
    return listener


def _base_url(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}/v1"
