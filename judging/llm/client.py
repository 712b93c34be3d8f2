"""One call to a provider, and nothing more: no retry, no redirect, no environment proxy, no wait without end.

The only module that imports the openai SDK, inside `__aenter__`, as it takes a second to load.
"""

import asyncio
import functools
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from judging.llm.addresses import refuse_private_resolution
from judging.llm.calls import CallOutcome, CallRequest, SentRequest
from judging.llm.embedding_calls import EmbeddingOutcome, EmbeddingRequest, read_embeddings
from judging.llm.endpoints import Endpoint
from judging.llm.keys import read_key
from judging.llm.proxies import effective_proxy
from judging.llm.replies import ReplyRefused, capped, read_completion, read_failure

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

REPLY_CAP_BYTES = 1_000_000
PREFLIGHT_TEXT = "Reply with the single word OK."

# Of the SDK's headers only these leave the machine: its telemetry and whatever OPENAI_ORG_ID or
# OPENAI_CUSTOM_HEADERS hold would otherwise go to every provider.
_SENT_HEADERS = frozenset({b"host", b"accept", b"content-type", b"content-length", b"user-agent"})


@dataclass(frozen=True, kw_only=True)
class Deadlines:
    """How long one call may take. `total_s` bounds a reply that drips for ever."""

    connect_s: float = 10.0
    read_s: float = 120.0
    total_s: float = 180.0


class JudgeClient:
    """Calls one endpoint. Make it, and use it, inside one event loop: `async with JudgeClient(...)`.

    The key is read from the environment for each call and put into that request's header; it is
    neither kept here nor part of any outcome.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        deadlines: Deadlines | None = None,
        reply_cap_bytes: int = REPLY_CAP_BYTES,
        max_connections: int | None = None,
        uses_environment_proxies: bool = False,
        transport: "httpx2.AsyncBaseTransport | None" = None,
    ) -> None:
        """
        Args:
            endpoint: where to call.
            deadlines: connect, read and total; the defaults are 10, 120 and 180 seconds.
            reply_cap_bytes: a longer reply is refused while it arrives.
            max_connections: default is the endpoint's calls in flight and 8 more.
            uses_environment_proxies: only when the deployer allows it.
            transport: takes the place of the network in unit tests.
        """
        self._endpoint = endpoint
        self._deadlines = deadlines or Deadlines()
        self._reply_cap_bytes = reply_cap_bytes
        self._max_connections = max_connections or endpoint.max_in_flight + 8
        self._uses_environment_proxies = uses_environment_proxies
        self._transport = transport
        self._sdk: AsyncOpenAI | None = None

    async def __aenter__(self) -> Self:
        """Open the connection pool.

        Raises:
            EndpointError: the host's name leads to an address that is not public, and the endpoints
                file does not allow that.
        """
        import httpx2
        from openai import AsyncOpenAI, DefaultAioHttpClient

        endpoint = self._endpoint
        # A proxy resolves the name itself.
        proxy = effective_proxy(endpoint.base_url, uses_environment_proxies=self._uses_environment_proxies)
        if not (endpoint.allow_private or proxy or self._transport):
            await refuse_private_resolution(endpoint.base_url, place=f"endpoint {endpoint.name!r}")
        http_client = DefaultAioHttpClient(
            transport=self._transport,
            trust_env=self._uses_environment_proxies,
            follow_redirects=False,
            timeout=httpx2.Timeout(
                connect=self._deadlines.connect_s,
                read=self._deadlines.read_s,
                write=self._deadlines.read_s,
                pool=self._deadlines.total_s,
            ),
            limits=httpx2.Limits(
                max_connections=self._max_connections, max_keepalive_connections=self._max_connections
            ),
            event_hooks={"request": [self._set_headers], "response": [self._cap_reply]},
        )
        self._sdk = AsyncOpenAI(
            api_key="read-per-call", base_url=endpoint.base_url, max_retries=0, http_client=http_client
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sdk is not None:
            await self._sdk.close()
            self._sdk = None

    async def complete(self, request: CallRequest) -> CallOutcome:
        """Make one chat call; every failure of it is an outcome, never an exception.

        A missing key is `auth` and a text that cannot be sent as UTF-8 is `encoding`; neither reaches
        the network. Must be called inside `async with`.
        """
        if self._sdk is None:
            raise RuntimeError("JudgeClient.complete is used outside of `async with`.")
        started = time.perf_counter()
        outcome = await self._attempt(self._sdk, request)
        return replace(outcome, latency_ms=_milliseconds_since(started))

    async def embed(self, request: EmbeddingRequest) -> EmbeddingOutcome:
        """Make one call for the vectors of some texts; its failures are outcomes, as those of `complete`.

        Make the client with `embedding_calls.reply_cap_bytes`: vectors are longer than answers.
        """
        if self._sdk is None:
            raise RuntimeError("JudgeClient.embed is used outside of `async with`.")
        started = time.perf_counter()
        reply = await self._exchange(self._sdk, "/embeddings", request)
        if isinstance(reply, CallOutcome):
            outcome = EmbeddingOutcome(call=reply)
        else:
            outcome = read_embeddings(
                status=reply.status_code,
                content_type=reply.headers.get("content-type", ""),
                content=reply.content,
                request=request,
            )
        return replace(outcome, call=replace(outcome.call, latency_ms=_milliseconds_since(started)))

    async def preflight(self, model: str) -> CallOutcome:
        """One tiny call that tells a dead key, an unknown model or an unreachable host before a pass.

        It sends no optional parameter, so that a model which refuses one does not fail here.
        """
        messages = [{"role": "user", "content": PREFLIGHT_TEXT}]
        return await self.complete(CallRequest(model=model, messages=messages, temperature=None))

    async def _attempt(self, sdk: "AsyncOpenAI", request: CallRequest) -> CallOutcome:
        reply = await self._exchange(sdk, "/chat/completions", request)
        if isinstance(reply, CallOutcome):
            return reply
        return read_completion(
            status=reply.status_code,
            content_type=reply.headers.get("content-type", ""),
            content=reply.content,
        )

    async def _exchange(
        self, sdk: "AsyncOpenAI", path: str, request: SentRequest
    ) -> "httpx2.Response | CallOutcome":
        """Post a request; the provider's reply with a success status, or what went wrong."""
        import aiohttp
        import httpx2
        import openai

        if self._endpoint.key_variable is not None and read_key(self._endpoint.key_variable) is None:
            name = self._endpoint.key_variable
            return CallOutcome(kind="auth", detail=f"{name} is not set or is no usable key")
        try:
            body = json.dumps(request.body(), ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        except UnicodeEncodeError:
            return CallOutcome(kind="encoding", detail="a text holds a lone surrogate")
        try:
            # `chat.completions.create` walks the typed message union for 0.7 ms a call; a body of our
            # own and the bare response do not.
            async with asyncio.timeout(self._deadlines.total_s):
                return await sdk.post(path, cast_to=httpx2.Response, content=body)
        except TimeoutError:
            return CallOutcome(kind="timeout", detail="total deadline")
        except openai.APIStatusError as error:
            return read_failure(
                status=error.response.status_code,
                headers=error.response.headers,
                body=error.body,
                request=request,
            )
        except (
            openai.APIConnectionError,
            httpx2.HTTPError,
            aiohttp.ClientError,
            ReplyRefused,
            OSError,
        ) as error:
            return _read_transport_fault(error)

    async def _set_headers(self, request: "httpx2.Request") -> None:
        import httpx2

        # Made anew and from bytes: taking headers away one by one walks and decodes the list each time.
        headers = [(name, value) for name, value in request.headers.raw if name.lower() in _SENT_HEADERS]
        # The cap counts bytes as they arrive; a compressed reply could unfold to any size behind it.
        headers.append((b"Accept-Encoding", b"identity"))
        variable = self._endpoint.key_variable
        key = read_key(variable) if variable is not None else None
        if key is not None:
            headers.append((b"Authorization", f"Bearer {key}".encode("ascii")))
        request.headers = httpx2.Headers(headers)

    async def _cap_reply(self, response: "httpx2.Response") -> None:
        import httpx2

        encoding = response.headers.get("content-encoding", "identity")
        if encoding.strip().casefold() not in ("identity", ""):
            raise ReplyRefused("compressed although identity was asked for")
        # The SDK reads a failure as text. Of the encodings that a reply may name, some (zlib, bz2) would
        # unfold to any size behind the cap, and some (hex, rot13) raise.
        response.encoding = "utf-8"
        if not isinstance(response.stream, httpx2.AsyncByteStream):
            raise TypeError("The reply of an asynchronous call has no asynchronous stream.")
        response.stream = _capped_stream()(response.stream, self._reply_cap_bytes)


@functools.cache
def _capped_stream() -> "Callable[[httpx2.AsyncByteStream, int], httpx2.AsyncByteStream]":
    """The class of capped streams, made once: httpx2 is loaded late, and a class a call is costly."""
    import httpx2

    class Capped(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream, cap_bytes: int) -> None:
            self._inner = inner
            self._cap_bytes = cap_bytes

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in capped(self._inner, cap_bytes=self._cap_bytes):
                yield chunk

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Capped


def _milliseconds_since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)


