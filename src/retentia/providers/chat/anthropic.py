"""Anthropic's models, and servers that speak their /v1/messages. JSON is asked for as the input of a tool."""

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from retentia.errors import InvalidInput, MissingExtra, ModelReplyInvalid
from retentia.providers.chat import json_schema
from retentia.providers.chat.base import ChatMessage, Completion, Finish, JsonSchema, ReplyStream, Usage
from retentia.providers.chat.options import ChatOptions, base_address
from retentia.providers.chat.parse import read_value, without_thinking
from retentia.providers.chat.patience import Faults, OfThisProcess, Patience
from retentia.providers.prepare import clean

if TYPE_CHECKING:
    from anthropic import Anthropic, Stream
    from anthropic.types import RawMessageStreamEvent

ADDRESS = "https://api.anthropic.com"

_TOOL = "answer"
_FINISHES: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "stop",
    "max_tokens": "length",
    "refusal": "filtered",
}
_ONLY_VALUE = "value"


class _Open(NamedTuple):
    client: "Anthropic"
    patience: Patience


class AnthropicChat:
    """Asks a server; `base_url` is the part before /v1/messages.

    Opens no connection before its first use. Raises InvalidInput for an address or a key that is none, MissingExtra
    without the package.
    """

    def __init__(
        self,
        model: str,
        base_url: str = ADDRESS,
        options: ChatOptions | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not model:
            raise InvalidInput("name the model to ask: 'anthropic:MODEL'")
        if find_spec("anthropic") is None:
            raise MissingExtra("anthropic")
        options = options or ChatOptions()
        address = base_address(base_url, "/v1/messages", "/v1")
        self.identity = f"anthropic:{model}" + ("" if address == ADDRESS else f"@{address}")
        self._model = model
        self._options = options
        self._open = OfThisProcess(partial(_connected, self.identity, address, options, sleep, clock))

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: JsonSchema | None = None, max_tokens: int | None = None
    ) -> Completion:
        """Return the answer; with a schema its `value` is JSON that fits it. Raises ModelError."""
        ask = self._open.get().patience.ask
        if schema is None:
            return ask(lambda: self._completion(self._request(messages, max_tokens), messages))[0]
        fields = _tool_fields(schema)
        answer, given = ask(lambda: self._completion({**self._request(messages, max_tokens), **fields}, messages))
        try:
            return replace(answer, value=_value(answer, given, schema))
        except ModelReplyInvalid as error:
            raise answer.invalid(str(error)) from None

    def stream(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ReplyStream:
        """Return the answer piece by piece; only its beginning is tried again. Raises ModelError while iterated."""
        return ReplyStream(self._pieces(messages, max_tokens))

    def warm(self) -> None:
        """Load the vendor's package, which takes a second or two, so that the first call does not wait for it."""
        self._open.get()

    def schema_mode(self, _schema: JsonSchema) -> str:
        """Return how the server is held to a schema: always as the input of a tool."""
        return "tool"

    def _completion(
        self, request: Mapping[str, object], messages: Sequence[ChatMessage]
    ) -> tuple[Completion, dict[str, Any] | None]:
        """Return the answer, and the input of the tool it calls, if it calls it."""
        client, patience = self._open.get()
        create: Any = client.messages.with_streaming_response.create  # what is sent is ours, not of its types
        check = patience.deadline()
        with create(**request, extra_body=dict(self._options.fields)) as response:
            body = patience.body(response.iter_bytes(), check)
        try:
            data = json.loads(body)
            blocks = data["content"]
            text = clean("".join(block["text"] for block in blocks if block["type"] == "text"))
            given = next((block["input"] for block in blocks if block["type"] == "tool_use"), None)
            raw = text if given is None else text + json.dumps(given, ensure_ascii=True)
            usage = _counted(data.get("usage")) or self._options.estimated(messages, raw)
            finish = _FINISHES.get(data.get("stop_reason"), "other")
            return Completion(text=without_thinking(text), raw=raw, usage=usage, finish=finish), given
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            pass
        raise patience.not_understood(body)

    def _pieces(self, messages: Sequence[ChatMessage], limit: int | None) -> Generator[str, None, Completion]:
        client, patience = self._open.get()
        check = patience.deadline()
        create: Any = client.messages.create
        events: Stream[RawMessageStreamEvent] = patience.ask(
            lambda: create(**self._request(messages, limit), stream=True, extra_body=dict(self._options.fields))
        )
        said: list[str] = []
        told: dict[str, Any] = {}
        finish = ""
        try:
            while (event := patience.certain(lambda: next(events, None))) is not None:
                check()
                piece, finish = _read_event(event.to_dict(warnings=False), finish, told)
                if piece:
                    said.append(piece)
                    yield clean(piece)
        finally:
            events.close()
        if not finish:
            raise patience.broken_off()
        raw = clean("".join(said))
        return Completion(
            text=without_thinking(raw),
            raw=raw,
            usage=_counted(told) or self._options.estimated(messages, raw),
            finish=_FINISHES.get(finish, "other"),
        )

    def _request(self, messages: Sequence[ChatMessage], limit: int | None) -> dict[str, object]:
        told = "\n\n".join(message.text for message in messages if message.role == "system")
        said = [{"role": message.role, "content": message.text} for message in messages if message.role != "system"]
        if not said:
            raise InvalidInput("a model needs a message of the user, not only of the system")
        request = {"model": self._model, "messages": said, "max_tokens": limit or self._options.max_tokens}
        return {**request, "system": told} if told else request


def _connected(
    name: str, address: str, options: ChatOptions, sleep: Callable[[float], None], clock: Callable[[], float]
) -> _Open:
    import anthropic
    import httpx2

    from retentia.providers.chat.sent import client_of_ours, close_with

    headers = {"x-api-key": options.api_key} if options.api_key else {}
    http = client_of_ours({**headers, **options.headers})
    client = anthropic.Anthropic(
        api_key=options.api_key or "none",  # without one the package looks for one in the environment
        base_url=address,
        max_retries=0,
        timeout=options.timeout_seconds,
        open_telemetry=False,
        http_client=http,
    )
    close_with(client, http)
    faults = Faults(
        timed_out=(anthropic.APITimeoutError, httpx2.TimeoutException),
        unreachable=(anthropic.APIConnectionError, httpx2.TransportError),
        refused=anthropic.APIStatusError,
        every=(anthropic.AnthropicError, httpx2.HTTPError, ValueError),  # a ValueError where an event is no JSON
    )
    return _Open(client, Patience(name, options, faults, sleep=sleep, clock=clock))


def _tool_fields(schema: JsonSchema) -> dict[str, object]:
    tool = {"name": _TOOL, "description": "Give the answer in this form.", "input_schema": _as_input(schema)}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}


