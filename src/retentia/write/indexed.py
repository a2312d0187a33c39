"""What the index is told of a record, by its kind: at the write, and when it is read back to be indexed anew."""

from dataclasses import replace
from typing import TypedDict, Unpack

from retentia.index.passages import Indexable
from retentia.model.ids import id_bytes
from retentia.model.record import DocumentRecord, ItemRecord, Kind, MessageRecord, Record, ToolCallRecord
from retentia.model.time import Moment


class Known(TypedDict):
    """What every record has. `recorded_at` in UTC microseconds."""

    record_id: bytes
    text: str
    moment: Moment | None
    recorded_at: int


def message(*, session_id: bytes, seq: int, role: str, speaker: str, **known: Unpack[Known]) -> Indexable:
    """Describe a message: part of its session, said by someone."""
    return Indexable.of(kind=Kind.MESSAGE.value, thread=session_id, seq=seq, role=role, speaker=speaker, **known)


def tool_call(*, session_id: bytes, seq: int, **known: Unpack[Known]) -> Indexable:
    """Describe a tool call: part of its session, said by the tool."""
    return Indexable.of(kind=Kind.TOOL_CALL.value, thread=session_id, seq=seq, role="tool", **known)


def document(**known: Unpack[Known]) -> Indexable:
    """Describe a document: its passages are the thread."""
    return Indexable.of(kind=Kind.DOCUMENT.value, thread=known["record_id"], **known)


def item(kind: Kind, *, is_past: bool = False, is_quote: bool = False, **known: Unpack[Known]) -> Indexable:
    """Describe something known: it stands alone, may have ended, and may be known from other records."""
    described = Indexable.of(kind=kind.value, is_past=is_past, is_quote=is_quote, **known)
    # Tasks are compared by what they say: with its day in the text, one task would be less like itself each day.
    return replace(described, day=0) if kind in (Kind.EXPERIENCE, Kind.TOOL) else described


def indexed(record: Record) -> Indexable:
    """Describe a record that was read back, as the write described it."""
    known: Known = {
        "record_id": id_bytes(record.id),
        "text": record.text,
        "moment": record.occurred,
        "recorded_at": record.recorded_at,
    }
    match record:
        case MessageRecord(session_id=session, seq=seq, role=role, speaker=speaker):
            return message(session_id=id_bytes(session), seq=seq, role=role, speaker=speaker, **known)
        case ToolCallRecord(session_id=session, seq=seq):
            return tool_call(session_id=id_bytes(session), seq=seq, **known)
        case DocumentRecord():
            return document(**known)
        case ItemRecord(valid_to=ends, sources=sources):
            return item(record.kind, is_past=ends is not None, is_quote=bool(sources), **known)
    raise AssertionError(f"no record is a {record.kind}")
