"""Extraction by a model: it is shown a part of a session and proposes items.

The model proposes and code decides (see `retentia.learn.model_answer`): nothing is believed because it said it, and
what its messages do not bear out is refused. An answer without any item of the form that was asked for is no answer,
and is asked for again; an empty list is one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from retentia.errors import ModelReplyInvalid
from retentia.languages.periods import Direction
from retentia.learn.dates import date_in
from retentia.learn.extract import DateReader
from retentia.learn.model_answer import KINDS, Read, read_items
from retentia.learn.plain_dates import plain_date
from retentia.learn.stretch import Line, Part
from retentia.model.attributes import Attributes
from retentia.model.candidate import Candidate, Manner
from retentia.model.message import JSON
from retentia.model.time import Moment
from retentia.prompts.prompt import load
from retentia.providers.chat.base import ChatMessage, ChatModel
from retentia.providers.chat.parse import read_value
from retentia.working.original import Original
from retentia.working.quote import block, label, nonce_for, quoted

_ANSWER_TOKENS = 2000
_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": _TEXT}
_ITEM: Mapping[str, Any] = {
    "kind": {"type": "string", "enum": [kind.value for kind in KINDS]},
    "message": _TEXT,
    "quote": _TEXT,
    "subject": _TEXT,
    "attribute": _TEXT,
    "value": _TEXT,
    "is_not": {"type": "boolean"},
    "manner": {"type": "string", "enum": [manner.value for manner in Manner]},
    "since": _TEXT,
    "until": _TEXT,
    "applies_to": _TEXT,
    "due": _TEXT,
    "reasons": _TEXTS,
    "rejected": _TEXTS,
}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _ITEM,
                "required": list(_ITEM),
                "additionalProperties": False,
            },
        }
    },
    "required": ["items"],
    "additionalProperties": False,
}
"""What is asked for."""
_TAKEN: Mapping[str, Any] = {
    "type": "object",
    "properties": {"items": {"type": "array"}},
    "required": ["items"],
}
"""What is taken: an item that lacks something is looked at by itself, so that it does not cost the others."""


class ModelExtractor:
    """Asks a chat model what a part of a session teaches. Raises ModelError, also where the answer cannot be used."""

    def __init__(self, model: ChatModel, attributes: Attributes, *, dates: DateReader | None = None) -> None:
        """Ask `model` about `attributes`; `dates` reads the times that people name, as seen from the message."""
        self._model = model
        self._attributes = attributes
        self._dates = dates or _date_in

    @property
    def identity(self) -> str:
        """Which model is asked."""
        return self._model.identity

    def read(self, part: Part, *, by_rule: Sequence[Candidate]) -> Read:
        """Return what a model proposes for a part, without what the rules read of the same words."""
        answer = self._items(asked_for(part, self._attributes))
        read = read_items(answer, part, by_rule=by_rule, attributes=self._attributes, dates=self._dates)
        if not read.is_usable:
            raise ModelReplyInvalid(f"{self.identity} answered with items that have nothing of what was asked for")
        return read

    def _items(self, asked: Sequence[ChatMessage]) -> list[JSON]:
        try:
            return _list(self._model.complete(asked, schema=SCHEMA, max_tokens=_ANSWER_TOKENS).value)
        except ModelReplyInvalid as error:
            if not error.reply:
                raise
            try:
                return _list(read_value(error.reply, _TAKEN))
            except ModelReplyInvalid:
                raise error from None


def asked_for(part: Part, attributes: Attributes) -> list[ChatMessage]:
    """Return what a model is asked about a part: the conversation is quoted data, marked by who said it."""
    body = "\n".join(f"{_heading(line)}:\n{quoted(line.text)}" for line in part)
    names = ", ".join(attributes.names())
    return [
        ChatMessage("system", load("extract_facts").filled(attributes=names)),
        ChatMessage("user", block("conversation", nonce_for([body]), body)),
    ]


def _heading(line: Line) -> str:
    said = [line.mark, line.role]
    if line.role == "user" and line.message.speaker:
        said.append(label(line.message.speaker))
    if line.message.at is not None:
        said.append(line.message.at.iso()[:10])
    return ", ".join(said)


def _date_in(text: str, message: Original, toward: Direction) -> Moment | None:
    return date_in(text, said=message.at, toward=toward) if message.at else plain_date(text)


def _list(value: JSON) -> list[JSON]:
    items = value.get("items") if isinstance(value, Mapping) else None
    return list(items) if isinstance(items, Sequence) and not isinstance(items, str) else []