def _read_transport_fault(error: BaseException) -> CallOutcome:
    """What a failed exchange was, from its causes.

    The SDK's aiohttp transport reports a dropped connection as a connect time-out, so the class that
    arrives here does not decide; the error below it does.
    """
    import aiohttp
    import httpx2

    causes = _causes(error)
    for cause in causes:
        if isinstance(cause, ReplyRefused):
            return CallOutcome(kind="bad_reply", detail=cause.reason)
    below = next((cause for cause in causes if isinstance(cause, aiohttp.ClientError)), None)
    if isinstance(below, TimeoutError) or (below is None and any(_is_timeout(cause) for cause in causes)):
        return CallOutcome(kind="timeout", detail="connect or read deadline")
    if isinstance(below, aiohttp.ClientResponseError):
        return CallOutcome(kind="bad_reply", detail="not HTTP")
    if below is None and any(
        isinstance(cause, (httpx2.ProtocolError, httpx2.DecodingError)) for cause in causes
    ):
        return CallOutcome(kind="bad_reply", detail="not HTTP")
    return CallOutcome(kind="network", detail=type(below or causes[-1]).__name__)


def _is_timeout(error: BaseException) -> bool:
    import httpx2

    return isinstance(error, (TimeoutError, httpx2.TimeoutException))


def _causes(error: BaseException) -> list[BaseException]:
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and len(chain) < 10:
        chain.append(current)
        current = current.__cause__
    return chain
