"""The audit log: who read, wrote, erased or was refused; one chain of hashes a tenant, appended to and never changed.

An entry is one line of JSON: opaque ids, a number of a scope, record ids, an action, a time. Nothing of it was ever
said by anyone, so erasing a person leaves the log whole. Each entry's SHA-256 is taken over the hash before it, its
number and its bytes as they are stored; verifying hashes those bytes and reads none of them. The order is that of the
numbers: an own access is written up to a second after it happened, and clocks go wrong.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from retentia.errors import InvalidInput
from retentia.model.ids import RecordId, id_text
from retentia.model.scope import Scope
from retentia.store import audit as rows
from retentia.store import scopes
from retentia.store.audit import Head
from retentia.store.database import Database, Transaction

_BEGINNING = b"retentia audit 1\n"
_IDS_NAMED = 16
_PAGE = 10_000
_HASH_DIGITS = 64
_BEFORE_ALL = -(2**62)


class Action(StrEnum):
    """What was done, or asked for."""

    RECALL = "recall"
    READ = "read"
    WRITE = "write"
    ERASE = "erase"
    EXPORT = "export"
    GRANT = "grant"
    REVOKE = "revoke"
    ADMINISTER = "administer"
    AUDIT = "audit"
    REMOVE = "remove"
    RESTORE = "restore"
    PURGE = "purge"
    HOLD = "hold"
    RELEASE = "release"
    CUSTODY = "custody"


@dataclass(frozen=True, slots=True)
class Actor:
    """Whom an entry names: an opaque id, a role, and what support gave as its reason."""

    id: str
    role: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Something to be logged. `scope` is a name or a number, None when it concerns none; `ids` are 16 bytes each."""

    actor: Actor
    action: Action
    scope: Scope | int | None
    ids: Sequence[bytes] = ()
    refused: bool = False
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry as it is read back. `records` are ids, or none when there were many: then `digest` is the hex SHA-256
    of all ids in their order. `scope_id` is the store's number of the scope, 0 for none. Times in UTC microseconds.
    """

    seq: int
    at: int
    by: str
    role: str
    action: str
    refused: bool
    scope_id: int
    count: int
    records: tuple[RecordId, ...]
    digest: str
    reason: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """The end of a tenant's log. Whoever keeps it elsewhere can tell later whether the end was cut off."""

    tenant: str
    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What verifying found: `problem` is "" when everything is as it was written, else `first_wrong` names the entry.

    `entries` counts those that are right, from the first on; `hash` is that of the last of them.
    """

    tenant: str
    entries: int
    hash: str
    first_wrong: int | None = None
    problem: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.problem


def lock(transaction: Transaction) -> Head:
    """Keep the end of the tenant's chain until the transaction ends, so that entries have one order."""
    return rows.lock_head(transaction, first=_first_hash(transaction.tenant))


def present(transaction: Transaction, head: Head | None) -> int:
    """Return the time, which never is before what the log has seen: a clock put back revives no grant."""
    return max(transaction.now, head.at if head else 0)


def append(transaction: Transaction, accesses: Sequence[Access], head: Head | None = None) -> None:
    """Log accesses in the transaction, behind the head that `lock` returned where that was called before."""
    if not accesses:
        return
    head = head or lock(transaction)
    numbers: dict[Scope, int] = {}
    seq, last = head.seq, head.hash
    written: list[tuple[int, bytes, bytes]] = []
    for access in accesses:
        entry = _entry(access, _number(transaction, access.scope, numbers))
        seq += 1
        last = _next_hash(last, seq, entry)
        written.append((seq, entry, last))
    rows.append(transaction, written, at=present(transaction, head))


def log_writes(actor: Actor, action: Action, transaction: Transaction) -> None:
    """Log what a transaction has written or removed, in the transaction itself."""
    append(transaction, touched(transaction, actor, action))


def touched(transaction: Transaction, actor: Actor, action: Action) -> list[Access]:
    """Return what a transaction has written or removed as accesses, one for each scope."""
    by_scope: dict[int, dict[bytes, None]] = {}
    for scope_id, joined in transaction.touched:
        by_scope.setdefault(scope_id, {}).update(dict.fromkeys(scopes.split_ids(joined)))
    return [
        Access(actor=actor, action=action, scope=scope_id, ids=list(ids), at=transaction.now)
        for scope_id, ids in by_scope.items()
    ]


def latest(database: Database, tenant: str) -> AuditHead:
    """Return the end of a tenant's log."""
    with database.read(tenant) as transaction:
        head = rows.head(transaction) or Head(0, 0, _first_hash(tenant))
    return AuditHead(tenant=tenant, seq=head.seq, hash=head.hash.hex())


def entries(database: Database, tenant: str, *, limit: int, scope: Scope | None = None) -> list[AuditEntry]:
    """Return the last entries, the newest first; those that concern one scope, or all."""
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, not {limit}")
    found: list[AuditEntry] = []
    with database.read(tenant) as transaction:
        number = None if scope is None else scopes.find(transaction, scope)
        if scope is not None and number is None:
            return []
        for entry in _backwards(transaction):
            if number is None or entry.scope_id == number:
                found.append(entry)
            if len(found) == limit:
                break
    return found


