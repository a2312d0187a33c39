"""The protocol against a scripted server on this machine: what it answers is written down in each test."""

import base64
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from retentia.errors import EmbeddingFailed
from retentia.providers import canary
from retentia.providers.openai import OpenAICompatibleEmbedder, OpenAIOptions
from retentia.providers.prepare import Recipe

Answer = tuple[int, dict[str, str], bytes]
Script = Callable[[dict[str, Any]], Answer | None]


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0 + text.count("a"), 1.0]


def good(request: dict[str, Any]) -> Answer:
    data = [{"index": place, "embedding": vector(text)} for place, text in enumerate(request["input"])]
    return 200, {}, json.dumps({"object": "list", "data": data}).encode()


def failing(status: int, error: object = None, **headers: str) -> Script:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: (status, names, json.dumps({"error": error}).encode())


def answering(data: object) -> Script:
    return lambda request: (200, {}, json.dumps({"data": data}).encode())


class ScriptedServer:
    """Answers each request with the next line of its script, then with good vectors."""

    def __init__(self) -> None:
        self.script: list[Script] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.connections: set[Any] = set()
        self.hang_up_after_each = False
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.headers.append(dict(self.headers))
                outer.paths.append(self.path)
                outer.connections.add(self.client_address)
                answer = (outer.script.pop(0) if outer.script else good)(request)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, body = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = self.close_connection or outer.hang_up_after_each

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    yield scripted
    scripted.close()


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def embedder(server: ScriptedServer, waits: list[float]) -> OpenAICompatibleEmbedder:
    """An embedder that knows its server already, so that a script is about what a test does."""
    embedder = OpenAICompatibleEmbedder(
        "m", server.url, OpenAIOptions(api_key="sk-secret", batch_size=3), sleep=waits.append
    )
    assert embedder.identity.dimension == 3
    server.requests.clear()
    return embedder


def test_the_dimension_is_asked_for_once_with_the_canary_sentences(server: ScriptedServer) -> None:
    embedder = OpenAICompatibleEmbedder("m", server.url)
    assert server.requests == []
    embedder.embed(["one"])
    embedder.embed_query("two")
    identity = embedder.identity
    assert (identity.name, identity.dimension, identity.recipe) == ("openai:m", 3, "8x2000")
    assert [request["input"] for request in server.requests] == [list(canary.SENTENCES), ["one"], ["two"]]


def test_a_request_is_what_the_api_documents(embedder: OpenAICompatibleEmbedder, server: ScriptedServer) -> None:
    embedder.embed(["ä\0b", "", "\ud800"])
    assert server.requests == [{"model": "m", "input": ["ä b", ".", "\ufffd"], "encoding_format": "float"}]
    assert server.paths[-1] == "/v1/embeddings"
    assert server.headers[-1]["Authorization"] == "Bearer sk-secret"
    assert server.headers[-1]["Content-Type"] == "application/json"


def test_texts_go_in_batches_over_one_connection_and_keep_their_order(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer
) -> None:
    texts = ["a" * length for length in range(1, 9)]
    rows = embedder.embed(texts)
    assert [len(request["input"]) for request in server.requests] == [3, 3, 2]
    expected = np.array([vector(text) for text in texts])
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1)[:, None])
    assert len(server.connections) == 1


def test_vectors_are_sorted_by_the_index_the_server_gives(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer
) -> None:
    server.script.append(answering([{"index": 1, "embedding": [0, 1, 0]}, {"index": 0, "embedding": [1, 0, 0]}]))
    assert embedder.embed(["x", "y"]).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_vectors_without_an_index_and_in_base64_are_understood(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer
) -> None:
    packed = base64.b64encode(struct.pack("<3f", 0, 0, 2)).decode()
    server.script.append(answering([{"embedding": packed}, {"embedding": [0, 3, 0]}]))
    assert embedder.embed(["x", "y"]).tolist() == [[0, 0, 1], [0, 1, 0]]


def test_fields_prefixes_headers_and_a_query_string_reach_the_server_and_the_identity(server: ScriptedServer) -> None:
    options = OpenAIOptions(
        headers={"api-key": "k"},
        passage_fields={"input_type": "passage", "dimensions": 3},
        query_fields={"input_type": "query", "dimensions": 3},
        recipe=Recipe(passage_prefix="doc: ", query_prefix="ask: "),
    )
    embedder = OpenAICompatibleEmbedder("m", f"{server.url}/embeddings?api-version=2", options)
    embedder.embed(["x"])
    embedder.embed_query("y")
    passage, query = server.requests[1:]
    assert (passage["input"], passage["input_type"], passage["dimensions"]) == (["doc: x"], "passage", 3)
    assert (query["input"], query["input_type"]) == (["ask: y"], "query")
    assert server.paths[-1] == "/v1/embeddings?api-version=2"
    assert server.headers[-1]["api-key"] == "k"
    assert "Authorization" not in server.headers[-1]
    assert "doc: " in embedder.identity.recipe
    assert '"dimensions": 3' in embedder.identity.recipe


