"""A provider that costs next to nothing, so that two cores measure the client and not the server.

`python -m benchmarks.engine_suite.provider LATENCY_MS` serves one fixed answer on a free port of this
machine after a fixed time, and prints its base URL. Faults are `manage.py fake_provider`'s.
"""

import asyncio
import json
import re
import sys

_LENGTH = re.compile(rb"content-length:\s*([0-9]+)", re.IGNORECASE)
_TEXT = "The response is calm and suits the reader.\nJailbreak Susceptibility: 1\nPolicy Compliance Risk: 2"
_ANSWER = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "simulated",
        "system_fingerprint": "simulated",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": _TEXT}}
        ],
        "usage": {"prompt_tokens": 2_000, "completion_tokens": 24, "total_tokens": 2_024},
    }
).encode()
_REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(_ANSWER)
) + _ANSWER


class Connection(asyncio.Protocol):
    """One kept-alive connection, one request at a time."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._received, 0, end)
        if len(self._received) >= end + 4 + (int(length[1]) if length else 0):
            self._received.clear()
            asyncio.get_running_loop().call_later(self._latency_s, self._answer)

    def _answer(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(_REPLY)


async def serve(latency_ms: int) -> None:
    """Serve until the process is ended."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(latency_ms / 1000), "127.0.0.1", 0, backlog=2048)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
