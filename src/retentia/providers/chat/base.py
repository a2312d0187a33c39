"""What a chat model promises, and the values it is asked with and answers with."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeAlias

from retentia.errors import InvalidInput, ModelReplyInvalid
from retentia.model.message import JSON
from retentia.providers.prepare import clean

Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length", "filtered", "other"]
JsonSchema: TypeAlias = Mapping[str, Any]
"""A JSON Schema, of which the part in `json_schema.py` is checked."""

_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message to a model; NUL and halves of surrogate pairs, which no server takes, are replaced."""

    role: Role
    text: str = field(repr=False)

    def __post_init__(self) -> None:
        if self.role not in _ROLES:
            raise InvalidInput(f"the role of a message to a model is one of {', '.join(_ROLES)}, not {self.role!r}")
        object.__setattr__(self, "text", clean(self.text))


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call took, counted by the server, or estimated by us where it does not say."""

    tokens_in: int
    tokens_out: int
    is_estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer.

    `text` is what was said without thinking aloud, `raw` with it. `value` is the JSON that was asked for by a schema,
    None without one. `finish` says why the model stopped: "length" means it was cut off.
    """

    text: str = field(repr=False)
    raw: str = field(repr=False)
    usage: Usage
    finish: Finish = "stop"
    value: JSON = field(default=None, repr=False)

    def invalid(self, why: str) -> ModelReplyInvalid:
        """Return the error that says why this answer is not what was asked for; its tokens were spent."""
        match self.finish:
            case "length":
                why = "the chat model's answer was cut off at its longest; raise max_tokens, or ask for less"
            case "filtered":
                why = "the chat model declined to answer; ask in other words"
        return ModelReplyInvalid(why, reply=self.raw, tokens_in=self.usage.tokens_in, tokens_out=self.usage.tokens_out)


class ReplyStream(Iterator[str]):
    """The pieces of an answer as they arrive, with `completion` at their end. Close it when you stop early.

    Nothing is sent before the first piece is asked for. Iterating raises ModelError; pieces that came before an error
    are no answer. Thinking aloud is part of the pieces.
    """

    def __init__(self, pieces: Generator[str, None, Completion]) -> None:
        self._pieces = pieces
        self._completion: Completion | None = None

    def __next__(self) -> str:
        try:
            return next(self._pieces)
        except StopIteration as end:
            if end.value is not None:  # a generator gives its value only once
                self._completion = end.value
        raise StopIteration

    @property
    def completion(self) -> Completion:
        """Return the whole answer; raise InvalidInput before its end."""
        if self._completion is None:
            raise InvalidInput("the answer has not ended yet; iterate to its end first")
        return self._completion

    def close(self) -> None:
        """Stop listening, and let go of the connection."""
        self._pieces.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ChatModel(Protocol):
    """Answers messages. Safe to call from several threads; holds no connection of the store.

    Raises ModelUnavailable for what may pass, ModelRejected for what will not, and ModelReplyInvalid for an answer
    that is not what was asked for: never an empty result in its place. No error quotes the messages or the key.
    """

    @property
    def identity(self) -> str:
        """Return which model this is, such as "openai:qwen3@http://127.0.0.1:8080/v1"; asks no server."""

    def complete(
        self, messages: Sequence[ChatMessage], *, schema: JsonSchema | None = None, max_tokens: int | None = None
    ) -> Completion:
        """Return the answer; with a schema its `value` is JSON that fits it."""

    def stream(self, messages: Sequence[ChatMessage], *, max_tokens: int | None = None) -> ReplyStream:
        """Return the answer piece by piece."""


ChatModelSpec: TypeAlias = str | ChatModel | None
