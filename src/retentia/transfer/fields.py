"""The fields of each kind of line in an export: how a column is written, and what it must be to be read back. Pure."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Table

from retentia.errors import InvalidInput
from retentia.model.ids import id_bytes, id_text
from retentia.model.message import JSON, ROLES
from retentia.model.provenance import Trust
from retentia.model.record import Importance, Kind, Status
from retentia.store import schema
from retentia.store.records import TABLES
from retentia.write import admission

_Notes = list[str]
_LONGEST = 1 << 62
_INTEGER = (1 << 31) - 1


class Codec(NamedTuple):
    """How a value is written to a line, and how it is read: (field, value, notes), raising InvalidInput."""

    write: Callable[[Any], JSON]
    read: Callable[[str, Any, _Notes], object]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a line. `default` is the column where the line has none; `column` where it has another name."""

    name: str
    codec: Codec
    default: object = None
    column: str = ""

    @property
    def stored_as(self) -> str:
        """The name of its column."""
        return self.column or self.name


def table_of(kind: str) -> Table:
    """Return the table that holds lines of a kind."""
    return schema.session if kind == schema.session.name else TABLES[Kind(kind)]


def _same(value: Any) -> JSON:
    known: JSON = value
    return known


def _finite(value: float | None) -> JSON:
    return value if value is None or math.isfinite(value) else None  # infinity is no JSON


def _parsed(text: str | None) -> JSON:
    value: JSON = None if text is None else json.loads(text, parse_constant=lambda _: None)  # NaN is no JSON
    return value


def _read_id(what: str, value: Any, _: _Notes) -> bytes:
    try:
        return id_bytes(value)
    except (ValueError, AttributeError):
        raise InvalidInput(f"{what} must be an id of 32 hexadecimal digits, not {str(value)[:40]!r}") from None


def _read_name(what: str, value: Any, _: _Notes) -> str:
    return admission.admit_name(what, value)


def _read_text(what: str, value: Any, notes: _Notes, *, limit: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{what} must be text, not {type(value).__name__}")
    admitted = admission.admit_text(value, limit=limit)
    notes.extend(admitted.notes)
    return admitted.text


def _read_object(what: str, value: Any, _: _Notes) -> str | None:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be a JSON object, not {type(value).__name__}")
    return admission.dump(value)


def _read_any(_what: str, value: Any, _: _Notes) -> str | None:
    return admission.dump(value)


def _read_integer(what: str, value: Any, _: _Notes, *, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidInput(f"{what} must be an integer from {low} to {high}, not {str(value)[:40]!r}")
    return value


def _read_number(what: str, value: Any, _: _Notes) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise InvalidInput(f"{what} must be a number, not {str(value)[:40]!r}")
    return float(value)


def _read_flag(what: str, value: Any, _: _Notes) -> int:
    if not isinstance(value, bool):
        raise InvalidInput(f"{what} must be true or false, not {str(value)[:40]!r}")
    return int(value)


def _read_one_of(what: str, value: Any, _: _Notes, *, choices: frozenset[str]) -> str:
    if not isinstance(value, str) or value not in choices:
        raise InvalidInput(f"{what} must be one of {', '.join(sorted(choices))}, not {str(value)[:40]!r}")
    return value


def _integer(low: int = -_LONGEST, high: int = _LONGEST) -> Codec:
    return Codec(_same, partial(_read_integer, low=low, high=high))


def _text(limit: int) -> Codec:
    return Codec(_same, partial(_read_text, limit=limit))


def _choice(choices: type[StrEnum] | frozenset[str]) -> Codec:
    return Codec(_same, partial(_read_one_of, choices=frozenset(str(choice) for choice in choices)))


_ID = Codec(id_text, _read_id)
_NAME = Codec(_same, _read_name)
_TEXT = _text(admission.MAX_MESSAGE_CHARACTERS)
_OBJECT = Codec(_parsed, _read_object)
_ANY = Codec(_parsed, _read_any)
_FLAG = Codec(bool, _read_flag)
_NUMBER = Codec(_finite, _read_number)
_TIME = _integer()
_PLACE = _integer(1)

_KEY = Field("key", _NAME, column="client_key")
_METADATA = Field("metadata", _OBJECT)
_KEPT = (
    Field("recorded_at", _TIME),
    Field("trust", _choice(Trust), Trust.OUTSIDE.value),
    Field("review_at", _TIME),
    Field("expires_at", _TIME),
    _METADATA,
)
_ITEM = (
    Field("text", _TEXT),
    Field("status", _choice(Status), Status.STATED.value),
    Field("confidence", _NUMBER, 1.0),
    Field("importance", _choice(Importance), Importance.NORMAL.value),
    Field("valid_from", _TIME),
    Field("valid_to", _TIME),
    Field("retracted_at", _TIME),
    Field("seen_count", _integer(1, _INTEGER), 1),
    Field("version", _integer(1, _INTEGER), 1),
    Field("author", _NAME, ""),
    Field("body", _OBJECT),
    *_KEPT,
)

FIELDS: Mapping[str, tuple[Field, ...]] = {
    "session": (
        Field("name", _NAME),
        Field("next_seq", _PLACE, 1),
        Field("started_at", _TIME),
        Field("last_at", _TIME),
        Field("ended_at", _TIME),
        _METADATA,
        Field("learned_seq", _integer(0), 0),
    ),
    "message": (
        Field("session_id", _ID),
        Field("seq", _PLACE),
        Field("role", _choice(ROLES)),
        Field("speaker", _NAME, ""),
        Field("text", _TEXT, ""),
        Field("parts", _OBJECT),
        _KEY,
        Field("pinned", _FLAG, 0),
        *_KEPT,
    ),
    "tool_call": (
        Field("session_id", _ID),
        Field("seq", _PLACE),
        Field("name", _NAME),
        Field("text", _TEXT),
        Field("arguments", _ANY),
        Field("result", _ANY),
        Field("status", _NAME, "ok"),
        Field("error", _TEXT, ""),
        Field("duration_ms", _NUMBER),
        Field("tokens", _integer()),
        Field("full_bytes", _integer()),
        _KEY,
        *_KEPT,
    ),
    "document": (
        Field("title", _NAME, ""),
        Field("uri", _NAME, ""),
        Field("media_type", _NAME, ""),
        Field("text", _text(admission.MAX_DOCUMENT_CHARACTERS)),
        _KEY,
        *_KEPT,
    ),
} | {kind.value: _ITEM for kind in Kind if TABLES[kind] is schema.item}
"""What each kind of line holds besides `kind` and `id`; records also have `occurred`, those of a session its name as
`session`, and items `sources`."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(FIELDS, ("text",)),
    "session": ("name",),
    "message": ("role",),
    "tool_call": ("name", "text"),
}
"""What a line cannot do without."""

NOT_EXPORTED: Mapping[str, frozenset[str]] = {
    "session": frozenset(),
    "message": frozenset(),
    "tool_call": frozenset(),
    "document": frozenset(),
    "item": frozenset({"content_key"}),  # made anew from the text
}
"""Columns that are derived, and made anew by an import; a test holds every other column against FIELDS."""
