"""What callers hand in: messages, tool calls, documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias

from retentia.model.time import Moment

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
Role = Literal["user", "assistant", "system", "tool"]
When: TypeAlias = Moment | datetime | date | str
ROLES: frozenset[str] = frozenset(("user", "assistant", "system", "tool"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One thing said: by whom, what, when.

    `content` is text, or content parts as chat APIs use them (text parts are searched, the rest is kept verbatim).
    `speaker` names the participant where the role does not tell. `key` makes adding idempotent within a session.
    `at` is when it was said: a datetime, a date or ISO text ("2026", "2026-06-01T19:00+02:00"); without it, now.
    `tool_calls` and `tool_call_id` tie an assistant's calls to the tool messages that answer them.
    """

    role: Role
    content: str | Sequence[Mapping[str, JSON]]
    speaker: str = ""
    at: When | None = None
    key: str = ""
    pinned: bool = False
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    tool_calls: Sequence[Mapping[str, JSON]] = ()
    tool_call_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool: its arguments and what came of it. `duration_ms` in milliseconds."""

    name: str
    arguments: JSON = None
    result: JSON = None
    status: Literal["ok", "error"] = "ok"
    error: str = ""
    duration_ms: float | None = None
    tokens: int | None = None
    at: When | None = None
    key: str = ""
    metadata: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text from outside: kept whole, searched by passages, cited by character spans."""

    text: str
    title: str = ""
    uri: str = ""
    media_type: str = "text/plain"
    at: When | None = None
    key: str = ""
    metadata: Mapping[str, JSON] = field(default_factory=dict)
