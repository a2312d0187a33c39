"""Topics as the store sees them: items that quote others, their members, and must not outlive any of them."""

from collections.abc import Collection

from sqlalchemy import bindparam, select

from retentia.store.among import IDS, among, parcels
from retentia.store.database import Transaction
from retentia.store.schema import derived_from, item

MEMBER = "member"
"""The role of a source that is quoted whole: what quotes it goes with it."""

_QUOTING = (
    select(item.c.id, derived_from.c.parent_id)
    .select_from(derived_from)
    .join(item, (item.c.tenant == derived_from.c.tenant) & (item.c.id == derived_from.c.child_id))
    .where(
        derived_from.c.tenant == bindparam("t"),
        derived_from.c.parent_kind == item.name,
        among(derived_from.c.parent_id),
        derived_from.c.role == bindparam("role"),
        item.c.scope_id == bindparam("s"),
        item.c.retracted_at.is_(None),
    )
)


def quoting(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> dict[bytes, set[bytes]]:
    """Return the topics of a scope that quote some records and are not retracted, each with those of them it quotes."""
    found: dict[bytes, set[bytes]] = {}
    key = {"t": transaction.tenant, "s": scope_id, "role": MEMBER}
    for some in parcels(transaction, record_ids):
        for topic, member in transaction.tuples(_QUOTING, {**key, IDS: some}):
            found.setdefault(bytes(topic), set()).add(bytes(member))
    return found
