"""Manifests: which records each reply saw. They hold ids and numbers only; an erased record leaves a blank place."""

import json
from collections.abc import Collection

from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, func, insert, select, update

from retentia.model.cost import PromptTokens
from retentia.model.ids import id_bytes, id_text
from retentia.model.manifest import Manifest, Seen
from retentia.store import sessions
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction, batches
from retentia.store.schema import item, manifest, manifest_entry, message

_DAY = 86_400_000_000

_DELETE_OWN = tuple(
    delete(table).where(table.c.tenant == bindparam("t"), table.c.scope_id == bindparam("s"), among(table.c.reply_id))
    for table in (manifest_entry, manifest)
)
_BLANK = (
    update(manifest_entry)
    .where(
        manifest_entry.c.tenant == bindparam("t"),
        manifest_entry.c.scope_id == bindparam("s"),
        among(manifest_entry.c.record_id),
    )
    .values(record_id=None, label="")
)
# Two, each by its own key: with "or" SQLite would read every entry of the scope.
_COUNT = tuple(
    select(func.count())
    .select_from(manifest_entry)
    .where(manifest_entry.c.tenant == bindparam("t"), manifest_entry.c.scope_id == bindparam("s"), *named)
    for named in (
        (among(manifest_entry.c.reply_id),),
        (among(manifest_entry.c.record_id), ~among(manifest_entry.c.reply_id)),
    )
)


def add(transaction: Transaction, scope_id: int, reply_id: bytes, made: Manifest) -> None:
    """Note what a reply saw; the versions of items are those they have now."""
    versions = _versions(transaction, [id_bytes(one.record_id) for one in made.seen if one.record_id])
    key = {"tenant": transaction.tenant, "scope_id": scope_id, "reply_id": reply_id}
    told = {
        "budget": made.budget,
        "tokens": made.tokens,
        "counted": made.counted,
        "parts": json.dumps(dict(made.tokens_by_part)),
        "missing": made.missing,
        "created_at": transaction.now,
    }
    transaction.run(insert(manifest), {**key, **told})
    rows = []
    for place, one in enumerate(made.seen):
        record_id = None if one.record_id is None else id_bytes(one.record_id)
        version = versions.get(record_id or b"", one.version)
        entry = {"kind": one.kind, "part": one.part, "label": one.label, "score": one.score, "version": version}
        rows.append({**key, "place": place, "record_id": record_id, **entry})
    insert_many(transaction, manifest_entry, rows)


def find(transaction: Transaction, scope_id: int, reply_id: bytes) -> tuple[Manifest, int] | None:
    """Return the manifest of a reply and when it was noted, UTC microseconds; None without one."""
    row = transaction.first(
        select(manifest).where(*_within(manifest, transaction, scope_id), manifest.c.reply_id == reply_id)
    )
    if row is None:
        return None
    entries = (
        select(manifest_entry)
        .where(*_within(manifest_entry, transaction, scope_id), manifest_entry.c.reply_id == reply_id)
        .order_by(manifest_entry.c.place)
    )
    seen = tuple(
        Seen(
            record_id=None if one.record_id is None else id_text(one.record_id),
            kind=one.kind,
            part=one.part,
            label=one.label,
            score=one.score,
            version=one.version,
        )
        for one in transaction.rows(entries)
    )
    made = Manifest(
        seen=seen,
        budget=row.budget,
        tokens=row.tokens,
        counted=row.counted,
        tokens_by_part=json.loads(row.parts),
        missing=row.missing,
    )
    return made, row.created_at


def totals(transaction: Transaction, scope_ids: Collection[int], *, since: int) -> list[PromptTokens]:
    """Count the prompts of replies noted from `since` on (UTC microseconds), and their tokens, by session and day."""
    day = (manifest.c.created_at // _DAY).label("day")
    place = (message.c.scope_id, message.c.session_id)  # names of sessions may be sealed, so they are no group
    counted = (
        select(*place, day, func.count().label("calls"), func.sum(manifest.c.tokens).label("tokens"))
        .join(message, and_(*_same(manifest, message), message.c.id == manifest.c.reply_id))
        .where(
            manifest.c.tenant == transaction.tenant,
            manifest.c.scope_id.in_(scope_ids),
            manifest.c.created_at >= since,
        )
        .group_by(*place, day)
    )
    rows = transaction.rows(counted)
    names = {
        (scope_id, session_id): name
        for scope_id in {row.scope_id for row in rows}
        for session_id, (name, _) in sessions.named(
            transaction, scope_id, [bytes(row.session_id) for row in rows if row.scope_id == scope_id]
        ).items()
    }
    found = [
        PromptTokens(names[row.scope_id, bytes(row.session_id)], row.day, row.calls, int(row.tokens)) for row in rows
    ]
    return sorted(found, key=lambda one: (one.day, one.session))


def erase(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove the manifests of replies, and blank the places of what others saw; return how many rows were touched."""
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(
        transaction.run(statement, {**key, IDS: some})
        for some in parcels(transaction, record_ids)
        for statement in (*_DELETE_OWN, _BLANK)
    )


def count(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count the rows that name one of these records."""
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(
        transaction.number(statement, {**key, IDS: some})
        for some in parcels(transaction, record_ids)
        for statement in _COUNT
    )


def _versions(transaction: Transaction, ids: Collection[bytes]) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for some in batches(ids):
        statement = select(item.c.id, item.c.version).where(item.c.tenant == transaction.tenant, item.c.id.in_(some))
        found.update((bytes(row.id), row.version) for row in transaction.rows(statement))
    return found


def _same(left: Table, right: Table) -> tuple[ColumnElement[bool], ...]:
    return left.c.tenant == right.c.tenant, left.c.scope_id == right.c.scope_id


def _within(table: Table, transaction: Transaction, scope_id: int) -> tuple[ColumnElement[bool], ...]:
    return table.c.tenant == transaction.tenant, table.c.scope_id == scope_id