def _as_input(schema: JsonSchema) -> JsonSchema:
    """Return the schema of a tool's input, which has to be an object."""
    if json_schema.is_object(schema) and schema.get("type") == "object":
        return schema
    inner = {name: value for name, value in schema.items() if name != "$defs"}
    definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return {"type": "object", "properties": {_ONLY_VALUE: inner}, "required": [_ONLY_VALUE], **definitions}


def _value(answer: Completion, given: dict[str, Any] | None, schema: JsonSchema) -> Any:
    if given is None:
        return read_value(answer.raw, schema)
    if _as_input(schema) is not schema and isinstance(given, dict) and _ONLY_VALUE in given:
        given = given[_ONLY_VALUE]
    return read_value(json.dumps(given), schema)


def _counted(told: object) -> Usage | None:
    """Return the tokens that were read, from the cache or not, and those that were written."""
    if not isinstance(told, Mapping):
        return None
    read = [told.get(name) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")]
    written = told.get("output_tokens")
    if not isinstance(read[0], int) or not isinstance(written, int):
        return None
    return Usage(sum(count for count in read if isinstance(count, int)), written)


def _read_event(event: Mapping[str, Any], finish: str, told: dict[str, Any]) -> tuple[str, str]:
    """Return the text of an event and the reason for the end, once known; note in `told` what it says of usage."""
    match event:
        case {"type": "message_start", "message": {"usage": {} as usage}}:
            told.update(usage)
        case {"type": "message_delta", "delta": {} as delta}:
            told.update({name: count for name, count in (event.get("usage") or {}).items() if count is not None})
            return "", str(delta.get("stop_reason") or finish)
        case {"type": "content_block_delta", "delta": {"text": str(piece)}}:
            return piece, finish
    return "", finish
