"""What is there already of the lines that an import brings: by id, by key, and items by what they say."""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Table, select

from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import records, schema
from retentia.store.database import Transaction, batches
from retentia.store.records import RECORD_TABLES, TABLES, View
from retentia.transfer.lines import Parsed
from retentia.write.items import content_key, one_content
from retentia.write.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class InScope:
    """A line of a record and where it goes: `session_id` is None for what belongs to no session."""

    position: int
    line: Parsed
    session_id: bytes | None

    @property
    def key(self) -> str:
        """Its key; "" when it has none, as items do."""
        return "" if self.line.is_item else self.line.values["client_key"] or ""

    @property
    def session(self) -> str:
        """The name of its session in the file, which is the one here; "" for what belongs to no session."""
        return "" if self.session_id is None else self.line.session

    @property
    def names(self) -> list[tuple[object, ...]]:
        """What makes it the same as one that is there, besides its id."""
        if self.line.is_item:
            key = one_content(self.line.kind, self.line.values)
            return [] if key is None else [(self.line.kind, key)]
        return [(self.line.kind, self.session_id, self.key)] if self.key else []


class Known:
    """What a scope has of some lines, looked up all at once; what is added counts as there from then on."""

    def __init__(self, place: Place, scope: Scope, lines: Collection[InScope]) -> None:
        given = [one.line.id for one in lines if one.line.id is not None]
        self._scope = scope
        taken = {
            record_id
            for table in RECORD_TABLES
            for record_id in taken_elsewhere(place.transaction, place.scope_id, table, given)
        }
        self._by_id = self._records(place, set(given) - taken)
        # what got an id of its own once keeps it, also when the other scope has erased its record
        own = {own_id(scope, record_id): record_id for record_id in given if record_id not in self._by_id}
        under_own = self._records(place, own)
        self._by_id |= under_own
        self._moved = taken | {own[record_id] for record_id in under_own}
        keyed = _by_place(lines)
        self._by_name = dict(_keyed(place, keyed)) | dict(_items(place, lines))
        self._erased_ids = place.erased_ids(given)
        self._erased = {
            (*where, key)
            for where, some in keyed.items()
            for key in place.erased(TABLES[Kind(where[0])], [one.key for one in some], some[0].session)
        }

    def id_here(self, given: bytes) -> bytes:
        """Return the id under which a record is kept in this scope: the one given, unless another scope has it."""
        return own_id(self._scope, given) if given in self._moved else given

    def is_other(self, record_id: bytes, line: Parsed) -> bool:
        """Tell whether an id is that of another record here."""
        return self._by_id.get(record_id, (line.kind, line.values["text"])) != (line.kind, line.values["text"])

    def was_erased(self, one: InScope) -> bool:
        """Tell whether a record was erased under this id or key and must not come back from the same source."""
        return one.line.id in self._erased_ids or not self._erased.isdisjoint(one.names)

    def find(self, one: InScope, record_id: bytes) -> bytes | None:
        """Return the id of the record that this line is here, or None when it is new."""
        if record_id in self._by_id:
            return record_id
        return next((self._by_name[name] for name in one.names if name in self._by_name), None)

    def add(self, one: InScope, record_id: bytes) -> None:
        """Count a line as there."""
        self._by_id[record_id] = one.line.kind, one.line.values["text"]
        self._by_name.update((name, record_id) for name in one.names)

    def _records(self, place: Place, ids: Collection[bytes]) -> dict[bytes, tuple[str, object]]:
        kinds = records.kinds_of(place.transaction, View({place.scope_id: self._scope}), ids)
        texts = records.texts(place.transaction, place.scope_id, kinds)
        return {record_id: (kind.value, texts[record_id]) for kind, some in kinds.items() for record_id in some}


def own_id(scope: Scope, *parts: bytes) -> bytes:
    """Return an id that is always the same for the same parts in the same scope: a UUID of version 8 (RFC 9562)."""
    names = [name.encode() for name in (scope.tenant, scope.user, scope.space, scope.agent)]
    digest = bytearray(hashlib.sha256(b"\0".join((*names, *parts))).digest()[:16])
    digest[6] = 0x80 | (digest[6] & 0x0F)
    digest[8] = 0x80 | (digest[8] & 0x3F)
    return bytes(digest)


def taken_elsewhere(transaction: Transaction, scope_id: int, table: Table, ids: Iterable[bytes]) -> set[bytes]:
    """Return those ids that another scope of the tenant has in a table.

    Sources and erasures go by ids within a tenant, so that two scopes must not share one. Costs a look into an index
    for each id and scope.
    """
    statement = select(table.c.id).where(
        schema.scope.c.tenant == transaction.tenant,
        schema.scope.c.scope_id != scope_id,
        table.c.tenant == transaction.tenant,
        table.c.scope_id == schema.scope.c.scope_id,
    )
    return {row.id for some in batches(ids) for row in transaction.rows(statement.where(table.c.id.in_(some)))}


def _by_place(lines: Iterable[InScope]) -> dict[tuple[str, bytes | None], list[InScope]]:
    """Collect the lines with a key by their kind and session, within which keys name them."""
    found: dict[tuple[str, bytes | None], list[InScope]] = {}
    for one in lines:
        if one.key:
            found.setdefault((one.line.kind, one.session_id), []).append(one)
    return found


def _keyed(
    place: Place, lines: Mapping[tuple[str, bytes | None], Sequence[InScope]]
) -> Iterable[tuple[tuple[object, ...], bytes]]:
    """Yield what is there under the keys of messages, tool calls and documents."""
    for (kind, session_id), some in lines.items():
        for key, record_id in place.known(TABLES[Kind(kind)], [one.key for one in some], session_id).items():
            yield (kind, session_id, key), record_id


def _items(place: Place, lines: Iterable[InScope]) -> Iterable[tuple[tuple[object, ...], bytes]]:
    """Yield the items that say the same."""
    item = schema.item
    said = {content_key(one.line.values["text"]) for one in lines if one.line.is_item}
    statement = select(item.c.kind, item.c.content_key, item.c.id).where(
        item.c.tenant == place.transaction.tenant, item.c.scope_id == place.scope_id
    )
    for some in batches(said):
        sought = [place.transaction.sought(item.c.content_key, place.scope_id, key) for key in some]
        for row in place.transaction.rows(statement.where(item.c.content_key.in_(sought))):
            yield (row.kind, bytes(row.content_key)), row.id
