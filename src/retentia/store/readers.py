"""Readers: open stores that hold content in memory, and the notices that ask each of them to let go of a scope.

A reader has a row with a lease, under an id of its own. Whoever erases writes a notice to each; a reader lets go, and
then removes the notice. One that was killed removes none: its lease ends. Rows hold numbers and names of processes.

Times are the database's own, in milliseconds: the clocks of processes may differ, and a lease is compared by many.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, literal_column, select, update

from retentia.store.database import Transaction
from retentia.store.schema import notice, reader

LEASE_MS = 30_000
RENEW_MS = 10_000
_STUCK_MS = 2_000
_NUMBER = 8
_MILLISECONDS: Mapping[str, str] = {
    "sqlite": "CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
    "postgres": "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
}
_HERE = select(reader.c.lease_until).where(reader.c.id == bindparam("id"))
_TO_ME = select(notice.c.erasure_id, notice.c.scopes).where(notice.c.reader_id == bindparam("id"))


@dataclass(frozen=True, slots=True)
class Silent:
    """A reader that has not answered a notice: what to call it, and how long its lease still runs.

    `is_stuck` tells that an older notice is unanswered, too, so that waiting is in vain.
    """

    process: str
    lease_ms: int
    is_stuck: bool


def clock_ms(transaction: Transaction) -> int:
    """Return the present as the database has it."""
    return transaction.number(select(_now(transaction)))


def is_known(transaction: Transaction, reader_id: bytes) -> bool:
    """Tell whether a reader has its row: without one, nobody asks it to let go."""
    return bool(transaction.tuples(_HERE, {"id": reader_id}))


def enter(transaction: Transaction, reader_id: bytes, process: str) -> None:
    """Give a reader its row, unless it has it."""
    now = clock_ms(transaction)
    row = {"id": reader_id, "process": process, "started_at": now, "lease_until": now + LEASE_MS}
    transaction.insert_new(reader, row)


def renew(transaction: Transaction, reader_id: bytes) -> None:
    """Lengthen a reader's lease; nothing happens when its row is gone."""
    lease = _now(transaction) + literal_column(str(LEASE_MS))
    transaction.run(update(reader).where(reader.c.id == reader_id).values(lease_until=lease))


def leave(transaction: Transaction, reader_id: bytes) -> None:
    """Remove a reader, which holds nothing any more, and what was asked of it."""
    transaction.run(delete(notice).where(notice.c.reader_id == reader_id))
    transaction.run(delete(reader).where(reader.c.id == reader_id))


def asked_of(transaction: Transaction, reader_id: bytes) -> dict[bytes, dict[int, int]]:
    """Return by erasure what a reader shall let go of: scopes, with the version from which on they may be held."""
    return {bytes(erasure): _unpack(packed) for erasure, packed in transaction.tuples(_TO_ME, {"id": reader_id})}


def answer(transaction: Transaction, reader_id: bytes, erasure_ids: Collection[bytes]) -> None:
    """Acknowledge that a reader has let go."""
    for erasure_id in erasure_ids:
        transaction.run(delete(notice).where(notice.c.reader_id == reader_id, notice.c.erasure_id == erasure_id))


def has_others(transaction: Transaction, besides: bytes) -> bool:
    """Tell whether anyone else has a row, whatever its lease."""
    return transaction.first(select(reader.c.id).where(reader.c.id != besides).limit(1)) is not None


def ask(
    transaction: Transaction, erasure_id: bytes, scopes: Mapping[int, int], *, besides: bytes, since_ms: int
) -> int:
    """Ask every reader whose lease had not ended at `since_ms` to let go of scopes; return how many were asked.

    The rows of all others are removed: should one of them live, it finds that, and lets go of everything.
    """
    transaction.run(delete(reader).where(reader.c.lease_until <= since_ms))
    transaction.run(delete(notice).where(~exists().where(reader.c.id == notice.c.reader_id)))
    found = [bytes(row.id) for row in transaction.rows(select(reader.c.id).where(reader.c.id != besides))]
    now, packed = clock_ms(transaction), _pack(scopes)
    for reader_id in found:
        row = {"reader_id": reader_id, "erasure_id": erasure_id, "sent_at": now, "scopes": packed}
        transaction.insert_new(notice, row)
    return len(found)


def silent(transaction: Transaction, erasure_id: bytes) -> Sequence[Silent]:
    """Return the readers that have not answered and whose lease runs, the longest known first."""
    now = clock_ms(transaction)
    older = notice.alias()
    statement = (
        select(
            reader.c.process,
            reader.c.lease_until,
            exists()
            .where(older.c.reader_id == reader.c.id, older.c.sent_at < notice.c.sent_at - _STUCK_MS)
            .label("is_stuck"),
        )
        .join(notice, notice.c.reader_id == reader.c.id)
        .where(notice.c.erasure_id == erasure_id, reader.c.lease_until > now)
        .order_by(reader.c.started_at, reader.c.id)
    )
    return [Silent(row.process, row.lease_until - now, bool(row.is_stuck)) for row in transaction.rows(statement)]


def unanswered(transaction: Transaction, erasure_id: bytes) -> int:
    """Count the notices of an erasure that are left, also those of readers whose lease has ended."""
    return transaction.number(select(func.count()).select_from(notice).where(notice.c.erasure_id == erasure_id))


def forget_notices(transaction: Transaction, erasure_id: bytes) -> None:
    """Remove what is left of the notices of an erasure, where only readers whose lease has ended had not answered."""
    transaction.run(delete(notice).where(notice.c.erasure_id == erasure_id))


def _now(transaction: Transaction) -> ColumnElement[int]:
    return literal_column(_MILLISECONDS[transaction.dialect.name])


def _pack(scopes: Mapping[int, int]) -> bytes:
    return b"".join(number.to_bytes(_NUMBER, "big") for pair in sorted(scopes.items()) for number in pair)


def _unpack(packed: bytes) -> dict[int, int]:
    numbers = [int.from_bytes(packed[at : at + _NUMBER], "big") for at in range(0, len(packed), _NUMBER)]
    return dict(zip(numbers[::2], numbers[1::2], strict=True))