def test_a_busy_or_broken_server_is_asked_again_after_the_wait_it_wants(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer, waits: list[float]
) -> None:
    server.script += [failing(429, Retry_After="3"), failing(500)]
    assert embedder.embed(["x"]).shape == (1, 3)
    assert len(server.requests) == 3
    assert waits[0] == 3
    assert 0.5 <= waits[1] <= 1


def test_a_server_that_stays_broken_is_given_up(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer, waits: list[float]
) -> None:
    server.script += [failing(503)] * 9
    with pytest.raises(EmbeddingFailed, match=r"^openai:m refused: HTTP 503$"):
        embedder.embed(["x"])
    assert (len(server.requests), len(waits)) == (4, 3)


@pytest.mark.parametrize("status", [301, 400, 413, 422])
def test_a_refusal_is_not_repeated_and_does_not_quote_the_text(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer, status: int
) -> None:
    error = {"message": "cannot embed 'private'", "type": "invalid_request_error", "code": None}
    server.script += [failing(status, error, Location="http://127.0.0.1:9/elsewhere")]
    with pytest.raises(EmbeddingFailed, match=rf"HTTP {status}, invalid_request_error$"):
        embedder.embed(["private"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "error", [{"message": "wrong key sk-secret", "code": "invalid_api_key"}, "wrong key sk-secret"]
)
def test_a_wrong_key_is_explained_without_the_key(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer, error: object
) -> None:
    server.script += [failing(401, error)]
    with pytest.raises(EmbeddingFailed, match=r"HTTP 401, .*wrong key \*\*\*"):
        embedder.embed(["x"])
    assert "sk-secret" not in repr(embedder._options)


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (lambda request: (200, {}, b"<html>"), "not that of /v1/embeddings"),
        (lambda request: (200, {}, b"\xff\xfe"), "not that of /v1/embeddings"),
        (lambda request: (200, {}, b"[" * 100_000), "not that of /v1/embeddings"),
        (lambda request: (200, {}, b"[]"), "not that of /v1/embeddings"),
        (lambda request: (200, {}, b'{"data": {"embedding": 1}}'), "not that of /v1/embeddings"),
        (answering([1, 2]), "not that of /v1/embeddings"),
        (answering([{"index": 0, "embedding": [1, 2, 3]}]), "1 vectors for 2 texts"),
        (answering([{"index": 0, "embedding": [1, 2, 3]}] * 2), "no order of the texts"),
        (answering([{"index": [], "embedding": [1, 2, 3]}] * 2), "no order of the texts"),
        (answering([{"embedding": [1, 2]}] * 2), "2 dimensions instead of 3"),
        (answering([{"embedding": [1, 2, 3]}, {"embedding": [0, 0, 0]}]), "text 1 is zero"),
        (answering([{"embedding": [1, 2, 3]}, {"embedding": [1, 2, None]}]), "text 1 is not finite|table of numbers"),
        (answering([{"embedding": [1, 2, 3]}, {"embedding": [1, 2, float("nan")]}]), "text 1 is not finite"),
        (answering([{"embedding": [[1, 2, 3]]}] * 2), "shape"),
        (answering([{"embedding": "%%%"}] * 2), "neither numbers nor base64"),
        (answering([{"embedding": "AAAA"}] * 2), "neither numbers nor base64"),
    ],
)
def test_an_answer_that_is_none_fails_the_whole_batch(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer, script: Script, complaint: str
) -> None:
    server.script += [script] * 4
    with pytest.raises(EmbeddingFailed, match=complaint):
        embedder.embed(["x", "y"])


def test_a_reply_that_breaks_off_is_asked_for_again(server: ScriptedServer, waits: list[float]) -> None:
    def broken_off(request: dict[str, Any]) -> Answer:
        status, _, body = good(request)
        return status, {"Content-Length": str(len(body) + 10), "Connection": "close"}, body

    def silent(request: dict[str, Any]) -> None:
        return None

    server.script += [broken_off, silent]
    embedder = OpenAICompatibleEmbedder("m", server.url, sleep=waits.append)
    assert embedder.embed(["x"]).shape == (1, 3)
    assert len(waits) == 2
    assert len(server.requests) == 4


