"""Import of export lines, step by step: check -> sessions -> what is there already -> one transaction -> sources.

Everything goes into the scope that is named, whatever scope the file is of. An import only adds: what is there stays as
it is. It may be repeated: what has come in is recognised by its id, its key or, for an item, its content.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retentia.errors import Conflict, ErasedEarlier, RetentiaError
from retentia.index.passages import Indexable
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.portable import SESSION, Line
from retentia.model.provenance import Source
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import records, summaries
from retentia.store.database import Database
from retentia.store.records import RECORD_TABLES, TABLES
from retentia.transfer.known import InScope, Known
from retentia.transfer.lines import Parsed, parse_line
from retentia.transfer.seats import Seats
from retentia.write import admission, indexed
from retentia.write.items import link_sources, one_content
from retentia.write.place import Buried, Place
from retentia.write.receipt import Failed, Receipt, Written
from retentia.write.rows import Row, moment_columns

IMPORTED_ID = "imported_id"
"""The metadata key under which a record that got another id keeps the one it came with."""
_OTHER = "the id belongs to another record here, which was left as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored(Receipt):
    """A receipt of an import. `unlinked` names, by position, the sources of items that are not in the scope (yet)."""

    unlinked: Mapping[int, tuple[RecordId, ...]] = field(default_factory=dict)


def restore(
    database: Database, given: Sequence[Line], scope: Scope, *, zone: str, tombstones: Buried | None = None
) -> Restored:
    """Keep lines of an export in one transaction; those that cannot be kept are named in the receipt.

    What was erased under its key does not come back, as `tombstones` tell.
    """
    now = Moment.now(zone)
    parsed: dict[int, Parsed] = {}
    failed: list[Failed] = []
    for position, line in enumerate(given):
        try:
            parsed[position] = parse_line(line, now=now)
        except RetentiaError as error:
            failed.append(Failed(position=position, code=error.code, reason=str(error)))
    with database.write(scope.tenant) as transaction:
        batch = _Batch(Place(transaction, scope, tombstones), scope)
        batch.take(parsed)
        job_ids = batch.insert()
        summaries.delete_covering(transaction, batch.scope_id, batch.inserted)  # they do not tell of what came between
        batch.link()
    return Restored(
        scope=scope,
        written=tuple(sorted(batch.written, key=lambda entry: entry.position)),
        failed=tuple(sorted((*failed, *batch.failed), key=lambda entry: entry.position)),
        notes=tuple(dict.fromkeys(note for line in parsed.values() for note in line.notes)),
        job_ids=job_ids,
        unlinked=batch.unlinked,
    )


class _Batch:
    """The lines of one transaction on their way into one scope."""

    def __init__(self, place: Place, scope: Scope) -> None:
        self.written: list[Written] = []
        self.failed: list[Failed] = []
        self.unlinked: dict[int, tuple[RecordId, ...]] = {}
        self._scope = scope
        self._place = place
        self._seats = Seats(place, scope)
        self._fresh: list[tuple[InScope, bytes]] = []
        self._links: list[tuple[int, bytes, tuple[Source, ...]]] = []
        self._moved: dict[bytes, bytes] = {}

    @property
    def scope_id(self) -> int:
        """The number of the scope."""
        return self._place.scope_id

    @property
    def inserted(self) -> list[bytes]:
        """The ids of the records that are new."""
        return [record_id for _, record_id in self._fresh]

    def take(self, parsed: Mapping[int, Parsed]) -> None:
        """Decide what becomes of each line, in order."""
        for position, line in parsed.items():
            if line.kind == SESSION:
                session_id, is_new = self._seats.session(line.values["name"], line.id, line.values)
                self._write(position, session_id, is_new=is_new)
        lines = [self._in_scope(position, line) for position, line in parsed.items() if line.kind != SESSION]
        known = Known(self._place, self._scope, lines)
        for one in lines:
            self._decide(one, known)

    def insert(self) -> tuple[RecordId, ...]:
        """Write what is new; return the ids of the jobs."""
        rows: dict[str, list[Row]] = {table.name: [] for table in RECORD_TABLES}
        places = self._seats.take(self._fresh)
        for one, record_id in self._fresh:
            row = _row(one, record_id, places.get(record_id, 0), recorded_at=self._place.transaction.now)
            rows[TABLES[Kind(one.line.kind)].name].append(row)
        return tuple(job for table in RECORD_TABLES for job in self._place.insert(table, rows[table.name]))

    def link(self) -> None:
        """Note which records the items are known from, as far as these are in the scope."""
        here = {source.id: self._id_of(source) for _, _, sources in self._links for source in sources}
        view = records.view_of(self._place.transaction, self._scope)
        kinds = records.kinds_of(self._place.transaction, view, list(here.values()))
        there = {record_id for ids in kinds.values() for record_id in ids}
        for position, record_id, sources in self._links:
            found = [replace(source, id=id_text(here[source.id])) for source in sources if here[source.id] in there]
            link_sources(self._place.transaction, record_id, found)
            if len(found) < len(sources):
                self.unlinked[position] = tuple(one.id for one in sources if here[one.id] not in there)

    def _decide(self, one: InScope, known: Known) -> None:
        line = one.line
        record_id = new_id_bytes() if line.id is None else known.id_here(line.id)
        if known.is_other(record_id, line):
            self.failed.append(Failed(position=one.position, code=Conflict.code, reason=_OTHER))
            return
        if known.was_erased(one):
            self.failed.append(Failed(position=one.position, code=ErasedEarlier.code, reason=str(ErasedEarlier())))
            return
        earlier = known.find(one, record_id)
        if earlier is None:
            moved = one if line.id in (None, record_id) else replace(one, line=_with_id_kept(line))
            self._fresh.append((moved, record_id))
            known.add(one, record_id)
        self._write(one.position, earlier or record_id, is_new=earlier is None)
        if line.id is not None:
            self._moved[line.id] = earlier or record_id
        if line.sources:
            self._links.append((one.position, earlier or record_id, line.sources))

    def _in_scope(self, position: int, line: Parsed) -> InScope:
        if "session_id" not in line.values:
            return InScope(position=position, line=line, session_id=None)
        session_id, _ = self._seats.session(line.session, line.values["session_id"])
        return InScope(position=position, line=line, session_id=session_id)

    def _id_of(self, source: Source) -> bytes:
        given = id_bytes(source.id)
        return self._moved.get(given, given)

    def _write(self, position: int, record_id: bytes, *, is_new: bool) -> None:
        self.written.append(Written(position=position, id=id_text(record_id), is_new=is_new))


def _with_id_kept(line: Parsed) -> Parsed:
    """Keep the id that a record came with in its metadata."""
    metadata: dict[str, Any] = json.loads(line.values["metadata"] or "{}")
    kept = admission.dump({**metadata, IMPORTED_ID: id_text(line.id or b"")})
    return replace(line, values={**line.values, "metadata": kept})


def _row(one: InScope, record_id: bytes, seq: int, *, recorded_at: int) -> Row:
    """Return the row of a new record; `recorded_at` is for a line that does not tell."""
    line, values = one.line, dict(one.line.values)
    values |= {"id": record_id, **moment_columns(line.moment)}
    values["recorded_at"] = recorded_at if values["recorded_at"] is None else values["recorded_at"]
    if one.session_id is not None:
        values |= {"session_id": one.session_id, "seq": seq}
    if line.is_item:
        values |= {"kind": line.kind, "content_key": one_content(line.kind, values)}
    return Row(values, _described(line, values))


def _described(line: Parsed, values: Mapping[str, Any]) -> Indexable:
    known: indexed.Known = {
        "record_id": values["id"],
        "text": values["text"],
        "moment": line.moment,
        "recorded_at": values["recorded_at"],
    }
    match line.kind:
        case Kind.MESSAGE.value:
            place = {name: values[name] for name in ("session_id", "seq", "role", "speaker")}
            return indexed.message(**place, **known)
        case Kind.TOOL_CALL.value:
            return indexed.tool_call(session_id=values["session_id"], seq=values["seq"], **known)
        case Kind.DOCUMENT.value:
            return indexed.document(**known)
        case kind:
            is_past, is_quote = values["valid_to"] is not None, bool(line.sources)
            return indexed.item(Kind(kind), is_past=is_past, is_quote=is_quote, **known)
