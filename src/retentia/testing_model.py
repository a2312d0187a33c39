"""A chat model that replays what it was given, for tests of whatever asks one."""

import json
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from retentia.errors import ModelReplyInvalid
from retentia.model.message import JSON
from retentia.providers.chat.base import ChatMessage, Completion, JsonSchema, ReplyStream
from retentia.providers.chat.options import ChatOptions
from retentia.providers.chat.parse import read_value, without_thinking

_LONGEST_SECONDS = 30.0
_PIECE = 7


@dataclass(frozen=True, slots=True)
class Held:
    """An answer that is kept back until `release` is set, as a slow model's is; `asked` is set once it is asked for."""

    answer: "Scripted"
    release: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)


Plain: TypeAlias = "str | Mapping[str, JSON] | Sequence[JSON] | Completion | Exception"
Scripted: TypeAlias = "Plain | Held | Callable[[Sequence[ChatMessage]], Plain]"


class FakeModel:
    """Answers each call with the next line of its script: a text, JSON, a Completion, an error to raise, or a function.

    `Held` keeps an answer back until an event. A text is read as a real model's would be, so prose where JSON was asked
    for raises ModelReplyInvalid. `asked` holds the messages of every call, `schemas` what they asked for. A call
    beyond the script fails the test. `then` answers whatever comes after it.
    """

    def __init__(self, *script: Scripted, then: "Scripted | None" = None, identity: str = "fake:model") -> None:
        self.identity = identity
        self.asked: list[tuple[ChatMessage, ...]] = []
        self.schemas: list[JsonSchema | None] = []
        self.limits: list[int | None] = []
        self._script = deque(script)
        self._then = then
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many lines of the script were not asked for."""
        return len(self._script)

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: JsonSchema | None = None, max_tokens: int | None = None
    ) -> Completion:
        """Return the next answer, read by the schema; raise the error that stands there instead."""
        answer = self._next(messages, schema, max_tokens)
        if schema is None or answer.value is not None:
            return answer
        try:
            return replace(answer, value=read_value(answer.raw, schema))
        except ModelReplyInvalid as error:
            raise answer.invalid(str(error)) from None

    def stream(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ReplyStream:
        """Return the next answer in pieces of a few characters."""
        return ReplyStream(self._pieces(messages, max_tokens))

    def _pieces(self, messages: Sequence[ChatMessage], limit: int | None) -> Generator[str, None, Completion]:
        answer = self._next(messages, None, limit)
        yield from (answer.raw[at : at + _PIECE] for at in range(0, len(answer.raw), _PIECE))
        return answer

    def _next(self, messages: Sequence[ChatMessage], schema: JsonSchema | None, limit: int | None) -> Completion:
        with self._lock:
            self.asked.append(tuple(messages))
            self.schemas.append(schema)
            self.limits.append(limit)
            if not self._script and self._then is None:
                raise AssertionError(f"the fake model was asked {len(self.asked)} times, more often than its script")
            line = self._script.popleft() if self._script else self._then
        while isinstance(line, Held):
            line.asked.set()
            if not line.release.wait(_LONGEST_SECONDS):
                raise AssertionError("nobody released the answer of the fake model")
            line = line.answer
        if callable(line):
            line = line(messages)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, Completion):
            return line
        raw = line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
        usage = ChatOptions().estimated(messages, raw)
        return Completion(text=without_thinking(raw), raw=raw, usage=usage)
