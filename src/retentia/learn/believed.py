"""Beliefs as they are read: from items to what they claim, with their slot and their changes."""

from collections.abc import Sequence
from dataclasses import replace

from retentia.errors import InvalidInput, NotFound
from retentia.index.names import name_key
from retentia.model.belief import Belief
from retentia.model.claim import Revision, claim_of
from retentia.model.ids import id_bytes
from retentia.model.record import ItemRecord, Record
from retentia.store import claims, records
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.write.place import Place


def beliefs_of(found: Sequence[Record]) -> list[Belief]:
    """Return what items claim, in the order it was said; what makes no claim is left out."""
    told = ((record, claim_of(record.body)) for record in found if isinstance(record, ItemRecord))
    known = [Belief(claim=claim, record=record) for record, claim in told if claim is not None]
    return sorted(known, key=_as_said)


def of_slot(transaction: Transaction, view: View, belief: Belief) -> list[Belief]:
    """Return what is, was or may be believed of the same subject and attribute."""
    key = name_key(belief.claim.subject)
    return beliefs_of(records.items_about(transaction, view, subject_key=key, attribute=belief.claim.attribute))


def with_changes(transaction: Transaction, view: View, found: Sequence[Belief]) -> list[Belief]:
    """Give beliefs their changes, oldest first."""
    changes = changes_of(transaction, view, [belief.record for belief in found])
    return [replace(belief, changes=tuple(changes.get(belief.id, ()))) for belief in found]


def changes_of(transaction: Transaction, view: View, found: Sequence[Record]) -> dict[str, list[Revision]]:
    """Return the changes of records by their ids, oldest first; those without any are left out."""
    changes: dict[str, list[Revision]] = {}
    for one in claims.revisions(transaction, view.scope_ids, [id_bytes(record.id) for record in found]):
        changes.setdefault(one.record_id, []).append(one)
    return changes


def item_at(place: Place, record_id: str) -> ItemRecord:
    """Return an item of exactly one scope; raise NotFound, or InvalidInput for what is no id."""
    try:
        raw = id_bytes(record_id)
    except ValueError as error:
        raise InvalidInput(f"{record_id!r} is not an id: expected 32 hexadecimal digits") from error
    view = View({place.scope_id: place.scope})
    found = records.fetch(place.transaction, view, records.kinds_of(place.transaction, view, [raw])).get(raw)
    if not isinstance(found, ItemRecord):
        raise NotFound(f"nothing is known as {record_id!r} in {place.scope}")
    return found


def _as_said(belief: Belief) -> tuple[int, int, int, str]:
    starts = min((source.start for source in belief.record.sources), default=0)
    return belief.record.recorded_at, starts, belief.record.text.find(belief.value), belief.id
