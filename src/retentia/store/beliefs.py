"""How items stand: their status, when they hold, whether they are still believed; each change with its revision.

What ends stays found by questions about the past, what is retracted is taken out of the index. Every change raises the
item's version and the scope's, so that other processes see it at their next search.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, delete, or_, select, update

from retentia.errors import Conflict
from retentia.model.claim import Revision
from retentia.model.ids import id_bytes, id_text
from retentia.model.message import JSON
from retentia.model.passage import IS_PAST
from retentia.model.record import BELIEVED
from retentia.store import claims, passages, scopes, topics
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction
from retentia.store.schema import derived_from, item, message, passage


class Taught(NamedTuple):
    """A stretch of a message that an item was learned from, and how the item stands."""

    parent_id: bytes
    start: int
    end: int
    child_id: bytes
    is_current: bool


_HERE: tuple[ColumnElement[bool], ...] = (item.c.tenant == bindparam("t"), item.c.scope_id == bindparam("s"))
_VERSIONS = select(item.c.id, item.c.version).where(*_HERE, among(item.c.id))
_SEE = update(item).where(*_HERE, among(item.c.id)).values(seen_count=item.c.seen_count + 1)
_END = (
    update(item)
    .where(*_HERE, item.c.id == bindparam("i"))
    .values(valid_to=bindparam("at"), version=item.c.version + 1, content_key=None)
)
_BEGIN = (
    update(item)
    .where(*_HERE, item.c.id == bindparam("i"))
    .values(valid_from=bindparam("at"), version=item.c.version + 1)
)
_COLUMNS = [column.name for column in item.c]
_ROWS = select(item).where(*_HERE, among(item.c.id))
_BODIES = select(item.c.id, item.c.body).where(*_HERE, among(item.c.id))
_LINKED = select(derived_from.c.child_id).where(derived_from.c.tenant == bindparam("t"), among(derived_from.c.child_id))
_DROP = delete(item).where(*_HERE, among(item.c.id))
_RETRACT = (
    update(item)
    .where(*_HERE, among(item.c.id))
    .values(retracted_at=bindparam("at"), version=item.c.version + 1, content_key=None)
)
_RAISE = (
    update(item)
    .where(*_HERE, item.c.id == bindparam("i"), item.c.confidence < bindparam("c"))
    .values(confidence=bindparam("c"))
)
_SEEN = (
    update(item)
    .where(*_HERE, item.c.id == bindparam("i"), item.c.seen_count < bindparam("n"))
    .values(seen_count=bindparam("n"))
)
_MARK_PAST = (
    update(passage)
    .where(passage.c.tenant == bindparam("t"), passage.c.scope_id == bindparam("s"), among(passage.c.record_id))
    .values(flags=passage.c.flags.op("|")(IS_PAST))
)


_TAUGHT = (
    select(
        derived_from.c.parent_id,
        derived_from.c.start,
        derived_from.c.end,
        item.c.id,
        item.c.status,
        item.c.valid_to,
        item.c.retracted_at,
    )
    .join(item, (item.c.tenant == derived_from.c.tenant) & (item.c.id == derived_from.c.child_id))
    .where(
        derived_from.c.tenant == bindparam("t"),
        derived_from.c.parent_kind == message.name,
        among(derived_from.c.parent_id),
        item.c.scope_id == bindparam("s"),
    )
)


def taught_by(transaction: Transaction, scope_ids: Collection[int], message_ids: Sequence[bytes]) -> list[Taught]:
    """Return what was learned from messages of some scopes; what was only proposed or rejected is left out."""
    return [
        Taught(bytes(parent), start, end, bytes(child), is_current=valid_to is None and retracted_at is None)
        for scope_id in scope_ids
        for some in parcels(transaction, message_ids)
        for parent, start, end, child, status, valid_to, retracted_at in transaction.tuples(
            _TAUGHT, {"t": transaction.tenant, "s": scope_id, IDS: some}
        )
        if status in BELIEVED
    ]


def not_holding(transaction: Transaction, scope_ids: Collection[int], instant: int) -> set[bytes]:
    """Return the items of some scopes that did not hold at an instant, in UTC microseconds."""
    statement = select(item.c.id).where(
        item.c.tenant == transaction.tenant,
        item.c.scope_id.in_(scope_ids),
        or_(item.c.valid_from > instant, item.c.valid_to <= instant),
    )
    return {bytes(row.id) for row in transaction.rows(statement)}


def see_again(transaction: Transaction, scope_id: int, record_ids: Sequence[bytes]) -> None:
    """Count one more sighting of items for each time they are named."""
    key = {"t": transaction.tenant, "s": scope_id}
    left = list(record_ids)
    while left:
        once = dict.fromkeys(left)
        for some in parcels(transaction, list(once)):
            transaction.run(_SEE, {**key, IDS: some})
        for one in once:
            left.remove(one)


def change(
    transaction: Transaction,
    scope_id: int,
    *,
    ends: Mapping[bytes, int],
    retracts: Collection[bytes],
    revisions: Sequence[Revision],
    begins: Mapping[bytes, int] | None = None,
) -> None:
    """Let items begin or end at a time (UTC microseconds) and retract others, with a revision for each change."""
    key = {"t": transaction.tenant, "s": scope_id}
    begins = begins or {}
    touched = list(dict.fromkeys([*begins, *ends, *retracts]))
    if not touched:
        return
    retracts = {*retracts, *topics.quoting(transaction, scope_id, touched)}  # they quote what is no longer so
    touched = list(dict.fromkeys([*begins, *ends, *sorted(retracts)]))
    before = versions(transaction, scope_id, touched)
    for record_id, at in begins.items():
        transaction.run(_BEGIN, {**key, "i": record_id, "at": at})
    for record_id, at in ends.items():
        transaction.run(_END, {**key, "i": record_id, "at": at})
    for some in parcels(transaction, list(ends)):
        transaction.run(_MARK_PAST, {**key, IDS: some})
    for some in parcels(transaction, list(retracts)):
        transaction.run(_RETRACT, {**key, IDS: some, "at": transaction.now})
    passages.delete_passages(transaction, scope_id, retracts)
    passages.delete_vectors(transaction, scope_id, retracts)
    note(transaction, scope_id, revisions, before)
    scopes.record_change(transaction, scope_id, touched)


def note(transaction: Transaction, scope_id: int, revisions: Sequence[Revision], before: Mapping[bytes, int]) -> None:
    """Write revisions of items that had these versions; of one that changed more than once at once, as one change."""
    once: dict[str, Revision] = {}
    for one in revisions:
        earlier = once.get(one.record_id)
        if id_bytes(one.record_id) in before:
            once[one.record_id] = replace(one, before={**one.before, **earlier.before}) if earlier else one
    after = versions(transaction, scope_id, [id_bytes(record_id) for record_id in once])
    numbered = [replace(one, version=after[id_bytes(one.record_id)]) for one in once.values()]
    claims.add_revisions(transaction, scope_id, numbered)


def without_sources(transaction: Transaction, record_ids: Collection[bytes]) -> set[bytes]:
    """Return those of some items that no record is named for as their source."""
    key = {"t": transaction.tenant, "kind": item.name}
    linked: set[bytes] = set()
    for some in parcels(transaction, record_ids):
        linked.update(bytes(child) for (child,) in transaction.tuples(_LINKED, {**key, IDS: some}))
    return set(record_ids) - linked


def bodies(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> dict[bytes, Mapping[str, JSON]]:
    """Return the bodies of items of a scope; one without is left out."""
    key = {"t": transaction.tenant, "s": scope_id}
    return {
        bytes(record_id): json.loads(body)
        for some in parcels(transaction, list(record_ids))
        for record_id, body in transaction.tuples(_BODIES, {**key, IDS: some})
        if body
    }


def rows(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> dict[bytes, dict[str, Any]]:
    """Return the whole rows of items of a scope, to write them anew."""
    key = {"t": transaction.tenant, "s": scope_id}
    return {
        bytes(row.id): dict(zip(_COLUMNS, row, strict=True))
        for some in parcels(transaction, list(record_ids))
        for row in transaction.rows(_ROWS, {**key, IDS: some})
    }


def rewrite(transaction: Transaction, scope_id: int, anew: Mapping[bytes, Mapping[str, Any]]) -> None:
    """Put whole rows in the place of items: also what is sealed in them can change so."""
    drop(transaction, scope_id, list(anew))
    insert_many(transaction, item, [dict(row) for row in anew.values()])


def drop(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> None:
    """Take out the rows of items that are written anew at once, with what is derived from them."""
    key = {"t": transaction.tenant, "s": scope_id}
    for some in parcels(transaction, record_ids):
        transaction.run(_DROP, {**key, IDS: some})


def versions(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> dict[bytes, int]:
    """Return the versions of items of a scope; one that is gone is left out."""
    key = {"t": transaction.tenant, "s": scope_id}
    return {
        bytes(record_id): version
        for some in parcels(transaction, list(record_ids))
        for record_id, version in transaction.tuples(_VERSIONS, {**key, IDS: some})
    }


def update_item(
    transaction: Transaction, scope_id: int, record_id: bytes, revision: Revision, values: Mapping[str, Any]
) -> None:
    """Change columns of an item whose version is still the one before the revision's; raise Conflict otherwise.

    What it says stays as it is: another text is another item. What the index knows of it is the caller's to renew.
    """
    stored = {**values, "version": revision.version}
    statement = update(item).where(
        item.c.tenant == transaction.tenant,
        item.c.scope_id == scope_id,
        item.c.id == record_id,
        item.c.version == revision.version - 1,
    )
    if not transaction.run(statement.values(**stored)):
        raise Conflict(f"{id_text(record_id)!r} was changed meanwhile; read it again")
    claims.add_revisions(transaction, scope_id, [revision])
    scopes.record_change(transaction, scope_id, [record_id])
    if "retracted_at" in values or "valid_to" in values:
        retract(transaction, scope_id, topics.quoting(transaction, scope_id, [record_id]))


def retract(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> None:
    """Take items out of what is believed and out of the index; a topic of which a member changed needs no revision."""
    change(transaction, scope_id, ends={}, retracts=record_ids, revisions=())


def raise_confidence(transaction: Transaction, scope_id: int, confidences: Mapping[bytes, float]) -> None:
    """Raise how sure some items of a scope are; what is surer already stays. How firmly they stand is not touched."""
    key = {"t": transaction.tenant, "s": scope_id}
    rows = [{**key, "i": record_id, "c": confidence} for record_id, confidence in confidences.items()]
    if rows:
        transaction.run(_RAISE, rows)
        scopes.record_change(transaction, scope_id, sorted(confidences))


def count_sources(transaction: Transaction, scope_id: int, seen: Mapping[bytes, int]) -> None:
    """Say of items that they were seen at least so often."""
    key = {"t": transaction.tenant, "s": scope_id}
    rows = [{**key, "i": record_id, "n": times} for record_id, times in seen.items()]
    if rows:
        transaction.run(_SEEN, rows)
