"""Legal hold: while a scope is held, what is erased in it is hidden from every read, and its content is kept.

An erasure moves the rows into custody in the transaction that removes them, so that no read path knows of holds. The
release of a hold is an erasure, too (`retentia.lifecycle.erase`): what it purges stays purged in a restored backup.
The ledger names each hold, so that repeating erasures in an older backup does not purge what was held since.
"""

from collections.abc import Iterable, Mapping, Sequence

from retentia.errors import InvalidInput
from retentia.lifecycle.ledger import Entry
from retentia.model.hold import Hold, InCustody
from retentia.model.ids import id_bytes, id_text, new_id_bytes
from retentia.model.scope import Scope
from retentia.security import audit
from retentia.security.audit import Access, Action, Actor
from retentia.store import binned, custody, records, scopes
from retentia.store.custody import HoldRow
from retentia.store.database import Database, Transaction
from retentia.store.records import View


def check_reason(reason: str) -> None:
    """Raise InvalidInput where a hold has no reason."""
    if not reason.strip():
        raise InvalidInput("a hold needs a reason, such as the number of the case: receipts name it")


def set_hold(transaction: Transaction, scope: Scope, reason: str) -> tuple[int, Hold]:
    """Hold a scope; return its number, and what there is to be held."""
    scope_id = scopes.ensure(transaction, scope)
    row = HoldRow(id=new_id_bytes(), scope_id=scope_id, reason=reason, created_at=transaction.now)
    custody.set_hold(transaction, row)
    return scope_id, _shown(transaction, row, scope)


def hold_again(transaction: Transaction, entry: Entry) -> Mapping[int, int]:
    """Set a hold that the ledger names and a restored store lacks; its id stands for the reason, which is not there.

    Return the scopes that were changed: none, for a hold changes no record.
    """
    known = {id_text(row.id) for row in custody.holds(transaction)}
    for scope_id in scopes.with_agents(transaction, entry.scopes).keys() & set(entry.scopes):
        scopes.lock(transaction, [scope_id])
        if entry.id not in known:
            raw, why = id_bytes(entry.id), f"hold {entry.id} of the ledger"
            custody.set_hold(transaction, HoldRow(id=raw, scope_id=scope_id, reason=why, created_at=entry.at))
            transaction.touched.append((scope_id, raw))
    return {}


def all_holds(database: Database, tenant: str) -> list[Hold]:
    """Return every hold of a tenant, the oldest first."""
    with database.read(tenant) as transaction:
        named = dict(scopes.all_scopes(transaction))
        return [_shown(transaction, row, named[row.scope_id]) for row in custody.holds(transaction)]


def in_custody(database: Database, tenant: str, *, content: bool, actor: Actor) -> list[InCustody]:
    """Return what is in custody of a tenant, in the order it was erased; that is logged before it is given."""
    with database.write(tenant) as transaction:
        found = custody.listing(transaction, dict(scopes.all_scopes(transaction)), content=content)
        by_scope: dict[Scope | None, list[bytes]] = {} if found else {None: []}
        for one in found:
            by_scope.setdefault(one.scope, []).append(id_bytes(one.id))
        looks = [
            Access(actor=actor, action=Action.CUSTODY, scope=scope, ids=ids, at=transaction.now)
            for scope, ids in by_scope.items()
        ]
        audit.append(transaction, looks)
    return found


def kept_by(held_by: Iterable[HoldRow], counts: Mapping[int, int]) -> dict[str, int]:
    """Count by the reason of each hold the records it keeps, given how many go from each scope."""
    reasons = dict.fromkeys((row.reason, row.scope_id) for row in held_by if counts.get(row.scope_id))
    kept: dict[str, int] = {}
    for reason, scope_id in reasons:
        kept[reason] = kept.get(reason, 0) + counts[scope_id]
    return kept


def kept_of(
    transaction: Transaction, named: Mapping[int, Scope], going: Sequence[bytes], *, buried: Sequence[int]
) -> dict[str, int]:
    """Count by the reason of each hold the records it would keep, were these erased.

    `buried` has the number of the scope of each one that goes from the bin.
    """
    held_by = custody.holds(transaction, list(named))
    held = {row.scope_id: View({row.scope_id: named[row.scope_id]}) for row in held_by}
    counts = {
        scope_id: sum(map(len, records.kinds_of(transaction, view, going).values())) + buried.count(scope_id)
        for scope_id, view in held.items()
    }
    return kept_by(held_by, counts)


def _shown(transaction: Transaction, row: HoldRow, name: Scope) -> Hold:
    return Hold(
        id=id_text(row.id),
        scope=name,
        reason=row.reason,
        created_at=row.created_at,
        records=sum(records.counts(transaction, View({row.scope_id: name})).values()),
        in_custody=custody.count(transaction, row.scope_id),
        in_bin=binned.count(transaction, [row.scope_id]),
    )
