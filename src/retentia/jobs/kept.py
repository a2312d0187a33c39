"""What agents lose first becomes records of its own: decisions, their reasons, rejected options, the environment.

They are sentences of messages, word for word, each with its message as source: erased with it, and never more than what
the message says. A person's own sentence counts as stated; an assistant's stays a candidate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from retentia.model.ids import RecordId, new_id_bytes
from retentia.model.message import JSON
from retentia.model.provenance import Source, Trust
from retentia.model.record import ABOUT, Importance, Kind, MessageRecord, Status
from retentia.model.scope import Scope
from retentia.store import beliefs, records, schema
from retentia.store.database import Transaction
from retentia.working.kept import KeptKind
from retentia.write import indexed
from retentia.write.admission import dump
from retentia.write.items import Item, content_key, draft_item, link_sources
from retentia.write.place import Place
from retentia.write.rows import Row

_KINDS = {
    KeptKind.DECISION: Kind.DECISION,
    KeptKind.REASON: Kind.KNOWLEDGE,
    KeptKind.REJECTED: Kind.KNOWLEDGE,
    KeptKind.ENVIRONMENT: Kind.KNOWLEDGE,
}


def write_kept(
    transaction: Transaction, scope: Scope, body: Mapping[str, JSON], messages: Sequence[MessageRecord]
) -> None:
    """Write what a summariser kept of messages; the same sentence again is one record with one more source."""
    kept = body.get("kept")
    said = {message.id: message for message in messages}
    place = Place(transaction, scope)
    fresh: dict[tuple[Kind, bytes], Row] = {}
    for one in kept if isinstance(kept, list) else ():
        if not isinstance(one, Mapping):
            continue
        about = KeptKind(str(one["kind"]))
        message = said.get(RecordId(str(one["message_id"])))
        if about not in _KINDS or message is None:
            continue
        start, end = int(str(one["start"])), int(str(one["end"]))
        source = Source(kind=Kind.MESSAGE.value, id=message.id, start=start, end=end)
        key = (_KINDS[about], content_key(message.text[start:end]))
        known = records.known_contents(transaction, place.scope_id, [key]).get(key)
        if known is None:
            row = fresh.setdefault(key, _row(about, message, source, recorded_at=transaction.now))
            link_sources(transaction, row.indexed.record_id, [source])
        elif link_sources(transaction, known, [source]):  # otherwise it was learned from these very words
            beliefs.see_again(transaction, place.scope_id, [known])
    place.insert(schema.item, list(fresh.values()))


def _row(about: KeptKind, message: MessageRecord, source: Source, *, recorded_at: int) -> Row:
    item = Item(
        text=message.text[source.start : source.end],
        kind=_KINDS[about],
        at=message.occurred,
        importance=Importance.NORMAL,
        author=message.speaker or message.role,
        metadata=dump({ABOUT: about.value}),
        sources=(source,),
    )
    draft = draft_item(item)
    is_own = message.trust is Trust.PERSON
    status = Status.STATED if is_own else Status.CANDIDATE
    draft = replace(draft, trust=message.trust, columns={**draft.columns, "status": status})
    described = indexed.item(item.kind, is_quote=True, **draft.known(new_id_bytes(), recorded_at))
    return draft.row(described, content_key=content_key(draft.text))
