"""From what is handed in to the row that is inserted: first what is admitted, then its place in the store. Pure."""

from dataclasses import dataclass, field

from retentia.errors import InvalidInput
from retentia.index.passages import Indexable
from retentia.model.message import Document, ToolCall
from retentia.model.provenance import Trust
from retentia.model.time import Moment
from retentia.store.database import Params
from retentia.tools.condense import truncated
from retentia.tools.freshness import ToolRules
from retentia.tools.normalise import read_arguments
from retentia.write import admission, indexed
from retentia.write.admission import AdmittedMessage


@dataclass(frozen=True, slots=True)
class Row:
    """One row to insert, and what the index shall know of it."""

    values: Params
    indexed: Indexable


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A record that may be stored and has no place yet; `columns` are those that only its kind has."""

    text: str
    moment: Moment | None
    trust: Trust
    metadata: str | None
    key: str | None = None
    notes: tuple[str, ...] = ()
    columns: Params = field(default_factory=dict)

    def known(self, record_id: bytes, recorded_at: int) -> indexed.Known:
        """Return what the index is told of a record of any kind."""
        return {"record_id": record_id, "text": self.text, "moment": self.moment, "recorded_at": recorded_at}

    def row(self, described: Indexable, **place: object) -> Row:
        """Return the row that the index describes so; `place` are the columns that say where it belongs."""
        shared = {"id": described.record_id, "text": self.text, "trust": self.trust, "metadata": self.metadata}
        return Row({**self.columns, **shared, **moment_columns(self.moment), **place}, described)


def message_row(message: AdmittedMessage, record_id: bytes, *, session_id: bytes, seq: int, recorded_at: int) -> Row:
    """Return the row of a message at its place in a session."""
    described = indexed.message(
        record_id=record_id,
        text=message.text,
        moment=message.moment,
        recorded_at=recorded_at,
        session_id=session_id,
        seq=seq,
        role=message.role,
        speaker=message.speaker,
    )
    values = {
        "id": record_id,
        "session_id": session_id,
        "seq": seq,
        "role": message.role,
        "speaker": message.speaker,
        "text": message.text,
        "parts": message.parts,
        "client_key": message.key,
        "pinned": int(message.pinned),
        "trust": message.trust,
        "metadata": message.metadata,
        **moment_columns(message.moment),
    }
    return Row(values, described)


def draft_tool_call(call: ToolCall, *, now: Moment, rules: ToolRules) -> Draft:
    """Check and clean a tool call, and cut a result that is larger than its rule allows; raise InvalidInput."""
    name = admission.admit_name("name", call.name)
    if not name:
        raise InvalidInput("a tool call needs the name of the tool")
    given = read_arguments(call.arguments)
    arguments = admission.dump(given.value)
    result, notes = admission.admit_result(call.result)
    kept, full_bytes = truncated(result, rules.rule_for(name, given.value).max_result_bytes)
    error = admission.admit_text(call.error, limit=admission.MAX_MESSAGE_CHARACTERS)
    text = admission.admit_text(
        admission.tool_call_text(name, arguments, error.text or kept), limit=admission.MAX_MESSAGE_CHARACTERS
    )
    cut = () if full_bytes is None else (f"the result of {full_bytes:,} bytes was cut; its beginning and end are kept",)
    return Draft(
        text=text.text,
        moment=admission.admit_time(call.at, now),
        trust=Trust.OUTSIDE,
        metadata=admission.admit_metadata(call.metadata),
        key=admission.admit_name("key", call.key) or None,
        notes=tuple(dict.fromkeys((*cut, *admission.secret_notes(given.secrets), *notes, *error.notes, *text.notes))),
        columns={
            "name": name,
            "arguments": arguments,
            "result": admission.dump(kept),
            "status": call.status,
            "error": error.text,
            "duration_ms": call.duration_ms,
            "tokens": call.tokens,
            "full_bytes": full_bytes,
        },
    )


def draft_document(document: Document, *, zone: str) -> Draft:
    """Check and clean a document; raise InvalidInput."""
    text = admission.document_text(document)
    return Draft(
        text=text.text,
        moment=None if document.at is None else Moment.parse(document.at, zone=zone),
        trust=Trust.OUTSIDE,
        metadata=admission.admit_metadata(document.metadata),
        key=admission.admit_name("key", document.key) or None,
        notes=text.notes,
        columns={
            "title": admission.admit_name("title", document.title),
            "uri": admission.admit_name("uri", document.uri),
            "media_type": admission.admit_name("media_type", document.media_type),
        },
    )


def moment_columns(moment: Moment | None) -> dict[str, object]:
    """Return the columns of event time."""
    return {
        "occurred_start": moment.start if moment else None,
        "occurred_end": moment.end if moment else None,
        "precision": moment.precision.value if moment else None,
        "zone": moment.zone if moment else "",
    }
