"""What a message says that is no longer so: each stretch of it that only ended beliefs were learned from.

A question about now is then answered by the belief that took the place; the message is shown behind it, and says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retentia.model.ids import RecordId, id_bytes
from retentia.model.record import ItemRecord, MessageRecord, Record
from retentia.store import beliefs, claims, records
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.tools.newer import Newer

_STEPS = 8


@dataclass(frozen=True, slots=True)
class Outdated:
    """Characters [start, end) of a message that are no longer so, and the current belief instead, None for none."""

    start: int
    end: int
    instead: ItemRecord | None

    def newer(self) -> Newer | None:
        """Return the line to show beside the message."""
        return None if self.instead is None else Newer(self.instead.id, f"no longer so; now: {self.instead.text}")


def outdated(transaction: Transaction, view: View, found: Iterable[Record]) -> dict[RecordId, list[Outdated]]:
    """Return what is no longer so in the messages among some records, by the id of the message."""
    said = {id_bytes(record.id): record for record in found if isinstance(record, MessageRecord)}
    taught = beliefs.taught_by(transaction, view.scope_ids, list(said)) if said else []
    standing = {(one.parent_id, one.start, one.end) for one in taught if one.is_current}
    ended = [one for one in taught if not one.is_current and (one.parent_id, one.start, one.end) not in standing]
    if not ended:
        return {}
    instead = _instead(transaction, view, [one.child_id for one in ended])
    answer: dict[RecordId, list[Outdated]] = {}
    for one in ended:
        stretch = Outdated(one.start, one.end, instead.get(one.child_id))
        answer.setdefault(said[one.parent_id].id, []).append(stretch)
    return answer


def is_touched(spans: Sequence[tuple[int, int]], stretches: Sequence[Outdated]) -> Outdated | None:
    """Return the first of the stretches that one of some [start, end) overlaps."""
    return next((one for one in stretches if any(start < one.end and one.start < end for start, end in spans)), None)


def _instead(transaction: Transaction, view: View, ended: Sequence[bytes]) -> Mapping[bytes, ItemRecord]:
    """Return what is believed now instead of each of some beliefs: of the same slot, or at the end of its changes."""
    last = claims.current_in_slot_of(transaction, view.scope_ids, ended)
    next_of: dict[bytes, bytes] = {}
    todo = set(ended) - last.keys()
    for _ in range(_STEPS):
        if not todo:
            break
        causes = {
            id_bytes(one.record_id): id_bytes(one.cause)
            for one in claims.revisions(transaction, view.scope_ids, todo)
            if one.cause is not None
        }
        todo = {cause for cause in causes.values() if cause not in next_of} - causes.keys()
        next_of.update(causes)
    last |= {one: cause for one in ended if one not in last and (cause := _last(one, next_of)) is not None}
    wanted = set(last.values())
    fetched = records.fetch(transaction, view, records.kinds_of(transaction, view, wanted))
    held = {
        record_id: record
        for record_id, record in fetched.items()
        if isinstance(record, ItemRecord) and record.is_searchable and record.valid_to is None
    }
    return {one: held[cause] for one, cause in last.items() if cause in held}


def _last(record_id: bytes, next_of: Mapping[bytes, bytes]) -> bytes | None:
    seen = {record_id}
    while (following := next_of.get(record_id)) is not None and following not in seen:
        seen.add(following)
        record_id = following
    return record_id if len(seen) > 1 else None
