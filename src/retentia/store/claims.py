"""Claims by their keys, and the changes of items. Both are derived: a claim from its item, a change with its item.

A claim's keys are digests of names (see `retentia.index.names`); what it says stands in its item.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, delete, exists, func, select, update

from retentia.model.claim import Change, Revision
from retentia.model.ids import id_bytes, id_text
from retentia.model.message import JSON
from retentia.model.record import BELIEVED
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction, batches
from retentia.store.schema import bin_record, claim, derived_from, item, message, revision


class ClaimRow(NamedTuple):
    """What a claim is found by: keys of 16 bytes, and [said_start, said_end) in UTC microseconds."""

    record_id: bytes
    subject_key: bytes
    attribute: str
    value_key: bytes
    applies_key: bytes
    said_start: int
    said_end: int


class Lesson(NamedTuple):
    """What a message has taught: the message, and the keys of the claim."""

    message_id: bytes
    subject_key: bytes
    attribute: str
    value_key: bytes


class Standing(NamedTuple):
    """A claim with what its item says about how it stands. Times in UTC microseconds."""

    record_id: bytes
    subject_key: bytes
    attribute: str
    value_key: bytes
    applies_key: bytes
    said_start: int
    said_end: int
    status: str
    valid_from: int | None
    valid_to: int | None
    retracted_at: int | None
    seen_count: int


_DELETE_CLAIMS = delete(claim).where(
    claim.c.tenant == bindparam("t"), claim.c.scope_id == bindparam("s"), among(claim.c.record_id)
)
_DELETE_REVISIONS = delete(revision).where(
    revision.c.tenant == bindparam("t"), revision.c.scope_id == bindparam("s"), among(revision.c.record_id)
)
_BLANK_CAUSES = (
    update(revision)
    .where(revision.c.tenant == bindparam("t"), revision.c.scope_id == bindparam("s"), among(revision.c.cause_id))
    .values(cause_id=None)
)
_COUNT_REVISIONS = tuple(
    select(func.count())
    .select_from(revision)
    .where(revision.c.tenant == bindparam("t"), revision.c.scope_id == bindparam("s"), *named)
    for named in ((among(revision.c.record_id),), (among(revision.c.cause_id), ~among(revision.c.record_id)))
)
_COUNT_CLAIMS = (
    select(func.count())
    .select_from(claim)
    .where(claim.c.tenant == bindparam("t"), claim.c.scope_id == bindparam("s"), among(claim.c.record_id))
)
_JOINED = (claim.c.tenant == item.c.tenant) & (claim.c.scope_id == item.c.scope_id) & (claim.c.record_id == item.c.id)
_STANDING: Select[Any] = (
    select(
        claim.c.record_id,
        claim.c.subject_key,
        claim.c.attribute,
        claim.c.value_key,
        claim.c.applies_key,
        claim.c.said_start,
        claim.c.said_end,
        item.c.status,
        item.c.valid_from,
        item.c.valid_to,
        item.c.retracted_at,
        item.c.seen_count,
    )
    .select_from(claim.join(item, _JOINED))
    .where(claim.c.tenant == bindparam("t"), claim.c.scope_id == bindparam("s"))
)
# Without a hint SQLite would read all claims of the scope: it takes the primary key for as good as an index.
_BY_SLOT = _STANDING.where(among(claim.c.subject_key), claim.c.attribute == bindparam("attribute")).with_hint(
    claim, "INDEXED BY claim_slot", "sqlite"
)
_BY_VALUE = _STANDING.where(among(claim.c.value_key), claim.c.subject_key == bindparam("subject_key")).with_hint(
    claim, "INDEXED BY claim_value", "sqlite"
)
_TAKING_BACK = {change.value: change.value for change in (Change.CORRECTED, Change.RETRACTED, Change.NARROWED)}
_cause = claim.alias("cause")
_TAKEN_BACK = (
    select(
        revision.c.record_id,
        func.coalesce(
            func.max(_cause.c.said_start), func.max(message.c.occurred_start), func.max(revision.c.changed_at)
        ),
    )
    .select_from(
        revision.outerjoin(
            _cause,
            (_cause.c.tenant == revision.c.tenant)
            & (_cause.c.scope_id == revision.c.scope_id)
            & (_cause.c.record_id == revision.c.cause_id),
        ).outerjoin(
            message,
            (message.c.tenant == revision.c.tenant)
            & (message.c.scope_id == revision.c.scope_id)
            & (message.c.id == revision.c.cause_id),
        )
    )
    .where(
        revision.c.tenant == bindparam("t"),
        revision.c.scope_id == bindparam("s"),
        among(revision.c.record_id),
        revision.c.change.in_([bindparam(change) for change in _TAKING_BACK]),
    )
    .group_by(revision.c.record_id)
)
_LESSONS: Select[Any] = (
    select(derived_from.c.parent_id, claim.c.subject_key, claim.c.attribute, claim.c.value_key)
    .select_from(
        claim.join(
            derived_from, (derived_from.c.tenant == claim.c.tenant) & (derived_from.c.child_id == claim.c.record_id)
        )
    )
    .where(
        claim.c.tenant == bindparam("t"),
        claim.c.scope_id == bindparam("s"),
        among(claim.c.record_id),
        derived_from.c.parent_kind == message.name,
    )
)
_now = claim.alias("now_held")
_CURRENT_IN_SLOT = (
    select(claim.c.record_id, _now.c.record_id)
    .select_from(
        claim.join(
            _now,
            (_now.c.tenant == claim.c.tenant)
            & (_now.c.scope_id == claim.c.scope_id)
            & (_now.c.subject_key == claim.c.subject_key)
            & (_now.c.attribute == claim.c.attribute)
            & (_now.c.applies_key == claim.c.applies_key),
        ).join(
            item,
            (item.c.tenant == _now.c.tenant) & (item.c.scope_id == _now.c.scope_id) & (item.c.id == _now.c.record_id),
        )
    )
    .where(
        claim.c.tenant == bindparam("t"),
        claim.c.scope_id == bindparam("s"),
        among(claim.c.record_id),
        item.c.valid_to.is_(None),
        item.c.retracted_at.is_(None),
        item.c.status.in_([bindparam(status.value) for status in BELIEVED]),
    )
)


def insert_claims(transaction: Transaction, scope_id: int, rows: Iterable[ClaimRow]) -> None:
    """Write the claims of new items."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    insert_many(transaction, claim, [{**key, **row._asdict()} for row in rows])


