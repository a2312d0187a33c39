"""Records: the rows that are truth. Written once, read back with the scope in the query."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, Self, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Delete,
    Select,
    Table,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    select,
    update,
)

from retentia.model.ids import SessionId, id_text
from retentia.model.provenance import Source, Trust
from retentia.model.record import (
    BELIEVED,
    DocumentRecord,
    Importance,
    ItemRecord,
    Kind,
    MessageRecord,
    Record,
    Status,
    ToolCallRecord,
)
from retentia.model.scope import Scope
from retentia.model.time import Moment, Precision
from retentia.model.turns import in_turns
from retentia.store import scopes
from retentia.store.among import IDS, among, parcels
from retentia.store.database import Rows, Transaction, batches
from retentia.store.schema import claim, derived_from, document, item, message, passage, session, tool_call
from retentia.store.scopes import ScopeVersion

TABLES: Mapping[Kind, Table] = {
    Kind.MESSAGE: message,
    Kind.TOOL_CALL: tool_call,
    Kind.DOCUMENT: document,
} | {kind: item for kind in Kind if kind not in {Kind.MESSAGE, Kind.TOOL_CALL, Kind.DOCUMENT}}
_NO_PLACE = 1 << 62
"""Behind every place of a session, and more than there are."""
_Fields: TypeAlias = Mapping[str, Any]  # what a driver returns has no static type
RECORD_TABLES: tuple[Table, ...] = (message, tool_call, document, item)
_FIRST = itemgetter(0)
# Looking a name up takes a third of the time of calling its enumeration.
_TRUST = {trust.value: trust for trust in Trust}
_PRECISION = {precision.value: precision for precision in Precision}
_KIND = {kind.value: kind for kind in Kind}
_STATUS = {status.value: status for status in Status}
_IMPORTANCE = {importance.value: importance for importance in Importance}


@dataclass(frozen=True, slots=True)
class View:
    """The scopes a read may see, by number, with their names for what is shown."""

    scopes: Mapping[int, Scope]

    @classmethod
    def of(cls, seen: Iterable[ScopeVersion], scope: Scope) -> Self:
        """Name what `scopes.view` returned for a scope: its own rows, and what the user's agents share."""
        return cls({entry.scope_id: scope if entry.agent == scope.agent else scope.shared() for entry in seen})

    @property
    def scope_ids(self) -> list[int]:
        """The numbers of the scopes."""
        return list(self.scopes)


