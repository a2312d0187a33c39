"""Chat models of any server with OpenAI's /v1/chat/completions: OpenAI, Ollama, vLLM, llama.cpp, LM Studio and more.

The vendor's package does the talking, without its retries, and sends only what was configured here: no header that it
reads from the environment or that describes this machine.
"""

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from retentia.errors import InvalidInput, MissingExtra, ModelRejected, ModelReplyInvalid
from retentia.providers.chat import json_schema
from retentia.providers.chat.base import ChatMessage, Completion, Finish, JsonSchema, ReplyStream, Usage
from retentia.providers.chat.options import ChatOptions, base_address
from retentia.providers.chat.parse import read_value, without_thinking
from retentia.providers.chat.patience import Faults, OfThisProcess, Patience
from retentia.providers.prepare import clean

if TYPE_CHECKING:
    from openai import OpenAI, Stream
    from openai.types.chat import ChatCompletionChunk

SchemaMode = Literal["json_schema", "json_object", "prompt"]
"""How an endpoint is held to a schema, the strictest first; "prompt" only asks for it in words."""

_MODES: tuple[SchemaMode, ...] = ("json_schema", "json_object", "prompt")
_FINISHES: Mapping[str, Finish] = {"stop": "stop", "length": "length", "content_filter": "filtered"}
_SCHEMAS_REMEMBERED = 64
_INSTRUCTION = "Answer with one JSON value that fits this JSON Schema, and with nothing else:\n"
_NOT_THIS_FORMAT = frozenset({400, 415, 422, 501})

T = TypeVar("T")


class _Open(NamedTuple):
    client: "OpenAI"
    patience: Patience


class OpenAIChat:
    """Asks a server; `base_url` is the part before /chat/completions, such as http://127.0.0.1:8080/v1.

    Opens no connection before its first use. Which way of asking for JSON a server takes is found at the first call
    with a schema and remembered. Raises InvalidInput for an address or a key that is none, MissingExtra without the
    package.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        options: ChatOptions | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not model:
            raise InvalidInput("name the model to ask, such as 'openai:qwen3@http://127.0.0.1:8080/v1'")
        if find_spec("openai") is None:
            raise MissingExtra("openai")
        options = options or ChatOptions()
        address = base_address(base_url, "/chat/completions")
        self.identity = f"openai:{model}@{address}"
        self._model = model
        self._options = options
        self._open = OfThisProcess(partial(_connected, self.identity, address, options, sleep, clock))
        self._modes: dict[str, SchemaMode] = {}
        self._unknown: frozenset[str] = frozenset()

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: JsonSchema | None = None, max_tokens: int | None = None
    ) -> Completion:
        """Return the answer; with a schema its `value` is JSON that fits it. Raises ModelError."""
        if schema is None:
            return self._asked({}, messages, max_tokens)
        key = json.dumps(schema, sort_keys=True)
        mode = self._modes.get(key, _MODES[0])
        while True:
            try:
                answer = self._asked(_response_format(mode, schema), _instructed(messages, mode, schema), max_tokens)
            except ModelRejected as error:
                if mode == _MODES[-1] or not _may_be_the_format(error):
                    raise
                mode = _next_mode(mode)
            else:
                self._remember(key, mode)
                return self._with_value(answer, schema, key, mode)

    def stream(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ReplyStream:
        """Return the answer piece by piece; only its beginning is tried again. Raises ModelError while iterated."""
        return ReplyStream(self._pieces(messages, max_tokens))

    def warm(self) -> None:
        """Load the vendor's package, which takes a second or two, so that the first call does not wait for it."""
        self._open.get()

    def schema_mode(self, schema: JsonSchema) -> SchemaMode | None:
        """Return how the server is held to a schema; None before it was asked with it."""
        return self._modes.get(json.dumps(schema, sort_keys=True))

    def _with_value(self, answer: Completion, schema: JsonSchema, key: str, mode: SchemaMode) -> Completion:
        try:
            return replace(answer, value=read_value(answer.raw, schema))
        except ModelReplyInvalid as error:
            if answer.finish == "stop" and mode != _MODES[-1]:
                self._remember(key, _next_mode(mode))  # it took the format and did not keep to it: ask in words, too
            raise answer.invalid(str(error)) from None

    def _remember(self, key: str, mode: SchemaMode) -> None:
        if len(self._modes) >= _SCHEMAS_REMEMBERED and key not in self._modes:
            self._modes = {}
        self._modes[key] = mode

    def _asked(self, fields: Mapping[str, object], messages: Sequence[ChatMessage], limit: int | None) -> Completion:
        ask = self._open.get().patience.ask
        return self._adapting(
            lambda without: ask(lambda: self._completion(fields, self._request(messages, limit, without), messages))
        )

    def _adapting(self, ask: Callable[[frozenset[str]], T]) -> T:
        """Ask; when the server says that it does not know a field, go on without it, now and later."""
        without = self._unknown
        while True:
            try:
                answer = ask(without)
            except ModelRejected as error:
                if not error.unsupported or error.unsupported in without:
                    raise
                without |= {error.unsupported}
            else:
                self._unknown |= without
                return answer

    def _completion(
        self, fields: Mapping[str, object], request: Mapping[str, object], messages: Sequence[ChatMessage]
    ) -> Completion:
        client, patience = self._open.get()
        create: Any = client.chat.completions.with_streaming_response.create  # what is sent is ours, not of its types
        check = patience.deadline()
        with create(**request, extra_body={**fields, **self._options.fields}) as response:
            body = patience.body(response.iter_bytes(), check)
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            raw = clean(choice["message"].get("content") or "")
            refused = bool(choice["message"].get("refusal")) and not raw
            finish = "filtered" if refused else _FINISHES.get(choice.get("finish_reason"), "other")
            usage = _usage(data.get("usage")) or self._options.estimated(messages, raw)
            return Completion(text=without_thinking(raw), raw=raw, usage=usage, finish=finish)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        raise patience.not_understood(body)

    def _pieces(self, messages: Sequence[ChatMessage], limit: int | None) -> Generator[str, None, Completion]:
        client, patience = self._open.get()
        check = patience.deadline()
        chunks = self._adapting(
            lambda without: patience.ask(
                lambda: self._streamed(client, self._request(messages, limit, without), without)
            )
        )
        said: list[str] = []
        usage, finish = None, ""
        try:
            while (chunk := patience.certain(lambda: next(chunks, None))) is not None:
                check()
                piece, finish, usage = _read_chunk(chunk, finish, usage)
                if piece:
                    said.append(piece)
                    yield clean(piece)
        finally:
            chunks.close()
        if not finish:
            raise patience.broken_off()
        raw = clean("".join(said))
        return Completion(
            text=without_thinking(raw),
            raw=raw,
            usage=usage or self._options.estimated(messages, raw),
            finish=_FINISHES.get(finish, "other"),
        )

    def _streamed(
        self, client: "OpenAI", request: Mapping[str, object], without: frozenset[str]
    ) -> "Stream[ChatCompletionChunk]":
        create: Any = client.chat.completions.create
        told = {} if "stream_options" in without else {"stream_options": {"include_usage": True}}
        opened: Stream[ChatCompletionChunk] = create(
            **request, stream=True, extra_body={**told, **self._options.fields}
        )
        return opened

    def _request(
        self, messages: Sequence[ChatMessage], limit: int | None, without: frozenset[str]
    ) -> Mapping[str, object]:
        # OpenAI's reasoning models know only the newer name, most other servers only the older one.
        name = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        said = [{"role": message.role, "content": message.text} for message in messages]
        return {"model": self._model, "messages": said, name: limit or self._options.max_tokens}


