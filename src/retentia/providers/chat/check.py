"""Find out what a chat model can do, by asking it little."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from retentia.errors import ModelError
from retentia.providers.chat.base import ChatMessage, ChatModel

_HELLO = (ChatMessage("user", "Answer with the one word: ready"),)
_CITY = (
    ChatMessage("system", "You read one sentence and answer in JSON with the city and the number of people."),
    ChatMessage("user", "Three friends met in Lisbon."),
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "people": {"type": "integer"}},
    "required": ["city", "people"],
    "additionalProperties": False,
}
_FEW_TOKENS = 200
_WORDS = {
    "json_schema": "the endpoint takes a schema and keeps to it",
    "json_object": "the endpoint promises JSON, not a schema; the schema is told in words",
    "prompt": "the endpoint promises nothing; the schema is told in words",
    "tool": "the schema is the input of a tool",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What was found. `error` says why it does not answer; the others say what does not work of the rest."""

    model: str
    answers: bool
    error: str = ""
    seconds: float | None = None
    streams: bool = False
    stream_error: str = ""
    first_piece_seconds: float | None = None
    keeps_schema: bool = False
    schema_mode: str = ""
    schema_error: str = ""
    reports_tokens: bool = False

    def in_words(self) -> list[str]:
        """Return a line for each thing that was looked at."""
        if not self.answers:
            return [f"{self.model} does not answer: {self.error}"]
        first = "" if self.first_piece_seconds is None else f", the first piece after {self.first_piece_seconds:.2f} s"
        tokens = "reported by the server" if self.reports_tokens else "not reported; they are estimated"
        mode = _WORDS.get(self.schema_mode, "how it asked for JSON is not known")
        return [
            f"{self.model} answers, in {self.seconds:.2f} s",
            f"streaming: {'yes' + first if self.streams else f'no: {self.stream_error}'}",
            f"schema: {f'yes: {mode}' if self.keeps_schema else f'no: {self.schema_error}'}",
            f"tokens: {tokens}",
        ]


def check_model(model: ChatModel, *, clock: Callable[[], float] = time.monotonic) -> ModelCheck:
    """Ask a model three short questions, and say what it can do; what fails is a finding, not an error."""
    if warm := getattr(model, "warm", None):
        warm()
    started = clock()
    try:
        answer = model.complete(_HELLO, max_tokens=_FEW_TOKENS)
    except ModelError as error:
        return ModelCheck(model=model.identity, answers=False, error=str(error))
    return ModelCheck(
        model=model.identity,
        answers=True,
        seconds=round(clock() - started, 3),
        reports_tokens=not answer.usage.is_estimated,
        **_streaming(model, clock),
        **_schema(model),
    )


def _streaming(model: ChatModel, clock: Callable[[], float]) -> dict[str, Any]:
    started, first = clock(), None
    try:
        for _ in model.stream(_HELLO, max_tokens=_FEW_TOKENS):
            first = first or round(clock() - started, 3)
    except ModelError as error:
        return {"stream_error": str(error)}
    return {"streams": True, "first_piece_seconds": first}


def _schema(model: ChatModel) -> dict[str, Any]:
    try:
        model.complete(_CITY, schema=SCHEMA, max_tokens=_FEW_TOKENS)
    except ModelError as error:
        return {"schema_error": str(error)}
    mode = getattr(model, "schema_mode", None)
    return {"keeps_schema": True, "schema_mode": (mode(SCHEMA) if mode else "") or ""}
