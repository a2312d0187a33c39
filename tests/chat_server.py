"""A scripted chat endpoint on this machine: it answers each request with the next line of its script."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, dict[str, str], bytes]
Line = Callable[[dict[str, Any]], Answer | None]
"""Takes the request; returns status, headers and body, or None to hang up."""


def completion(content: object, *, finish: str = "stop", usage: object = (9, 4), **message: object) -> Line:
    """Answer as /v1/chat/completions does."""
    reply = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}
        ],
    }
    if isinstance(usage, tuple):
        asked, answered = usage
        reply["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
        }
    return body(json.dumps(reply).encode())


def message(*blocks: dict[str, Any], stop: str = "end_turn", usage: object = (9, 4)) -> Line:
    """Answer as /v1/messages does."""
    reply: dict[str, Any] = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(blocks),
        "stop_reason": stop,
        "stop_sequence": None,
    }
    if isinstance(usage, tuple):
        reply["usage"] = {"input_tokens": usage[0], "output_tokens": usage[1]}
    return body(json.dumps(reply).encode())


def body(content: bytes, *, kind: str = "application/json") -> Line:
    """Answer 200 with these bytes."""
    return lambda request: (200, {"Content-Type": kind}, content)


def events(*data: object, names: bool = False) -> Line:
    """Answer with server-sent events; texts as they are, other values as JSON."""
    lines = []
    for datum in data:
        if names and isinstance(datum, dict):
            lines.append(f"event: {datum['type']}\n")
        lines.append(f"data: {datum if isinstance(datum, str) else json.dumps(datum)}\n\n")
    return body("".join(lines).encode(), kind="text/event-stream")


def streamed(*pieces: str, finish: str | None = "stop", usage: object = (9, 4)) -> Line:
    """Answer as /v1/chat/completions does piece by piece; without a `finish` it hangs after the last."""
    chunk: dict[str, Any] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    told: list[object] = [
        {**chunk, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces
    ]
    if finish is None:
        lines = "".join(f"data: {json.dumps(one)}\n\n" for one in told).encode()
        return lambda request: (200, {"Content-Type": "text/event-stream", "Content-Length": "1000000"}, lines)
    told.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if isinstance(usage, tuple):
        asked, answered = usage
        counted = {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
        told.append({**chunk, "choices": [], "usage": counted})
    return events(*told, "[DONE]")


def failing(status: int, error: object = None, **headers: str) -> Line:
    """Answer with an error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: (
        status,
        {"Content-Type": "application/json", **named},
        json.dumps({"error": error}).encode(),
    )


def hanging_up(request: dict[str, Any]) -> None:
    """Close the connection without a word."""


class ChatServer:
    """Answers from `script`; `requests`, `headers` and `paths` tell what was asked. Set `quiet` to end what hangs."""

    def __init__(self) -> None:
        self.script: list[Line] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.quiet = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                outer.paths.append(self.path)
                answer = outer.script.pop(0)(request)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, content = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(content)
                except OSError:
                    self.close_connection = True  # the client went away, as it may

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self.address = f"http://127.0.0.1:{self._http.server_port}"
        self.url = f"{self.address}/v1"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def silent(self, _request: dict[str, Any]) -> None:
        """Say nothing until the test ends."""
        self.quiet.wait(30)

    def close(self) -> None:
        """Stop serving."""
        self.quiet.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def scripted() -> Iterator[ChatServer]:
    """Run a server."""
    server = ChatServer()
    try:
        yield server
    finally:
        server.close()
