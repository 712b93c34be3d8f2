"""Listeners that are no provider: one that only counts, and one that repeats a key that it refuses."""

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Listener:
    """An HTTP server in this process that keeps every request line."""

    def __init__(self, *, port: int = 0, repeats_key: bool = False) -> None:
        self.requests: list[str] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                listener.requests.append(self.requestline)
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                key = self.headers.get("Authorization", "") if repeats_key else ""
                message = f"Incorrect API key provided: {key}."
                body = json.dumps({"error": {"message": message, "code": "invalid_api_key"}}).encode()
                self.send_response(401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        ThreadingHTTPServer.allow_reuse_address = True
        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1/chat/completions"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@contextlib.contextmanager
def listening(*, port: int = 0, repeats_key: bool = False) -> Iterator[Listener]:
    """A listener for the length of a `with` block."""
    listener = Listener(port=port, repeats_key=repeats_key)
    listener.start()
    try:
        yield listener
    finally:
        listener.stop()
