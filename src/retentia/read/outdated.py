"""What a message says that is no longer so: each stretch of it that an ended belief was learned from.

A question about now is then answered by the belief that took the place; the message is shown behind it, and says so.
Where the same words also say what is still so, the message keeps its place and says which part is over.
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
    """Characters [start, end) of a message that are no longer so, and the current belief instead, None for none.

    `is_partly` tells that they also say something that is still so.
    """

    start: int
    end: int
    instead: ItemRecord | None
    is_partly: bool = False

    def newer(self) -> Newer | None:
        """Return the line to show beside the message."""
        much = "partly no longer so" if self.is_partly else "no longer so"
        if self.instead is None:
            return None
        return Newer(self.instead.id, f"{much}; now: {self.instead.text}", is_partly=self.is_partly)


def outdated(transaction: Transaction, view: View, found: Iterable[Record]) -> dict[RecordId, list[Outdated]]:
    """Return what is no longer so in the messages among some records, by the id of the message."""
    said = {id_bytes(record.id): record for record in found if isinstance(record, MessageRecord)}
    taught = beliefs.taught_by(transaction, view.scope_ids, list(said)) if said else []
    standing = {(one.parent_id, one.start, one.end) for one in taught if one.is_current}
    ended = [one for one in taught if not one.is_current]
    if not ended:
        return {}
    instead = _instead(transaction, view, [one.child_id for one in ended])
    answer: dict[RecordId, list[Outdated]] = {}
    for one in ended:
        is_partly = (one.parent_id, one.start, one.end) in standing
        stretch = Outdated(one.start, one.end, instead.get(one.child_id), is_partly)
        answer.setdefault(said[one.parent_id].id, []).append(stretch)
    return answer


def is_touched(spans: Sequence[tuple[int, int]], stretches: Sequence[Outdated]) -> Outdated | None:
    """Return the first of the stretches that one of some [start, end) overlaps, rather one that is over altogether."""
    ordered = sorted(stretches, key=lambda one: one.is_partly)
    return next((one for one in ordered if any(start < one.end and one.start < end for start, end in spans)), None)


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
