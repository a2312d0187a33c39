"""Post JSON to one address over kept-alive connections, with the standard library.

It follows no redirect and reads no proxy from the environment: nothing is sent anywhere but to the address that was
configured.
"""

import http.client
import os
import ssl
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

from retentia.errors import InvalidInput

# What a server that is down, slow, cut off or no HTTP server at all makes the library raise.
TRANSPORT_ERRORS = (OSError, http.client.HTTPException)

_CHUNK = 1 << 16
_LARGEST_REPLY = 256 << 20


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server answered; `retry_after` is its own word on when to come back, as sent."""

    status: int
    body: bytes = field(repr=False)
    retry_after: str = ""


class Poster:
    """Posts to one URL. Safe in several threads: each call has a connection of its own from a pool of idle ones."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = checked_address(url)
        self._target = self._url.path + (f"?{self._url.query}" if self._url.query else "")
        self._headers = {"Content-Type": "application/json", "Accept": "application/json", **headers}
        self._idle: list[http.client.HTTPConnection] = []
        weakref.finalize(self, _close, self._idle)
        self._owner = os.getpid()
        self._lock = threading.Lock()

    def post(self, body: bytes, *, timeout_seconds: float) -> Reply:
        """Send the body and return the whole reply, whatever its status; raise one of TRANSPORT_ERRORS.

        The time limit holds for the exchange as a whole, however slowly the body drips in.
        """
        deadline = time.monotonic() + timeout_seconds
        connection = self._take()
        if connection is not None:
            try:
                return self._exchange(connection, body, deadline)
            except TimeoutError:
                raise
            except TRANSPORT_ERRORS:
                pass  # the server may close an idle connection at any time; embedding twice does no harm
        return self._exchange(self._connect(), body, deadline)

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes, deadline: float) -> Reply:
        try:
            connection.timeout = _left(deadline)
            if connection.sock is not None:
                connection.sock.settimeout(connection.timeout)
            connection.request("POST", self._target, body, self._headers)
            response = connection.getresponse()
            reply = Reply(response.status, _read(connection, response, deadline), response.getheader("Retry-After", ""))
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return reply

    def _connect(self) -> http.client.HTTPConnection:
        host = self._url.hostname or ""
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, self._url.port, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, self._url.port)

    def _take(self) -> http.client.HTTPConnection | None:
        with self._lock:
            if self._owner != os.getpid():  # a forked child must not write into its parent's connections
                self._idle.clear()
                self._owner = os.getpid()
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            self._idle.append(connection)


def _close(connections: list[http.client.HTTPConnection]) -> None:
    for connection in connections:
        connection.close()


def checked_address(url: str) -> SplitResult:
    """Return the parts of a server's address; raise InvalidInput when it is none."""
    try:
        parts = urlsplit(url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    # The URL is not repeated here: it might hold the password that it should not.
    if not is_sound or "@" in parts.netloc:
        raise InvalidInput("the server's address must look like https://host:port/v1, without user and password")
    return parts


def _read(connection: http.client.HTTPConnection, response: http.client.HTTPResponse, deadline: float) -> bytes:
    body = bytearray()
    while True:
        if connection.sock is not None:
            connection.sock.settimeout(_left(deadline))
        chunk = response.read1(_CHUNK)
        if not chunk:
            break
        body += chunk
        if len(body) > _LARGEST_REPLY:
            raise http.client.HTTPException("the reply is too large")
    if response.length:
        raise http.client.IncompleteRead(bytes(body), response.length)
    response.close()  # its end was reached but `read1` does not say so; the connection stays open
    return bytes(body)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left
