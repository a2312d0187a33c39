"""Admission: what may enter, and in which shape. Pure; nothing here touches a store.

Text is kept verbatim in every script, with two exceptions that are reported: secrets are masked, and what no database
can hold (NUL, halves of a surrogate pair) becomes a visible replacement character.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from retentia.errors import ContentTooLarge, EmptyContent, InvalidInput
from retentia.model.message import JSON, ROLES, Document, Message, When
from retentia.model.provenance import Trust
from retentia.model.time import Moment
from retentia.security.secrets import mask_json, mask_secrets
from retentia.tools.condense import condense
from retentia.tools.normalise import plain

MessageLike: TypeAlias = Message | str | Mapping[str, object]
MAX_MESSAGE_CHARACTERS = 4_000_000
MAX_DOCUMENT_CHARACTERS = 64_000_000
_MAX_NAME = 1000
TRUST_BY_ROLE = {"user": Trust.PERSON, "assistant": Trust.AGENT, "system": Trust.AGENT, "tool": Trust.OUTSIDE}
_UNSTORABLE = {0: "\ufffd"} | dict.fromkeys(range(55296, 57344), "�")


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A text that may be stored, and what was changed so that it may."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmittedMessage:
    """A message ready to be stored; `parts` and `metadata` are JSON text or None."""

    role: str
    speaker: str
    text: str
    parts: str | None
    key: str | None
    pinned: bool
    moment: Moment
    trust: Trust
    metadata: str | None
    notes: tuple[str, ...]


def as_message(given: MessageLike) -> Message:
    """Accept a message as it is, text as what the user said, or a mapping with the fields of Message."""
    match given:
        case Message():
            return given
        case str():
            return Message(role="user", content=given)
        case Mapping():
            try:
                return Message(**given)  # type: ignore[arg-type]  # its fields are checked at admission
            except TypeError as error:
                raise InvalidInput(
                    f"a message needs role and content, and knows the fields of Message: {error}"
                ) from error
    raise InvalidInput(f"a message is text, a mapping or a Message, not {type(given).__name__}")


def admit_message(message: Message, *, now: Moment) -> AdmittedMessage:
    """Check and clean one message; raise InvalidInput with the remedy."""
    if message.role not in ROLES:
        raise InvalidInput(f"unknown role {message.role!r}; use one of {', '.join(sorted(ROLES))}")
    raw, parts = _content(message)
    if not raw.strip() and not parts:
        raise EmptyContent("the message has no content; leave it out, or give it text")
    admitted = admit_text(raw, limit=MAX_MESSAGE_CHARACTERS)
    return AdmittedMessage(
        role=message.role,
        speaker=admit_name("speaker", message.speaker),
        text=admitted.text,
        parts=dump(parts),
        key=admit_name("key", message.key) or None,
        pinned=message.pinned,
        moment=admit_time(message.at, now),
        trust=TRUST_BY_ROLE[message.role],
        metadata=admit_metadata(message.metadata),
        notes=admitted.notes,
    )


def admit_text(text: str, *, limit: int) -> Admitted:
    """Mask secrets and replace what no database can hold; raise ContentTooLarge."""
    if not isinstance(text, str):
        raise InvalidInput(f"content must be text, not {type(text).__name__}")
    if len(text) > limit:
        raise ContentTooLarge(
            f"the content has {len(text):,} characters, {limit:,} are allowed; add it as a document or in pieces"
        )
    notes = []
    if (storable := _storable(text)) != text:
        notes.append("characters that cannot be stored (NUL or half a surrogate pair) were replaced by U+FFFD")
    masked = mask_secrets(storable)
    notes.extend(secret_notes(found.kind for found in masked.found))
    return Admitted(text=masked.text, notes=tuple(notes))


def admit_name(what: str, name: str) -> str:
    """Check a short text such as a speaker, a key or a title."""
    if not isinstance(name, str):
        raise InvalidInput(f"the {what} must be text, not {type(name).__name__}")
    if len(name) > _MAX_NAME:
        raise InvalidInput(f"the {what} may have {_MAX_NAME} characters, this one has {len(name)}")
    return _storable(name)


def admit_metadata(metadata: Mapping[str, JSON]) -> str | None:
    """Write metadata as JSON text without secrets; None when there is none."""
    return dump(metadata) if metadata else None


def admit_time(at: When | None, now: Moment) -> Moment:
    """Read when it happened; without it, now. What has no zone is in the zone of `now`."""
    return now if at is None else Moment.parse(at, zone=now.zone)


def dump(value: JSON) -> str | None:
    """Write JSON text with secrets masked, None for nothing; raise InvalidInput for what is not JSON."""
    if value is None or value in ({}, []):
        return None
    try:
        return _storable(json.dumps(mask_json(value).value, ensure_ascii=False, separators=(",", ":")))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"parts, arguments, results and metadata must be JSON: {error}") from error


def admit_result(value: JSON) -> tuple[JSON, tuple[str, ...]]:
    """Return a result without secrets, and the notes about them; raise InvalidInput for what is not JSON."""
    try:
        json.dumps(value, default=plain)  # finds a cycle at once, which masking would walk round
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"results must be JSON: {error}; pass text, numbers, lists and objects of them") from error
    masked = mask_json(value)
    return masked.value, secret_notes(masked.kinds)


def secret_notes(kinds: Iterable[str]) -> tuple[str, ...]:
    """Say which kinds of secrets were masked."""
    return tuple(f"a secret was masked: {kind}" for kind in sorted(set(kinds)))


def tool_call_text(name: str, arguments: str | None, outcome: JSON) -> str:
    """Write a call the way it is searched: name, arguments and what came of it, each condensed; without secrets."""
    return f"{name}({condense(arguments or '')}) -> {condense(outcome)}"


def document_text(document: Document) -> Admitted:
    """Check and clean a document's text; raise EmptyContent or ContentTooLarge."""
    admitted = admit_text(document.text, limit=MAX_DOCUMENT_CHARACTERS)
    if not admitted.text.strip():
        raise EmptyContent("the document has no text")
    return admitted


def _content(message: Message) -> tuple[str, dict[str, JSON]]:
    """Split content into the text that is searched and what is kept beside it."""
    parts: dict[str, JSON] = {}
    if message.tool_calls:
        parts["tool_calls"] = list(message.tool_calls)
    if message.tool_call_id:
        parts["tool_call_id"] = message.tool_call_id
    content: Any = message.content  # outside text: not to be trusted to have its declared type
    if content is None or isinstance(content, str):
        return content or "", parts
    if not isinstance(content, Sequence) or not all(isinstance(part, Mapping) for part in content):
        raise InvalidInput("content is text or a list of content parts, each a mapping with a type")
    if content:
        parts["content"] = list(content)
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str)), parts


def _storable(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.translate(_UNSTORABLE)
    return text.replace("\x00", "\ufffd") if "\x00" in text else text