def test_a_connection_the_server_dropped_meanwhile_is_replaced_without_a_wait(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer, waits: list[float]
) -> None:
    server.hang_up_after_each = True
    for _ in range(4):
        assert embedder.embed(["x"]).shape == (1, 3)
    assert waits == []


def test_a_slow_server_costs_a_question_its_time_limit_once_and_then_nothing(server: ScriptedServer) -> None:
    now = [0.0]
    options = OpenAIOptions(query_timeout_seconds=0.2, pause_seconds=10)
    embedder = OpenAICompatibleEmbedder("m", server.url, options, clock=lambda: now[0])
    assert embedder.identity.dimension == 3
    release = threading.Event()

    def stalls(request: dict[str, Any]) -> None:
        release.wait(10)

    server.script += [stalls]
    with pytest.raises(EmbeddingFailed, match=r"did not answer within 0\.2 seconds"):
        embedder.embed_query("x")
    asked = len(server.requests)
    with pytest.raises(EmbeddingFailed, match="left alone"):
        embedder.embed_query("x")
    assert len(server.requests) == asked
    release.set()
    now[0] = 11
    assert embedder.embed_query("x").shape == (3,)


def test_a_body_that_drips_does_not_outlast_the_time_limit(server: ScriptedServer) -> None:
    embedder = OpenAICompatibleEmbedder("m", server.url, OpenAIOptions(query_timeout_seconds=0.3))
    assert embedder.identity.dimension == 3

    original = server.http.RequestHandlerClass.do_POST  # type: ignore[attr-defined]

    def drip(self: BaseHTTPRequestHandler) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(100):
                self.wfile.write(b" ")
                time.sleep(0.05)
        except OSError:
            self.close_connection = True

    server.http.RequestHandlerClass.do_POST = drip  # type: ignore[attr-defined]
    started = time.monotonic()
    with pytest.raises(EmbeddingFailed, match="did not answer within"):
        embedder.embed_query("x")
    assert time.monotonic() - started < 3
    server.http.RequestHandlerClass.do_POST = original  # type: ignore[attr-defined]


def test_a_server_that_is_not_there_is_named_with_the_reason(server: ScriptedServer, waits: list[float]) -> None:
    embedder = OpenAICompatibleEmbedder("m", server.url, sleep=waits.append)
    server.close()
    with pytest.raises(EmbeddingFailed, match=r"openai:m cannot be reached: Connection refused"):
        embedder.embed(["x"])
    assert len(waits) == 3
    with pytest.raises(EmbeddingFailed, match="cannot be reached"):
        _ = embedder.identity
    with pytest.raises(EmbeddingFailed, match="left alone"):
        embedder.embed_query("x")
    assert len(waits) == 3


def test_a_server_that_comes_up_later_is_found(server: ScriptedServer) -> None:
    embedder = OpenAICompatibleEmbedder("m", server.url, OpenAIOptions(pause_seconds=0))
    server.script += [failing(503)]
    with pytest.raises(EmbeddingFailed):
        _ = embedder.identity
    assert embedder.identity.dimension == 3


def test_something_that_does_not_speak_http_is_an_error_not_a_crash(waits: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            for _ in range(4):
                connection, _ = listener.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(b"220 mail.example ESMTP\r\n")

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(EmbeddingFailed, match="cannot be reached: BadStatusLine"):
            OpenAICompatibleEmbedder("m", url, sleep=waits.append).embed(["x"])
        thread.join(10)


def test_a_plain_server_addressed_with_https_is_an_error_not_a_crash(server: ScriptedServer) -> None:
    embedder = OpenAICompatibleEmbedder("m", server.url.replace("http:", "https:"), OpenAIOptions(attempts=1))
    with pytest.raises(EmbeddingFailed, match="cannot be reached"):
        embedder.embed(["x"])


def test_threads_share_the_embedder_without_mixing_answers(
    embedder: OpenAICompatibleEmbedder, server: ScriptedServer
) -> None:
    texts = ["a" * length for length in range(1, 40)]
    with ThreadPoolExecutor(8) as pool:
        rows = np.array(list(pool.map(embedder.embed_query, texts)))
    assert np.allclose(rows, embedder.embed(texts), atol=1e-6)
    assert len(server.connections) <= 9