def delete_claims(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove the claims of items; return how many there were."""
    return _over(transaction, scope_id, record_ids, _DELETE_CLAIMS)


def count_claims(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count the claims of items."""
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(transaction.number(_COUNT_CLAIMS, {**key, IDS: some}) for some in parcels(transaction, record_ids))


def delete_orphans(transaction: Transaction, scope_id: int) -> int:
    """Remove claims whose item is gone, and changes of what is not even in the bin; return how many."""
    gone = 0
    for table in (claim, revision):
        there = exists().where(
            item.c.tenant == table.c.tenant, item.c.scope_id == table.c.scope_id, item.c.id == table.c.record_id
        )
        here = delete(table).where(table.c.tenant == transaction.tenant, table.c.scope_id == scope_id)
        binned = exists().where(
            bin_record.c.tenant == table.c.tenant,
            bin_record.c.scope_id == table.c.scope_id,
            bin_record.c.id == table.c.record_id,
        )
        gone += transaction.run(here.where(~there) if table is claim else here.where(~there, ~binned))
    return gone


def of_slots(transaction: Transaction, scope_id: int, slots: Mapping[str, Collection[bytes]]) -> list[Standing]:
    """Return the claims about subjects, given as attribute to keys of subjects."""
    found: list[Standing] = []
    for attribute, subjects in slots.items():
        sought = [transaction.sought(claim.c.subject_key, scope_id, key) for key in subjects]
        key = {"t": transaction.tenant, "s": scope_id, "attribute": attribute}
        for some in parcels(transaction, sought):
            found += [_standing(row) for row in transaction.tuples(_BY_SLOT, {**key, IDS: some})]
    return found


def of_values(transaction: Transaction, scope_id: int, values: Mapping[bytes, Collection[bytes]]) -> list[Standing]:
    """Return the claims with values, given as key of a subject to keys of values."""
    found: list[Standing] = []
    for subject, some_values in values.items():
        sought = [transaction.sought(claim.c.value_key, scope_id, key) for key in some_values]
        subject_key = transaction.sought(claim.c.subject_key, scope_id, subject)
        key = {"t": transaction.tenant, "s": scope_id, "subject_key": subject_key}
        for some in parcels(transaction, sought):
            found += [_standing(row) for row in transaction.tuples(_BY_VALUE, {**key, IDS: some})]
    return found


def taken_back(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> dict[bytes, int]:
    """Return when the person took items back, in UTC microseconds: event time, where what did it has one."""
    key = {"t": transaction.tenant, "s": scope_id, **_TAKING_BACK}
    return {
        bytes(record_id): at
        for some in parcels(transaction, record_ids)
        for record_id, at in transaction.tuples(_TAKEN_BACK, {**key, IDS: some})
    }


def lessons(transaction: Transaction, scope_ids: Collection[int], record_ids: Collection[bytes]) -> list[Lesson]:
    """Return by which messages items were taught, with the keys of their claims."""
    found = []
    for scope_id in scope_ids:
        key = {"t": transaction.tenant, "s": scope_id}
        for some in parcels(transaction, record_ids):
            for message_id, subject, attribute, value in transaction.tuples(_LESSONS, {**key, IDS: some}):
                found.append(Lesson(bytes(message_id), bytes(subject), attribute, bytes(value)))
    return found


def current_in_slot_of(
    transaction: Transaction, scope_ids: Collection[int], record_ids: Collection[bytes]
) -> dict[bytes, bytes]:
    """Return, by item, the one that is believed now of the same slot, where there is just one."""
    found: dict[bytes, set[bytes]] = {}
    for scope_id in scope_ids:
        key = {"t": transaction.tenant, "s": scope_id, **{status.value: status.value for status in BELIEVED}}
        for some in parcels(transaction, list(record_ids)):
            for record_id, current_id in transaction.tuples(_CURRENT_IN_SLOT, {**key, IDS: some}):
                found.setdefault(bytes(record_id), set()).add(bytes(current_id))
    return {record_id: current.pop() for record_id, current in found.items() if len(current) == 1}


def add_revisions(transaction: Transaction, scope_id: int, changes: Sequence[Revision]) -> None:
    """Note changes of items; `changed_at` is the transaction's clock, whatever is given."""
    rows = [
        {
            "tenant": transaction.tenant,
            "scope_id": scope_id,
            "record_id": id_bytes(one.record_id),
            "version": one.version,
            "changed_at": transaction.now,
            "change": one.change.value,
            "author": one.author,
            "reason": one.reason,
            "cause_id": None if one.cause is None else id_bytes(one.cause),
            "before": json.dumps(dict(one.before), ensure_ascii=False) if one.before else None,
        }
        for one in changes
    ]
    insert_many(transaction, revision, rows)


def revisions(transaction: Transaction, scope_ids: Collection[int], record_ids: Collection[bytes]) -> list[Revision]:
    """Return the changes of items, oldest first."""
    statement = select(revision).where(revision.c.tenant == transaction.tenant, revision.c.scope_id.in_(scope_ids))
    found = [
        Revision(
            record_id=id_text(row.record_id),
            version=row.version,
            changed_at=row.changed_at,
            change=Change(row.change),
            author=row.author,
            reason=row.reason,
            cause=None if row.cause_id is None else id_text(row.cause_id),
            before=_before(row.before),
        )
        for some in batches(record_ids)
        for row in transaction.rows(statement.where(revision.c.record_id.in_(some)))
    ]
    return sorted(found, key=lambda one: (one.changed_at, one.record_id, one.version))


def delete_revisions(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove the changes of items, and the name of these records where they caused others; return rows touched."""
    gone = _over(transaction, scope_id, record_ids, _DELETE_REVISIONS)
    return gone + _over(transaction, scope_id, record_ids, _BLANK_CAUSES)


def count_revisions(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count the changes that name one of these records."""
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(
        transaction.number(statement, {**key, IDS: some})
        for some in parcels(transaction, record_ids)
        for statement in _COUNT_REVISIONS
    )


def _over(transaction: Transaction, scope_id: int, record_ids: Collection[bytes], statement: Any) -> int:
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(transaction.run(statement, {**key, IDS: some}) for some in parcels(transaction, record_ids))


def _standing(row: Sequence[Any]) -> Standing:
    record_id, subject, attribute, value, applies, *rest = row
    return Standing(bytes(record_id), bytes(subject), attribute, bytes(value), bytes(applies), *rest)


def _before(text: str | None) -> Mapping[str, JSON]:
    return {} if text is None else json.loads(text)
