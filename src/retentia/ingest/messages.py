"""One record of a chat file, in any of the common shapes, as messages.

Roles, texts, times and ids go by many names; what else is simple at the top of a record becomes metadata, what is
nested is left out unless it stands under "metadata". Pure: values in, values out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from retentia.errors import InvalidMoment
from retentia.ingest.content import Content, ToolResult, read_content, tool_call
from retentia.model.message import JSON, Message, Role
from retentia.model.time import Moment

ROLE_NAMES: Mapping[str, Role] = {
    **dict.fromkeys(("user", "human", "customer", "prompter"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "chatbot", "gpt", "chatgpt", "claude", "model", "agent"), "assistant"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function", "ipython", "observation"), "tool"),
}
SESSION_FIELDS = (
    "session",
    "session_id",
    "sessionId",
    "conversation_id",
    "thread_id",
    "chat_id",
    "conversation",
    "thread",
)
TIME_FIELDS = ("timestamp", "created_at", "create_time", "createdAt", "datetime", "time", "date", "ts", "at")
ID_FIELDS = ("uuid", "id", "message_id", "client_id", "key")
_ROLE_FIELDS = ("role", "sender", "from", "author", "type")
PERSON_FIELDS = ("user_id", "userId", "customer_id", "customerId", "account_id", "member_id", "user", "customer")
_SPEAKER_FIELDS = ("speaker", "name", "author", "user_name", "username", "sender", "from")
_CONTENT_FIELDS = ("content", "text", "value", "message", "body", "utterance", "parts")
_ENVELOPES = ("message", "payload", "data")
_KNOWN = frozenset(
    (*SESSION_FIELDS, *TIME_FIELDS, *ID_FIELDS, *_ROLE_FIELDS, *_SPEAKER_FIELDS, *_CONTENT_FIELDS, *_ENVELOPES)
) | {"metadata", "tool_calls", "tool_call_id", "function_call", "pinned"}
_MAX_METADATA_TEXT = 500


@dataclass(frozen=True, slots=True)
class Context:
    """What holds for a whole file or conversation where a record does not say it itself."""

    zone: str
    at: Moment | None = None
    metadata: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a record held: messages whose `key` is the id it gave, and reasons (with details) for what was left out."""

    messages: tuple[Message, ...] = ()
    problems: tuple[tuple[str, str], ...] = ()


def read_message(given: Mapping[str, object], context: Context) -> Reading:
    """Read one record. An unreadable time is a problem but costs only the time."""
    record = _unwrapped(given)
    role, speaker = _role_and_speaker(record)
    if role is None:
        return Reading(problems=(_no_role(record),))
    pieces = read_content(first_of(record, _CONTENT_FIELDS))
    problems = [problem for piece in pieces for problem in piece.problems]
    whole = [piece for piece in pieces if not piece.is_empty]
    calls = _given_calls(record)
    if calls and not whole:
        whole = [Content()]
    elif not whole and not problems:
        problems.append(("empty message", ""))
    at, unreadable = _time_of(record, context)
    make = partial(
        Message,
        at=at,
        metadata={**context.metadata, **_metadata(record)},
        pinned=record.get("pinned") is True,
    )
    keys = _numbered(text_of(first_of(record, ID_FIELDS)), len(whole))
    answered = text_of(record.get("tool_call_id"))
    made = [
        _result(make, piece.result, key)
        if piece.result is not None
        else make(
            role=role,
            content=piece.value,
            speaker=speaker,
            tool_calls=(*calls, *piece.tool_calls),
            tool_call_id=answered,
            key=key,
        )
        for piece, key in zip(whole, keys, strict=True)
    ]
    return Reading(tuple(made), (*problems, *unreadable))


def first_of(record: Mapping[str, object], names: Sequence[str]) -> object:
    """Return the first of the named fields that is there and not null."""
    for name in names:
        value = record.get(name)
        if value is not None:
            return value
    return None