def view_of(transaction: Transaction, scope: Scope) -> View:
    """Return what a read of a scope may see: its own rows, and what the user's agents share."""
    return View.of(scopes.view(transaction, scope), scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceKey:
    """Where a record came from: its kind, its scope, its session ("" for a document) and its key there."""

    kind: str
    scope: Scope
    session: str
    key: str


def source_keys(transaction: Transaction, view: View, ids: Mapping[Kind, Collection[bytes]]) -> list[SourceKey]:
    """Return where those messages, tool calls and documents of a view came from that had a key there."""
    found: list[SourceKey] = []
    for kind, some in ids.items():
        if (table := TABLES[kind]) is item:
            continue
        for scope_id, name in view.scopes.items():
            for ids_here in parcels(transaction, some):
                rows = transaction.tuples(_origin(table), {**_of_scope(transaction, scope_id), IDS: ids_here})
                found += [
                    SourceKey(kind=kind.value, scope=name, session=session_name, key=key)
                    for key, session_name in in_turns(rows)
                ]
    return found


def sessions_of(transaction: Transaction, scope_id: int, ids: Mapping[Kind, Collection[bytes]]) -> set[bytes]:
    """Return the sessions of one scope in which any of the records lies."""
    found: set[bytes] = set()
    for kind, some in ids.items():
        if "session_id" in (table := TABLES[kind]).c:
            for ids_here in parcels(transaction, some):
                rows = transaction.tuples(_sessions(table), {**_of_scope(transaction, scope_id), IDS: ids_here})
                found.update(map(_FIRST, rows))
    return found


def remove(transaction: Transaction, scope_id: int, kind: Kind, ids: Collection[bytes]) -> int:
    """Remove the rows of records of one kind and scope; return how many there were."""
    key = _of_scope(transaction, scope_id)
    statement = _delete(TABLES[kind])
    return sum(transaction.run(statement, {**key, IDS: some}) for some in parcels(transaction, ids))


def known_keys(
    transaction: Transaction, table: Table, scope_id: int, session_id: bytes | None, keys: Collection[str]
) -> dict[str, bytes]:
    """Return the ids of records that were already written under these keys."""
    within = [table.c.tenant == transaction.tenant, table.c.scope_id == scope_id]
    if session_id is not None:
        within.append(table.c.session_id == session_id)
    statement = select(table.c.client_key, table.c.id).where(*within)
    found: dict[str, bytes] = {}
    for some in batches(keys):
        sought = [transaction.sought(table.c.client_key, scope_id, key) for key in some]
        rows = transaction.rows(statement.where(table.c.client_key.in_(sought)))
        found.update((row.client_key, row.id) for row in rows)
    return found


def fetch(transaction: Transaction, view: View, ids: Mapping[Kind, Collection[bytes]]) -> dict[bytes, Record]:
    """Return the records with these ids that lie in the view, by id; what is gone or elsewhere is left out."""
    found: dict[bytes, Record] = {}
    if not view.scopes:
        return found
    by_table: dict[Table, list[bytes]] = {}
    for kind, some in ids.items():
        by_table.setdefault(TABLES[kind], []).extend(some)
    for table, wanted in by_table.items():
        for batch in batches(wanted):
            statement = _by_ids(table, len(view.scopes), len(batch))
            params = {"tenant": transaction.tenant, **_numbered("scope", view.scopes), **_numbered("id", batch)}
            for row in transaction.tuples(statement, params):
                fields = _fields(table, row)
                found[fields["id"]] = _record(table, fields, view)
    return _with_sources(transaction, found)


def kinds_of(transaction: Transaction, view: View, ids: Collection[bytes]) -> dict[Kind, list[bytes]]:
    """Tell what kind of record each id names; ids that are not in the view are left out."""
    found: dict[Kind, list[bytes]] = {}
    rest = sorted(dict.fromkeys(ids))
    for table in RECORD_TABLES:
        gone: set[bytes] = set()
        for kind, some in _kinds_in(transaction, view, table, rest).items():
            found[kind] = sorted(some)
            gone.update(some)
        if gone:  # no other table has them
            rest = (
                [] if len(gone) == len(rest) else [record_id for record_id in in_turns(rest) if record_id not in gone]
            )
    return found


def _kinds_in(transaction: Transaction, view: View, table: Table, ids: Sequence[bytes]) -> dict[Kind, list[bytes]]:
    here: dict[str, list[bytes]] = {}
    for scope_id in view.scope_ids:
        for some in parcels(transaction, ids):
            rows = transaction.tuples(_kinds(table), {**_of_scope(transaction, scope_id), IDS: some})
            if table is not item:
                here.setdefault(table.name, []).extend(map(_FIRST, rows))
                continue
            for record_id, kind in rows:
                here.setdefault(kind, []).append(record_id)
    return {Kind(kind): some for kind, some in here.items() if some}


def ids_besides(transaction: Transaction, scope_id: int, kinds: Collection[Kind]) -> set[bytes]:
    """Return the ids of the records of a scope that are of none of these kinds."""
    found: set[bytes] = set()
    for table in RECORD_TABLES:
        if table is not item and Kind(table.name) in kinds:
            continue
        statement = select(table.c.id).where(table.c.tenant == transaction.tenant, table.c.scope_id == scope_id)
        if table is item:
            statement = statement.where(item.c.kind.not_in(sorted(kinds)))
        found.update(row.id for row in transaction.rows(statement))
    return found


def texts(transaction: Transaction, scope_id: int, ids: Mapping[Kind, Collection[bytes]]) -> dict[bytes, str]:
    """Return the texts of records of one scope by id; what is gone is left out."""
    found: dict[bytes, str] = {}
    for kind, some in ids.items():
        table = TABLES[kind]
        statement = select(table.c.id, table.c.text).where(
            table.c.tenant == transaction.tenant, table.c.scope_id == scope_id
        )
        for batch in batches(some):
            found.update((row.id, row.text) for row in transaction.rows(statement.where(table.c.id.in_(batch))))
    return found


def stored(
    transaction: Transaction, view: View, kind: Kind, ids: Collection[bytes]
) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows of records of one kind as their table has them, with the names of their sessions, some at once."""
    table = TABLES[kind]
    for batch in batches(ids):
        rows = transaction.rows(_in_view(table, transaction, view).where(table.c.id.in_(batch)))
        yield [_fields(table, row) for row in rows]


def read_back(table: Table, row: Mapping[str, Any], view: View) -> Record:
    """Return the record that a row is, as `stored` gave it; the sources of an item are left out."""
    return _record(table, row, view)


def session_messages(
    transaction: Transaction,
    view: View,
    session_id: bytes,
    *,
    after: int = 0,
    until: int | None = None,
    limit: int | None = None,
    newest: bool = False,
    only_pinned: bool = False,
) -> list[MessageRecord]:
    """Return the messages of a session in order, those with `seq` in (after, until].

    With a limit the first of them, or with `newest` the last.
    """
    statement = _said(len(view.scopes), newest=newest, only_pinned=only_pinned)
    params = {
        "tenant": transaction.tenant,
        **_numbered("scope", view.scopes),
        "session_id": session_id,
        "after": after,
        "until": _NO_PLACE if until is None else until,
        "most": _NO_PLACE if limit is None else limit,
    }
    rows = transaction.tuples(statement, params)
    return [_message(_fields(message, row), view) for row in (reversed(rows) if newest else rows)]


def pin(transaction: Transaction, view: View, record_id: bytes, *, pinned: bool) -> bool:
    """Pin a message or unpin it; tell whether the view has it."""
    statement = update(message).where(
        message.c.tenant == transaction.tenant, message.c.scope_id.in_(view.scope_ids), message.c.id == record_id
    )
    return bool(transaction.run(statement.values(pinned=int(pinned))))


def message_ids(transaction: Transaction, scope_id: int, session_id: bytes, *, after: int, until: int) -> list[bytes]:
    """Return the ids of the messages of a session with `seq` in (after, until], in order."""
    statement = select(message.c.id).where(
        message.c.tenant == transaction.tenant,
        message.c.scope_id == scope_id,
        message.c.session_id == session_id,
        message.c.seq > after,
        message.c.seq <= until,
    )
    return [bytes(row.id) for row in transaction.rows(statement.order_by(message.c.seq))]


def last_request(transaction: Transaction, scope_id: int, session_id: bytes, *, before: int) -> bytes | None:
    """Return the id of the last message of a user before a place in a session."""
    statement = select(message.c.id).where(
        message.c.tenant == transaction.tenant,
        message.c.scope_id == scope_id,
        message.c.session_id == session_id,
        message.c.seq < before,
        message.c.role == "user",
    )
    row = transaction.first(statement.order_by(message.c.seq.desc()).limit(1))
    return None if row is None else bytes(row.id)


def latest_items(transaction: Transaction, view: View, kinds: Collection[str], *, limit: int) -> list[ItemRecord]:
    """Return the items of some kinds that were recorded last, are believed and hold now, the latest first."""
    statement = _in_view(item, transaction, view).where(item.c.kind.in_(kinds), *_believed(), item.c.valid_to.is_(None))
    rows = transaction.rows(statement.order_by(item.c.recorded_at.desc(), item.c.id).limit(limit))
    return _items(transaction, rows, view)


def items_within(
    transaction: Transaction,
    view: View,
    kinds: Collection[str],
    *,
    since: int | None,
    until: int | None,
    importance: str | None = None,
    limit: int,
) -> list[ItemRecord]:
    """Return the believed items of some kinds that happened in [since, until), UTC microseconds, the latest first.

    None is open; what has no time of its own happened when it was recorded. What has ended is among them.
    """
    starts = func.coalesce(item.c.occurred_start, item.c.recorded_at)
    statement = _in_view(item, transaction, view).where(item.c.kind.in_(kinds), *_believed())
    if since is not None:
        statement = statement.where(func.coalesce(item.c.occurred_end, item.c.recorded_at + 1) > since)
    if until is not None:
        statement = statement.where(starts < until)
    if importance is not None:
        statement = statement.where(item.c.importance == importance)
    rows = transaction.rows(statement.order_by(starts.desc(), item.c.id).limit(limit))
    return _items(transaction, rows, view)


def items_held(
    transaction: Transaction, view: View, kind: str, *, after: bytes | None = None, limit: int
) -> list[ItemRecord]:
    """Return the items of a kind that are believed and hold now, in the order of their ids, those after one."""
    statement = _in_view(item, transaction, view).where(item.c.kind == kind, *_believed(), item.c.valid_to.is_(None))
    if after is not None:
        statement = statement.where(item.c.id > after)
    rows = transaction.rows(statement.order_by(item.c.id).limit(limit))
    return _items(transaction, rows, view)


def _believed() -> tuple[ColumnElement[bool], ...]:
    return item.c.status.in_(BELIEVED), item.c.retracted_at.is_(None)


def _items(transaction: Transaction, rows: Rows, view: View) -> list[ItemRecord]:
    """Return items with their sources, in the order of their rows."""
    found: dict[bytes, Record] = {}
    for row in rows:
        fields = _fields(item, row)
        found[fields["id"]] = _item(fields, view)
    items = _with_sources(transaction, found)
    return [one for name in found if isinstance(one := items[name], ItemRecord)]


_SOURCES_OF = (
    select(
        derived_from.c.child_id,
        derived_from.c.parent_kind,
        derived_from.c.parent_id,
        derived_from.c.start,
        derived_from.c.end,
        derived_from.c.role,
    )
    .where(
        derived_from.c.tenant == bindparam("tenant"),
        derived_from.c.child_kind == bindparam("child_kind"),
        among(derived_from.c.child_id),
    )
    .order_by(derived_from.c.parent_kind, derived_from.c.parent_id, derived_from.c.start)
)


def believed(transaction: Transaction, view: View) -> list[ItemRecord]:
    """Return all items that are believed and hold on, in the order of their ids, with their sources."""
    statement = _in_view(item, transaction, view).where(
        item.c.status.in_(["stated", "confirmed"]), item.c.retracted_at.is_(None), item.c.valid_to.is_(None)
    )
    found: dict[bytes, Record] = {}
    for row in transaction.rows(statement.order_by(item.c.id)):
        fields = _fields(item, row)
        found[fields["id"]] = _item(fields, view)
    return [one for one in _with_sources(transaction, found).values() if isinstance(one, ItemRecord)]


def items_about(
    transaction: Transaction,
    view: View,
    *,
    subject_key: bytes | None = None,
    attribute: str = "",
    value_key: bytes | None = None,
    kinds: Collection[str] = (),
    statuses: Collection[str] = (),
    is_current: bool = False,
) -> list[ItemRecord]:
    """Return the items whose claim has these keys, in the order they were recorded, with their sources.

    `is_current` leaves out what has ended or was retracted.
    """
    found: dict[bytes, Record] = {}
    for scope_id in view.scope_ids:
        params: dict[str, object] = {"tenant": transaction.tenant, "scope_id": scope_id}
        if subject_key is not None:
            params["subject_key"] = transaction.sought(claim.c.subject_key, scope_id, subject_key)
        if attribute:
            params["attribute"] = attribute
        if value_key is not None:
            params["value_key"] = transaction.sought(claim.c.value_key, scope_id, value_key)
        statement = _about(
            tuple(named for named in sorted(params) if named in claim.c and named not in {"tenant", "scope_id"}),
            len(kinds),
            len(statuses),
            is_current,
        )
        params |= {**_numbered("kind", kinds), **_numbered("status", statuses)}
        for row in transaction.tuples(statement, params):
            fields = _fields(item, row)
            found[fields["id"]] = _item(fields, view)
    items = _with_sources(transaction, found).values()
    return sorted((one for one in items if isinstance(one, ItemRecord)), key=lambda one: (one.recorded_at, one.id))


@lru_cache(maxsize=64)
def _about(given: tuple[str, ...], kinds: int, statuses: int, is_current: bool) -> Select[Any]:
    its_claim = (claim.c.tenant == item.c.tenant) & (claim.c.scope_id == item.c.scope_id)
    statement = _shown(item).join(claim, its_claim & (claim.c.record_id == item.c.id))
    statement = statement.where(*(claim.c[name] == bindparam(name) for name in ("tenant", "scope_id", *given)))
    for column, name, count in ((item.c.kind, "kind", kinds), (item.c.status, "status", statuses)):
        if count:
            statement = statement.where(column.in_([bindparam(one) for one in _numbered(name, range(count))]))
    if is_current:
        statement = statement.where(item.c.valid_to.is_(None), item.c.retracted_at.is_(None))
    return statement


def items_from_session(transaction: Transaction, scope_id: int, session_id: bytes) -> list[bytes]:
    """Return the ids of the items that name messages of a session as their source, in order."""
    statement = (
        select(derived_from.c.child_id)
        .distinct()
        .join(message, (message.c.tenant == derived_from.c.tenant) & (message.c.id == derived_from.c.parent_id))
        .where(
            derived_from.c.tenant == transaction.tenant,
            derived_from.c.parent_kind == message.name,
            message.c.scope_id == scope_id,
            message.c.session_id == session_id,
        )
        .order_by(derived_from.c.child_id)
    )
    return [bytes(row.child_id) for row in transaction.rows(statement)]


def session_tool_calls(transaction: Transaction, view: View, session_id: bytes) -> list[ToolCallRecord]:
    """Return the logged tool calls of a session in order."""
    statement = _in_view(tool_call, transaction, view).where(tool_call.c.session_id == session_id)
    rows = transaction.rows(statement.order_by(tool_call.c.seq))
    return [_tool_call(_fields(tool_call, row), view) for row in rows]


def page(
    transaction: Transaction, view: View, table: Table, *, after: bytes | None, limit: int, kinds: Collection[str] = ()
) -> list[Record]:
    """Return records of one table in the order of their ids, those after an id."""
    statement = _in_view(table, transaction, view).order_by(table.c.id).limit(limit)
    if after is not None:
        statement = statement.where(table.c.id > after)
    if kinds and table is item:
        statement = statement.where(item.c.kind.in_(kinds))
    found = {fields["id"]: _record(table, fields, view) for fields in _all_fields(table, transaction.rows(statement))}
    return list((_with_sources(transaction, found) if table is item else found).values())


def metadata_of(transaction: Transaction, view: View, table: Table) -> Rows:
    """Return (id, metadata) of every record of one table in the view; metadata is JSON text or None."""
    return transaction.rows(select(table.c.id, table.c.metadata).where(*_within(table, transaction, view)))


def see_again(transaction: Transaction, scope_id: int, kind: str, content_key: bytes) -> bytes | None:
    """Count one more sighting of a known item; return its id, or None when it is not known."""
    row = transaction.first(
        update(item)
        .where(
            item.c.tenant == transaction.tenant,
            item.c.scope_id == scope_id,
            item.c.kind == kind,
            item.c.content_key == transaction.sought(item.c.content_key, scope_id, content_key),
        )
        .values(seen_count=item.c.seen_count + 1)
        .returning(item.c.id)
    )
    return None if row is None else bytes(row.id)


def known_contents(
    transaction: Transaction, scope_id: int, contents: Collection[tuple[str, bytes]]
) -> dict[tuple[str, bytes], bytes]:
    """Return the ids of the items that have one of some contents, given as kind and content key."""
    by_sought = {(kind, transaction.sought(item.c.content_key, scope_id, key)): (kind, key) for kind, key in contents}
    statement = select(item.c.kind, item.c.content_key, item.c.id).where(
        item.c.tenant == transaction.tenant, item.c.scope_id == scope_id
    )
    found: dict[tuple[str, bytes], bytes] = {}
    for kind in sorted({kind for kind, _ in by_sought}):
        keys = [key for other, key in by_sought if other == kind]
        for some in batches(keys):
            rows = transaction.rows(statement.where(item.c.kind == kind, item.c.content_key.in_(some)))
            found.update(((kind, bytes(row.content_key)), bytes(row.id)) for row in rows)
    return found


def counts(transaction: Transaction, view: View) -> dict[str, int]:
    """Count the records of a view by kind."""
    found: dict[str, int] = {}
    for table in (message, tool_call, document):
        counted = select(func.count()).select_from(table).where(*_within(table, transaction, view))
        found[table.name] = transaction.number(counted)
    by_kind = (
        select(item.c.kind, func.count().label("records"))
        .where(*_within(item, transaction, view))
        .group_by(item.c.kind)
    )
    found.update((row.kind, row.records) for row in transaction.rows(by_kind))
    return found


def count_without_passage(transaction: Transaction, scope_id: int) -> int:
    """Count records of a scope that have visible text and no passage."""
    total = 0
    for table in RECORD_TABLES:
        indexed = exists().where(
            passage.c.tenant == table.c.tenant,
            passage.c.scope_id == table.c.scope_id,
            passage.c.record_id == table.c.id,
        )
        statement = (
            select(func.count())
            .select_from(table)
            .where(
                table.c.tenant == transaction.tenant,
                table.c.scope_id == scope_id,
                func.trim(table.c.text, " \t\n\r") != "",
                ~indexed,
            )
        )
        if table is item:  # what is only proposed, or retracted, is in no index
            statement = statement.where(item.c.status != Status.CANDIDATE.value, item.c.retracted_at.is_(None))
        total += transaction.number(statement)
    return total


def sample_texts(transaction: Transaction, scope_id: int, *, limit: int) -> list[str]:
    """Return the texts of the latest messages of a scope."""
    statement = (
        select(message.c.text)
        .where(message.c.tenant == transaction.tenant, message.c.scope_id == scope_id)
        .order_by(message.c.id.desc())
        .limit(limit)
    )
    return [str(row.text) for row in transaction.rows(statement)]


def _within(table: Table, transaction: Transaction, view: View) -> list[ColumnElement[bool]]:
    return [table.c.tenant == transaction.tenant, table.c.scope_id.in_(view.scope_ids)]


def _in_view(table: Table, transaction: Transaction, view: View) -> Select[Any]:
    return _shown(table).where(*_within(table, transaction, view))


@lru_cache(maxsize=64)
def _by_ids(table: Table, scopes: int, ids: int) -> Select[Any]:
    """Return the statement that reads so many ids in so many scopes.

    Building it takes twice as long as running it, so it is kept; and a parameter for each value, because a list that
    expands is written into the statement anew each time.
    """
    return _shown(table).where(
        table.c.tenant == bindparam("tenant"),
        table.c.scope_id.in_([bindparam(name) for name in _numbered("scope", range(scopes))]),
        table.c.id.in_([bindparam(name) for name in _numbered("id", range(ids))]),
    )


@lru_cache(maxsize=64)
def _said(scopes: int, *, newest: bool, only_pinned: bool) -> Select[Any]:
    """Return the statement that reads messages of a session in so many scopes; building it costs more than running."""
    statement = _shown(message).where(
        message.c.tenant == bindparam("tenant"),
        message.c.scope_id.in_([bindparam(name) for name in _numbered("scope", range(scopes))]),
        message.c.session_id == bindparam("session_id"),
        message.c.seq > bindparam("after"),
        message.c.seq <= bindparam("until"),
    )
    if only_pinned:
        # Written out: a parameter hides from SQLite that the index of pinned messages may be used.
        statement = statement.where(message.c.pinned == literal_column("1"))
    return statement.order_by(message.c.seq.desc() if newest else message.c.seq).limit(bindparam("most"))


def _numbered(name: str, values: Iterable[object]) -> dict[str, object]:
    return {f"{name}_{number}": value for number, value in enumerate(values)}


@cache
def _origin(table: Table) -> Select[Any]:
    """Return the statement that reads (key, name of the session) of records that had a key in their source."""
    if "session_id" in table.c:
        statement = select(table.c.client_key, session.c.name).join(session, _its_session(table))
    else:
        statement = select(table.c.client_key, literal_column("''"))
    return statement.where(*_by_id(table), table.c.client_key != literal_column("''"))


@cache
def _kinds(table: Table) -> Select[Any]:
    columns = (table.c.id, table.c.kind) if table is item else (table.c.id,)
    return select(*columns).where(*_by_id(table))


@cache
def _sessions(table: Table) -> Select[Any]:
    return select(table.c.session_id).where(*_by_id(table))  # DISTINCT would read the whole scope by another index


@cache
def _delete(table: Table) -> Delete:
    return delete(table).where(*_by_id(table))


def _by_id(table: Table) -> tuple[ColumnElement[bool], ...]:
    """Say that a record is one of the parameter `ids` in the parameters `tenant` and `scope_id`."""
    return table.c.tenant == bindparam("tenant"), table.c.scope_id == bindparam("scope_id"), among(table.c.id)


def _of_scope(transaction: Transaction, scope_id: int) -> dict[str, object]:
    return {"tenant": transaction.tenant, "scope_id": scope_id}


def _its_session(table: Table) -> ColumnElement[bool]:
    here = (session.c.tenant == table.c.tenant) & (session.c.scope_id == table.c.scope_id)
    return here & (session.c.id == table.c.session_id)


@cache
def _shown(table: Table) -> Select[Any]:
    """Select what a record is made of: its row, and the name of its session where it has one."""
    statement = select(table)
    if "session_id" in table.c:
        statement = statement.add_columns(session.c.name.label("session_name")).join(session, _its_session(table))
    return statement


@cache
def _names(table: Table) -> tuple[str, ...]:
    return tuple(_shown(table).selected_columns.keys())


def _fields(table: Table, row: Sequence[Any]) -> _Fields:
    """Return a row by column name: reading twenty attributes of a row takes four times as long."""
    return dict(zip(_names(table), row, strict=True))


def _all_fields(table: Table, rows: Iterable[Sequence[Any]]) -> Iterator[_Fields]:
    return (_fields(table, row) for row in rows)


def _record(table: Table, fields: _Fields, view: View) -> Record:
    if table is message:
        return _message(fields, view)
    if table is tool_call:
        return _tool_call(fields, view)
    if table is document:
        return DocumentRecord(
            **_common(fields, view, Kind.DOCUMENT),
            title=fields["title"],
            uri=fields["uri"],
            media_type=fields["media_type"],
            key=fields["client_key"] or "",
        )
    return _item(fields, view)


def _common(fields: _Fields, view: View, kind: Kind) -> dict[str, Any]:
    return {
        "id": id_text(fields["id"]),
        "kind": kind,
        "scope": view.scopes[fields["scope_id"]],
        "text": fields["text"],
        "occurred": _moment(fields),
        "recorded_at": fields["recorded_at"],
        "trust": _TRUST[fields["trust"]],
        "metadata": _json(fields["metadata"]) or {},
        "review_at": fields["review_at"],
        "expires_at": fields["expires_at"],
    }


def _message(fields: _Fields, view: View) -> MessageRecord:
    return MessageRecord(
        **_common(fields, view, Kind.MESSAGE),
        session_id=_session_id(fields["session_id"]),
        session=fields["session_name"],
        seq=fields["seq"],
        role=fields["role"],
        speaker=fields["speaker"],
        key=fields["client_key"] or "",
        pinned=bool(fields["pinned"]),
        parts=_json(fields["parts"]) or {},
    )


def _tool_call(fields: _Fields, view: View) -> ToolCallRecord:
    return ToolCallRecord(
        **_common(fields, view, Kind.TOOL_CALL),
        session_id=_session_id(fields["session_id"]),
        session=fields["session_name"],
        seq=fields["seq"],
        name=fields["name"],
        key=fields["client_key"] or "",
        arguments=_json(fields["arguments"]),
        result=_json(fields["result"]),
        status=fields["status"],
        error=fields["error"],
        duration_ms=fields["duration_ms"],
        tokens=fields["tokens"],
        full_bytes=fields.get("full_bytes"),  # what lay in the bin before may not have it
    )


def _item(fields: _Fields, view: View) -> ItemRecord:
    return ItemRecord(
        **_common(fields, view, _KIND[fields["kind"]]),
        status=_STATUS[fields["status"]],
        confidence=fields["confidence"],
        importance=_IMPORTANCE[fields["importance"]],
        valid_from=fields["valid_from"],
        valid_to=fields["valid_to"],
        seen_count=fields["seen_count"],
        version=fields["version"],
        author=fields["author"],
        retracted_at=fields["retracted_at"],
        body=_json(fields["body"]) or {},
    )


def _with_sources(transaction: Transaction, found: dict[bytes, Record]) -> dict[bytes, Record]:
    """Give items the sources they were derived from."""
    items = {record_id: record for record_id, record in found.items() if isinstance(record, ItemRecord)}
    sources: dict[bytes, list[Source]] = {}
    for some in parcels(transaction, list(items)):
        params = {"tenant": transaction.tenant, "child_kind": item.name, IDS: some}
        for child, kind, parent, start, end, role in transaction.tuples(_SOURCES_OF, params):
            source = Source(kind=kind, id=id_text(parent), start=start, end=end, role=role)
            sources.setdefault(bytes(child), []).append(source)
    known = {record_id: replace(items[record_id], sources=tuple(some)) for record_id, some in sources.items()}
    return {**found, **known}


@lru_cache(1024)
def _session_id(raw: bytes) -> SessionId:
    return SessionId(id_text(raw))


def _moment(fields: _Fields) -> Moment | None:
    if fields["occurred_start"] is None:
        return None
    precision = _PRECISION[fields["precision"]]
    return Moment(fields["occurred_start"], fields["occurred_end"], precision, fields["zone"])


def _json(text: str | None) -> Any:
    return None if text is None else json.loads(text)