def _connected(
    name: str, address: str, options: ChatOptions, sleep: Callable[[float], None], clock: Callable[[], float]
) -> _Open:
    import httpx2
    import openai

    from retentia.providers.chat.sent import client_of_ours, close_with

    headers = {"Authorization": f"Bearer {options.api_key}"} if options.api_key else {}
    http = client_of_ours({**headers, **options.headers})
    client = openai.OpenAI(
        api_key=options.api_key or "none",  # without one the package looks for one in the environment
        base_url=address,
        max_retries=0,
        timeout=options.timeout_seconds,
        http_client=http,
    )
    close_with(client, http)
    faults = Faults(
        timed_out=(openai.APITimeoutError, httpx2.TimeoutException),
        unreachable=(openai.APIConnectionError, httpx2.TransportError),
        refused=openai.APIStatusError,
        every=(openai.OpenAIError, httpx2.HTTPError, ValueError),  # a ValueError where an event is no JSON
    )
    return _Open(client, Patience(name, options, faults, sleep=sleep, clock=clock))


def _usage(told: object) -> Usage | None:
    if isinstance(told, Mapping):
        asked, answered = told.get("prompt_tokens"), told.get("completion_tokens")
        if isinstance(asked, int) and isinstance(answered, int):
            return Usage(asked, answered)
    return None


def _read_chunk(chunk: "ChatCompletionChunk", finish: str, usage: Usage | None) -> tuple[str, str, Usage | None]:
    """Return the text of a chunk, and what is known since then of the end and the usage."""
    told = chunk.to_dict(warnings=False)
    choices = told.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    delta = choice.get("delta")
    piece = delta.get("content") if isinstance(delta, dict) else None
    return (
        piece if isinstance(piece, str) else "",
        str(choice.get("finish_reason") or finish),
        _usage(told.get("usage")) or usage,
    )


def _response_format(mode: SchemaMode, schema: JsonSchema) -> dict[str, object]:
    match mode:
        case "json_schema":
            told = {"name": "answer", "schema": schema, "strict": json_schema.is_strict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": told}}
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "prompt":
            return {}


def _instructed(messages: Sequence[ChatMessage], mode: SchemaMode, schema: JsonSchema) -> Sequence[ChatMessage]:
    if mode == _MODES[0]:
        return messages
    return [ChatMessage("system", _INSTRUCTION + json.dumps(schema, ensure_ascii=False)), *messages]


def _next_mode(mode: SchemaMode) -> SchemaMode:
    return _MODES[_MODES.index(mode) + 1]


def _may_be_the_format(error: ModelRejected) -> bool:
    return error.status in _NOT_THIS_FORMAT and not error.too_long