def text_of(value: object) -> str:
    """Return an id or a name as text; what is neither text nor an integer is none."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def moment_of(value: object, zone: str) -> Moment | None:
    """Read a time as chat files hold it: ISO text, or seconds, milli-, micro- or nanoseconds since 1970.

    Counts are told apart by size: 1e11 seconds are the year 5138, 1e11 milliseconds March 1973. Raises InvalidMoment.
    """
    if value is None or value == "":
        return None
    count = _count(value)
    for unit in (1e0, 1e3, 1e6, 1e9):
        if 10_000 <= count / unit < 1e11:
            return Moment.from_unix(count / unit, zone)
    return Moment.parse(value, zone=zone)  # type: ignore[arg-type]  # it names what it cannot read


def _count(value: object) -> float:
    """Return a number, also one in text if it is too long for a date; 0 when there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 0
    try:
        return 0 if isinstance(value, str) and (len(value) < 9 or value[4] == "-") else float(value)
    except (ValueError, OverflowError):
        return 0


def _time_of(record: Mapping[str, object], context: Context) -> tuple[Moment | None, list[tuple[str, str]]]:
    value = first_of(record, TIME_FIELDS)
    try:
        return moment_of(value, context.zone) or context.at, []
    except InvalidMoment:
        return context.at, [("the time cannot be read; kept without it", repr(value)[:80])]


def _result(make: "partial[Message]", result: ToolResult, key: str) -> Message:
    made = make(role="tool", content=result.text, tool_call_id=result.call_id, key=key)
    return replace(made, metadata={**made.metadata, "is_error": True}) if result.is_error else made


def _unwrapped(given: Mapping[str, object]) -> Mapping[str, object]:
    """Merge a message that lies inside an envelope with it; time and ids of the envelope count."""
    for name in _ENVELOPES:
        inner = given.get(name)
        if isinstance(inner, dict) and any(field in inner for field in ("content", "text", "role")):
            outer = {key: value for key, value in given.items() if key != name}
            own = {key: outer[key] for key in (*ID_FIELDS, *TIME_FIELDS) if outer.get(key) is not None}
            return {**outer, **inner, **own}
    return given


def _role_and_speaker(record: Mapping[str, object]) -> tuple[Role | None, str]:
    """Find the role by name; a record with a named speaker and no role was said by a person."""
    speaker = next((name for name in map(_name_of, _values(record, _SPEAKER_FIELDS)) if name), "")
    for place in _ROLE_FIELDS:
        value = record.get(place)
        name = value.get("role") if isinstance(value, dict) else value
        role = ROLE_NAMES.get(name.lower()) if isinstance(name, str) else None
        if role is not None:
            return role, speaker
    return (None, "") if "role" in record or not speaker else ("user", speaker)


def _values(record: Mapping[str, object], fields: Sequence[str]) -> list[object]:
    return [record[field] for field in fields if field in record]


def _name_of(value: object) -> str:
    name = value.get("name") if isinstance(value, dict) else value
    return name.strip() if isinstance(name, str) and name.lower() not in ROLE_NAMES else ""


def _no_role(record: Mapping[str, object]) -> tuple[str, str]:
    if record.get("role") is not None:
        return "unknown role: use user, assistant, system or tool", repr(record["role"])[:80]
    return "no message: neither a role nor a speaker", f"fields {', '.join(sorted(record))[:80]}"


def _given_calls(record: Mapping[str, object]) -> tuple[Mapping[str, JSON], ...]:
    calls = record.get("tool_calls")
    found: list[Mapping[str, JSON]] = []
    if isinstance(calls, list):
        found += [call for call in calls if isinstance(call, dict)]
    legacy = record.get("function_call")
    if isinstance(legacy, dict):
        found.append(tool_call("", str(legacy.get("name", "")), legacy.get("arguments", "")))
    return tuple(found)


def _metadata(record: Mapping[str, object]) -> dict[str, JSON]:
    given = record.get("metadata")
    found: dict[str, JSON] = {
        key: value
        for key, value in record.items()
        if key not in _KNOWN
        and (isinstance(value, bool | int | float) or (isinstance(value, str) and 0 < len(value) <= _MAX_METADATA_TEXT))
    }
    return {**found, **given} if isinstance(given, dict) else found


def _numbered(key: str, count: int) -> list[str]:
    """Give the messages of one record different keys from its one id."""
    return [f"{key}/{place}" for place in range(1, count + 1)] if key and count > 1 else [key] * count
