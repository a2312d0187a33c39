"""An HTTP client that sends what was configured, to where it was configured, and nothing else."""

import os
import weakref
from collections.abc import Mapping

import httpx2

# Of the protocol; the vendors' packages add the platform, the interpreter and whatever the environment names.
_NEEDED = frozenset(
    {"host", "connection", "content-type", "content-length", "accept", "accept-encoding", "transfer-encoding"}
    | {"anthropic-version"}
)


class _OnlyOurs(httpx2.HTTPTransport):
    """Sends requests with the headers that are needed and those that were configured."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        super().__init__(trust_env=False)
        self._headers = {"User-Agent": "retentia", **headers}

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        # A copy: the package looks at headers of its own request to know what was asked of it.
        needed = {name: value for name, value in request.headers.items() if name.lower() in _NEEDED}
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={**needed, **self._headers},
            stream=request.stream,
            extensions=request.extensions,
        )
        return super().handle_request(sent)


def client_of_ours(headers: Mapping[str, str]) -> httpx2.Client:
    """Return a client that reads no proxy from the environment, follows no redirect, and drops other headers."""
    return httpx2.Client(transport=_OnlyOurs(headers), trust_env=False, follow_redirects=False)


def close_with(owner: object, client: httpx2.Client) -> None:
    """Close the client once nobody has its owner any more, unless that is in a forked child, which only borrowed it."""
    weakref.finalize(owner, _close, client, os.getpid())


def _close(client: httpx2.Client, process: int) -> None:
    if os.getpid() == process:
        client.close()
