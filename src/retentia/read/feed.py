"""Reading what changed: from the writes that a store remembers of each scope to one entry for each record.

A store remembers the last writes only, so that the feed costs nothing where nobody reads it; a reader that stayed away
for longer is told so. A record that is touched again moves to the place of its last change, so nothing is missed.
"""

from collections.abc import Iterable, Mapping

from retentia.errors import InvalidInput
from retentia.model.claim import Change, Revision
from retentia.model.feed import GONE, Feed, FeedEntry, Reached, read_cursor, write_cursor
from retentia.model.ids import RecordId, id_text
from retentia.model.record import NOT_BELIEVED, ItemRecord, MessageRecord, Record
from retentia.store import claims, records, scopes
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.store.scopes import Touched


def read_feed(transaction: Transaction, view: View, after: str, *, limit: int, proposals: bool) -> Feed:
    """Return the changes of a view behind a cursor; without `proposals` nothing of what is only proposed."""
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, not {limit}")
    given, versions = read_cursor(after), scopes.versions(transaction, view.scope_ids)
    now = {scope_id: Reached(version) for scope_id, version in versions.items()}
    known = {scope_id: given.get(scope_id, Reached(0)) for scope_id in versions}
    touched: list[Touched] = []
    is_complete = given.keys() <= versions.keys()
    for scope_id, current in versions.items():
        found = scopes.touched_since(transaction, scope_id, known[scope_id].version, current=current)
        is_complete = is_complete and found is not None
        touched += (one for one in found or () if _is_behind(one, known[scope_id]))
    if not is_complete:
        return Feed(entries=(), cursor=write_cursor(now), is_complete=False)
    last = _last_of_each(touched)
    page = last[:limit]
    for one in page:
        known[one.scope_id] = Reached(one.version - 1, one.place + 1)
    more = len(page) < len(last)
    entries = _entries(transaction, view, page, proposals=proposals)
    return Feed(entries=entries, cursor=write_cursor(known if more else now), more=more)


def _is_behind(one: Touched, reached: Reached) -> bool:
    return one.version > reached.version + 1 or one.place >= reached.taken


def _last_of_each(touched: Iterable[Touched]) -> list[Touched]:
    last = {one.record_id: one for one in sorted(touched, key=_order)}
    return sorted(last.values(), key=_order)


def _order(one: Touched) -> tuple[int, int, int]:
    return one.scope_id, one.version, one.place


def _entries(
    transaction: Transaction, view: View, page: Iterable[Touched], *, proposals: bool
) -> tuple[FeedEntry, ...]:
    ids = [one.record_id for one in page]
    there = records.fetch(transaction, view, records.kinds_of(transaction, view, ids))
    last = {one.record_id: one for one in claims.revisions(transaction, view.scope_ids, ids)}
    return tuple(
        _entry(record_id, there.get(record_id), last)
        for record_id in ids
        if proposals or not _is_proposal(there.get(record_id))
    )


def _is_proposal(record: Record | None) -> bool:
    return isinstance(record, ItemRecord) and record.status in NOT_BELIEVED


def _entry(record_id: bytes, record: Record | None, last: Mapping[RecordId, Revision]) -> FeedEntry:
    name = id_text(record_id)
    if record is None:
        return FeedEntry(record_id=name, kind=None, change=GONE, version=0, at=None)
    if (change := last.get(name)) is not None:
        return FeedEntry(
            record_id=name,
            kind=record.kind,
            change=change.change.value,
            version=change.version,
            at=change.changed_at,
            author=change.author,
        )
    version, author = 1, ""
    match record:
        case ItemRecord():
            version, author = record.version, record.author
        case MessageRecord():
            author = record.speaker or record.role
    return FeedEntry(
        record_id=name,
        kind=record.kind,
        change=Change.ADDED.value,
        version=version,
        at=record.recorded_at,
        author=author,
    )
