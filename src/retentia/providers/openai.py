"""Embeddings from any server with OpenAI's /v1/embeddings: OpenAI, Ollama, vLLM, llama.cpp, TEI, LM Studio and more."""

import json
import random
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from retentia.errors import EmbeddingFailed, InvalidInput
from retentia.providers.openai_wire import explain, read_vectors, request_body
from retentia.providers.post import TRANSPORT_ERRORS, Poster
from retentia.providers.prepare import Recipe
from retentia.providers.probed import ProbedEmbedder
from retentia.providers.retry import is_transient, wait_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """What a server may want to be told, and how patient to be with it.

    `passage_fields` and `query_fields` go into the request body, such as {"dimensions": 512} or {"input_type":
    "query"}. `headers` are sent as they are. `recipe` holds prefixes and where to cut. Passages are embedded by
    background jobs: up to `attempts` requests of `timeout_seconds`. A question has someone waiting: one request of
    `query_timeout_seconds`, and after a failure none for `pause_seconds`; the search then goes by words alone.
    """

    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    passage_fields: Mapping[str, object] = field(default_factory=dict)
    query_fields: Mapping[str, object] = field(default_factory=dict)
    recipe: Recipe = field(default_factory=Recipe)
    batch_size: int = 32
    attempts: int = 4
    timeout_seconds: float = 60.0
    query_timeout_seconds: float = 5.0
    pause_seconds: float = 10.0


class OpenAICompatibleEmbedder(ProbedEmbedder):
    """Embeds by asking a server; `base_url` is the part before /embeddings, such as http://127.0.0.1:11434/v1.

    Opens no connection before its first use. Errors name the status and what the server says of itself, never the
    text or the key. Raises InvalidInput for an address or a key that is none.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        options: OpenAIOptions | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not model:
            raise InvalidInput("name the model to embed with, such as 'openai:bge-m3@http://127.0.0.1:11434/v1'")
        self._model = model
        self._options = options or OpenAIOptions()
        self._server = Poster(_embeddings_url(base_url), _headers(self._options))
        self._sleep = sleep
        self._clock = clock
        self._paused_until = 0.0
        super().__init__(
            f"openai:{model}",
            self._embed_passages,
            self._embed_query,
            quick=self._embed_quickly,
            recipe=_recipe(self._options),
        )

    def _embed_passages(self, texts: list[str]) -> list[object]:
        return self._in_batches(texts, self._options.passage_fields, self._post_patiently)

    def _embed_query(self, texts: list[str]) -> list[object]:
        return self._in_batches(texts, self._options.query_fields, self._post_once)

    def _embed_quickly(self, texts: list[str]) -> list[object]:
        return self._in_batches(texts, self._options.passage_fields, self._post_once)

    def _in_batches(
        self, texts: list[str], fields: Mapping[str, object], post: Callable[[bytes], bytes]
    ) -> list[object]:
        vectors: list[object] = []
        for start in range(0, len(texts), self._options.batch_size):
            batch = texts[start : start + self._options.batch_size]
            vectors += read_vectors(post(request_body(self._model, batch, fields)), len(batch))
        return vectors

    def _post_patiently(self, body: bytes) -> bytes:
        failures = 0
        while True:
            answer = self._post(body, self._options.timeout_seconds)
            if isinstance(answer, bytes):
                return answer
            failures += 1
            if not answer.is_transient or failures >= self._options.attempts:
                raise EmbeddingFailed(answer.message)
            chance = random.random()  # noqa: S311 - spreads retries, guards nothing
            self._sleep(wait_seconds(failures, answer.retry_after, chance=chance))

    def _post_once(self, body: bytes) -> bytes:
        if self._clock() < self._paused_until:
            raise EmbeddingFailed(f"{self._name} did not answer a moment ago and is left alone for some seconds")
        answer = self._post(body, self._options.query_timeout_seconds)
        if isinstance(answer, bytes):
            return answer
        if answer.is_transient:
            self._paused_until = self._clock() + self._options.pause_seconds
        raise EmbeddingFailed(answer.message)

    def _post(self, body: bytes, timeout_seconds: float) -> "bytes | _Failure":
        try:
            reply = self._server.post(body, timeout_seconds=timeout_seconds)
        except ssl.SSLCertVerificationError as error:
            return _Failure(f"{self._name} has a certificate that is not trusted: {error.verify_message}", False)
        except TimeoutError:
            return _Failure(f"{self._name} did not answer within {timeout_seconds:g} seconds", True)
        except TRANSPORT_ERRORS as error:
            return _Failure(f"{self._name} cannot be reached: {_named(error)}", True)
        if reply.status == HTTPStatus.OK:
            return reply.body
        told = explain(reply.status, reply.body, secret=self._options.api_key.strip())
        return _Failure(f"{self._name} refused: {told}", is_transient(reply.status), reply.retry_after)


@dataclass(frozen=True, slots=True)
class _Failure:
    message: str
    is_transient: bool
    retry_after: str = ""


def _named(error: Exception) -> str:
    # An HTTPException may hold bytes of the reply; only what the operating system says is repeated.
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__


def _embeddings_url(base_url: str) -> str:
    address, mark, query = base_url.partition("?")
    return address.rstrip("/").removesuffix("/embeddings") + "/embeddings" + mark + query


def _headers(options: OpenAIOptions) -> dict[str, str]:
    # Keys are pasted with line ends around them, which no header may hold.
    key = options.api_key.strip()
    if not (key.isascii() and key.isprintable()):
        raise InvalidInput("the key for the embedding server holds characters that no key has")
    return ({"Authorization": f"Bearer {key}"} if key else {}) | dict(options.headers)


def _recipe(options: OpenAIOptions) -> Recipe:
    if not (options.passage_fields or options.query_fields):
        return options.recipe
    fields = {"passage": dict(options.passage_fields), "query": dict(options.query_fields)}
    return replace(options.recipe, note=json.dumps(fields, sort_keys=True))