def verify(database: Database, tenant: str, *, head: str = "") -> AuditReport:
    """Hash a tenant's log from its first entry to its last and name the first that is not as it was written.

    `head` is a hash that was kept from `latest`: when the log no longer leads through it, its end was cut off or
    written anew. Raises InvalidInput when that is no hash.
    """
    kept = _kept(head)
    last, count, passed = _first_hash(tenant), 0, not kept
    with database.read(tenant) as transaction:
        while page := rows.page(transaction, after=count or _BEFORE_ALL, limit=_PAGE):
            for seq, entry, claimed in page:
                if seq != count + 1:
                    return _wrong(tenant, count, last, f"entry {count + 1} is missing, {seq} stands in its place")
                if not isinstance(entry, bytes) or _next_hash(last, seq, entry) != claimed:
                    return _wrong(tenant, count, last, f"entry {seq} is not as it was written")
                count, last = seq, claimed
                passed = passed or claimed == kept
        end = rows.head(transaction) or Head(0, 0, _first_hash(tenant))
    if (end.seq, end.hash) != (count, last):
        return _wrong(tenant, count, last, f"the log ends at entry {count} and its head says {end.seq}")
    if not passed and kept != _first_hash(tenant):
        return _wrong(tenant, count, last, "the log does not lead to the head that was kept: its end was cut off")
    return AuditReport(tenant=tenant, entries=count, hash=last.hex())


def ends_right(transaction: Transaction) -> bool:
    """Tell whether the last entry of the tenant's log is the one that its head names; quick, and not all of it."""
    head = rows.head(transaction) or Head(0, 0, _first_hash(transaction.tenant))
    newest = rows.newest(transaction, before=None, limit=1)
    last = (newest[0].seq, bytes(newest[0].hash)) if newest else (0, _first_hash(transaction.tenant))
    return last == (head.seq, head.hash)


def _first_hash(tenant: str) -> bytes:
    return hashlib.sha256(_BEGINNING + tenant.encode("utf-8", "surrogatepass")).digest()


def _next_hash(last: bytes, seq: int, entry: bytes) -> bytes:
    return hashlib.sha256(b"%b%d\n%b" % (last, seq, entry)).digest()


def _number(transaction: Transaction, scope: Scope | int | None, known: dict[Scope, int]) -> int:
    """Return the number of a scope, 0 for one that does not exist, or no longer."""
    if not isinstance(scope, Scope):
        return scope or 0
    if scope not in known:
        is_here = scope.tenant == transaction.tenant
        known[scope] = (scopes.find(transaction, scope) or 0) if is_here else 0
    return known[scope]


def _entry(access: Access, scope_id: int) -> bytes:
    """Write an entry; the keys always stand in this order."""
    many = len(access.ids) > _IDS_NAMED
    line = {
        "at": access.at,
        "by": access.actor.id,
        "role": access.actor.role,
        "action": access.action,
        "refused": access.refused,
        "scope": scope_id,
        "count": len(access.ids),
        "records": [] if many else [record_id.hex() for record_id in access.ids],
        "digest": hashlib.sha256(b"".join(access.ids)).hexdigest() if many else "",
        "reason": access.actor.reason,
    }
    return json.dumps(line, separators=(",", ":")).encode("ascii")


def _backwards(transaction: Transaction) -> Iterator[AuditEntry]:
    before: int | None = None
    while page := rows.newest(transaction, before=before, limit=1_000):
        yield from (_read(row.seq, row.entry, row.hash) for row in page)
        before = page[-1].seq


def _read(seq: int, entry: bytes, digest: bytes) -> AuditEntry:
    try:
        line: dict[str, Any] = json.loads(entry)
        return AuditEntry(
            seq=seq,
            at=line["at"],
            by=line["by"],
            role=line["role"],
            action=line["action"],
            refused=line["refused"],
            scope_id=line["scope"],
            count=line["count"],
            records=tuple(id_text(bytes.fromhex(record_id)) for record_id in line["records"]),
            digest=line["digest"],
            reason=line["reason"],
            hash=digest.hex(),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InvalidInput(f"entry {seq} of the audit log cannot be read; run `retentia audit verify`") from error


def _kept(head: str) -> bytes:
    try:
        kept = bytes.fromhex(head)
    except ValueError:
        kept = b"?"
    if head and len(kept) * 2 != _HASH_DIGITS:
        raise InvalidInput(f"{head!r} is no hash: give the {_HASH_DIGITS} digits that `retentia audit head` printed")
    return kept


def _wrong(tenant: str, count: int, last: bytes, problem: str) -> AuditReport:
    return AuditReport(tenant=tenant, entries=count, hash=last.hex(), first_wrong=count + 1, problem=problem)
