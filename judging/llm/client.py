"""One call to a provider, and nothing more: no retry, no redirect, no environment proxy, no wait without end.

The only module that imports the openai SDK, inside `__aenter__`, as it takes a second to load. Of the SDK
it uses the HTTP client over aiohttp; requests are ours (docs/decisions/0013-requests-are-built-here.md).
"""

import asyncio
import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Self

from judging.llm.addresses import refuse_private_resolution
from judging.llm.calls import CallOutcome, CallRequest, SentRequest
from judging.llm.embedding_calls import EmbeddingOutcome, EmbeddingRequest, read_embeddings
from judging.llm.endpoints import Endpoint
from judging.llm.keys import read_key
from judging.llm.proxies import effective_proxy
from judging.llm.replies import ReplyRefused, capped, read_completion, read_failure, read_failure_body

if TYPE_CHECKING:
    import ssl

    import httpx2

REPLY_CAP_BYTES = 1_000_000
PREFLIGHT_TEXT = "Reply with the single word OK."

# All that is sent beside the key; a provider learns nothing else of this machine.
_HEADERS = (
    (b"Accept", b"application/json"),
    # The cap counts bytes as they arrive; a compressed reply could unfold to any size behind it.
    (b"Accept-Encoding", b"identity"),
    (b"Content-Type", b"application/json"),
    (b"User-Agent", b"carebench-web"),
)


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
        self._urls: dict[str, httpx2.URL] = {}
        self._timeouts = {
            "connect": self._deadlines.connect_s,
            "read": self._deadlines.read_s,
            "write": self._deadlines.read_s,
            "pool": self._deadlines.total_s,
        }
        self._http: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Open the connection pool.

        Raises:
            EndpointError: the host's name leads to an address that is not public, and the endpoints
                file does not allow that.
        """
        import httpx2
        from openai import DefaultAioHttpClient

        endpoint = self._endpoint
        # A proxy resolves the name itself.
        proxy = effective_proxy(endpoint.base_url, uses_environment_proxies=self._uses_environment_proxies)
        if not (endpoint.allow_private or proxy or self._transport):
            await refuse_private_resolution(endpoint.base_url, place=f"endpoint {endpoint.name!r}")
        self._http = DefaultAioHttpClient(
            transport=self._transport,
            verify=_tls_context(trust_env=self._uses_environment_proxies),
            trust_env=self._uses_environment_proxies,
            follow_redirects=False,
            limits=httpx2.Limits(
                max_connections=self._max_connections, max_keepalive_connections=self._max_connections
            ),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.aclose()
            self._http = None

    async def complete(self, request: CallRequest) -> CallOutcome:
        """Make one chat call; every failure of it is an outcome, never an exception.

        A missing key is `auth` and a text that cannot be sent as UTF-8 is `encoding`; neither reaches
        the network. Must be called inside `async with`.
        """
        if self._http is None:
            raise RuntimeError("JudgeClient.complete is used outside of `async with`.")
        started = time.perf_counter()
        outcome = await self._attempt(self._http, request)
        return replace(outcome, latency_ms=_milliseconds_since(started))

    async def embed(self, request: EmbeddingRequest) -> EmbeddingOutcome:
        """Make one call for the vectors of some texts; its failures are outcomes, as those of `complete`.

        Make the client with `embedding_calls.reply_cap_bytes`: vectors are longer than answers.
        """
        if self._http is None:
            raise RuntimeError("JudgeClient.embed is used outside of `async with`.")
        started = time.perf_counter()
        reply = await self._exchange(self._http, "/embeddings", request)
        if isinstance(reply, CallOutcome):
            outcome = EmbeddingOutcome(call=reply)
        else:
            outcome = read_embeddings(
                status=reply.status,
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

    async def _attempt(self, http: "httpx2.AsyncClient", request: CallRequest) -> CallOutcome:
        reply = await self._exchange(http, "/chat/completions", request)
        if isinstance(reply, CallOutcome):
            return reply
        return read_completion(
            status=reply.status,
            content_type=reply.headers.get("content-type", ""),
            content=reply.content,
        )

    async def _exchange(
        self, http: "httpx2.AsyncClient", path: str, request: SentRequest
    ) -> "_Reply | CallOutcome":
        """Post a request; the provider's reply with a success status, or what went wrong."""
        import aiohttp
        import httpx2

        headers = list(_HEADERS)
        variable = self._endpoint.key_variable
        if variable is not None:
            key = read_key(variable)
            if key is None:
                return CallOutcome(kind="auth", detail=f"{variable} is not set or is no usable key")
            headers.append((b"Authorization", f"Bearer {key}".encode("ascii")))
        try:
            body = json.dumps(request.body(), ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        except UnicodeEncodeError:
            return CallOutcome(kind="encoding", detail="a text holds a lone surrogate")
        posted = httpx2.Request(
            "POST", self._url(path), headers=headers, content=body, extensions={"timeout": self._timeouts}
        )
        try:
            async with asyncio.timeout(self._deadlines.total_s):
                reply = await self._send(http, posted)
        except TimeoutError:
            return CallOutcome(kind="timeout", detail="total deadline")
        except (httpx2.HTTPError, aiohttp.ClientError, ReplyRefused, OSError) as error:
            return _read_transport_fault(error)
        if 200 <= reply.status < 300:
            return reply
        return read_failure(
            status=reply.status,
            headers=reply.headers,
            body=read_failure_body(reply.content),
            request=request,
        )

    async def _send(self, http: "httpx2.AsyncClient", request: "httpx2.Request") -> "_Reply":
        """Send a request and read the reply up to the cap, without decoding any of it.

        Raises:
            ReplyRefused: it is compressed, or longer than the cap.
        """
        response = await http.send(request, stream=True)
        try:
            encoding = response.headers.get("content-encoding", "identity")
            if encoding.strip().casefold() not in ("identity", ""):
                raise ReplyRefused("compressed although identity was asked for")
            chunks = capped(response.aiter_bytes(), cap_bytes=self._reply_cap_bytes)
            content = b"".join([chunk async for chunk in chunks])
        finally:
            await response.aclose()
        return _Reply(status=response.status_code, headers=response.headers, content=content)

    def _url(self, path: str) -> "httpx2.URL":
        import httpx2

        if path not in self._urls:
            self._urls[path] = httpx2.URL(self._endpoint.base_url.rstrip("/") + path)
        return self._urls[path]


@dataclass(frozen=True)
class _Reply:
    """A whole reply."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@functools.cache
def _tls_context(*, trust_env: bool) -> "ssl.SSLContext":
    """The authorities that are trusted, read once in a process: that takes 60 ms."""
    import httpx2

    return httpx2.create_ssl_context(trust_env=trust_env)


def _milliseconds_since(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)


def _read_transport_fault(error: BaseException) -> CallOutcome:
    """What a failed exchange was, from its causes.

    The aiohttp transport reports a dropped connection as a connect time-out, so the class that
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
