"""HTTP as a load driver needs it: one kept-alive connection, next to no work of its own."""

import socket
from collections.abc import Mapping
from dataclasses import dataclass

TIMEOUT_S = 10.0
CHUNK = 65_536


class Broken(ConnectionError):
    """The other side is not there, or went away before its answer was complete."""


@dataclass(frozen=True)
class Reply:
    """One answer; header names are in small letters, and of several cookies each is kept."""

    status: int
    headers: Mapping[str, str]
    cookies: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Wire:
    """A connection to one server, opened when it is first needed and again after it broke."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket: socket.socket | None = None

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """Send one request and read its answer.

        Raises:
            Broken: no connection, or no whole answer. Whether the request was heard is not known.
        """
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        try:
            return self._exchange("\r\n".join([*lines, "", ""]).encode() + body)
        except OSError as error:
            self.close()
            raise Broken(str(error)) from error

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange(self, request: bytes) -> Reply:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        received = bytearray()
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self._read()
        status, headers, cookies = _read_head(received[:end].decode("latin-1"))
        length = int(headers.get("content-length", "0"))
        while len(received) < end + 4 + length:
            received += self._read()
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Reply(status, headers, cookies, bytes(received[end + 4 : end + 4 + length]))

    def _read(self) -> bytes:
        part = self._socket.recv(CHUNK) if self._socket is not None else b""
        if not part:
            raise ConnectionResetError("the connection ended before the answer did")
        return part


def _read_head(text: str) -> tuple[int, dict[str, str], dict[str, str]]:
    first, *lines = text.split("\r\n")
    headers: dict[str, str] = {}
    cookies: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name.lower() == "set-cookie":
            key, _, rest = value.strip().partition("=")
            cookies[key] = rest.partition(";")[0]
        else:
            headers[name.lower()] = value.strip()
    return int(first.split(" ", 2)[1]), headers, cookies
