"""Erasures that are under way, and tombstones: keyed hashes of sources that may not be taken over again.

Neither belongs to a tenant: an erasure is found by whoever opens the store, and a tombstone must hold in a store that
was restored from before its tenant existed. They hold ids and keyed hashes only.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import delete, insert, literal_column, select, update

from retentia.model.turns import in_turns
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction
from retentia.store.schema import erasure, tombstone

State = Literal["planned", "removed", "silent"]

SOURCE_BYTES = 32
_SCOPE_BYTES, _ID_BYTES = 8, 16
_BURIED = select(tombstone.c.source).where(among(tombstone.c.source, width=SOURCE_BYTES))
_ANY_TOMBSTONE = select(tombstone.c.source).limit(literal_column("1"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An erasure that was begun.

    It is `planned` before its records are gone, `removed` while bytes may be left, and `silent` when only other
    processes have not yet said that they let go of them.
    """

    id: bytes
    tenant: str
    state: State = "planned"
    scope_ids: tuple[int, ...]
    record_ids: tuple[bytes, ...]


def plan(transaction: Transaction, planned: Planned) -> None:
    """Note what is to be erased, so that whoever opens the store after a crash finishes it."""
    transaction.run(
        insert(erasure),
        {
            "id": planned.id,
            "tenant": planned.tenant,
            "state": planned.state,
            "scope_ids": _joined(planned.scope_ids),
            "record_ids": b"".join(planned.record_ids),
        },
    )


def unfinished(transaction: Transaction) -> list[Planned]:
    """Return the erasures of every tenant that were begun and not finished, the oldest first."""
    return [
        Planned(
            id=bytes(row.id),
            tenant=row.tenant,
            state=row.state,
            scope_ids=tuple(int.from_bytes(part, "big") for part in _parts(row.scope_ids, _SCOPE_BYTES)),
            record_ids=tuple(_parts(row.record_ids, _ID_BYTES)),
        )
        for row in transaction.rows(select(erasure).order_by(erasure.c.id))
    ]


def note_removed(transaction: Transaction, planned: Planned, scope_ids: Iterable[int]) -> None:
    """Note that the records of an erasure are gone, from which scopes, and that bytes of them may be left."""
    gone = {"state": "removed", "scope_ids": _joined(scope_ids), "record_ids": b""}
    if not transaction.run(update(erasure).where(erasure.c.id == planned.id).values(**gone)):
        transaction.run(insert(erasure), {"id": planned.id, "tenant": planned.tenant, **gone})


def note_silent(transaction: Transaction, erasure_id: bytes) -> None:
    """Note that nothing is left of an erasure but answers of other processes."""
    transaction.run(update(erasure).where(erasure.c.id == erasure_id).values(state="silent"))


def finish(transaction: Transaction, erasure_id: bytes) -> None:
    """Forget an erasure of which nothing is left to do."""
    transaction.run(delete(erasure).where(erasure.c.id == erasure_id))


def bury(transaction: Transaction, sources: Collection[bytes]) -> int:
    """Write tombstones; return how many are new."""
    fresh = sorted(set(sources) - buried(transaction, sources))
    insert_many(
        transaction, tombstone, [{"source": source, "erased_at": transaction.now} for source in in_turns(fresh)]
    )
    return len(fresh)


def has_tombstones(transaction: Transaction) -> bool:
    """Tell whether the store has any tombstone."""
    return bool(transaction.tuples(_ANY_TOMBSTONE, {}))


def buried(transaction: Transaction, sources: Collection[bytes]) -> set[bytes]:
    """Return which of the sources have a tombstone."""
    found: set[bytes] = set()
    for some in parcels(transaction, sources):
        found.update(source for (source,) in transaction.tuples(_BURIED, {IDS: some}))
    return found


def _joined(scope_ids: Iterable[int]) -> bytes:
    return b"".join(scope_id.to_bytes(_SCOPE_BYTES, "big") for scope_id in scope_ids)


def _parts(joined: bytes, size: int) -> Sequence[bytes]:
    return [joined[at : at + size] for at in range(0, len(joined), size)]
