"""Listing records page by page, filtered before they are counted into a page."""

from dataclasses import dataclass

from retentia.errors import InvalidInput
from retentia.model.filters import Filter
from retentia.model.ids import id_bytes
from retentia.model.record import ITEM_KINDS, Kind, Record
from retentia.store import records
from retentia.store.database import Transaction
from retentia.store.records import View

_ROWS_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some records, and the cursor of the next page: "" after the last."""

    records: tuple[Record, ...]
    cursor: str


def list_records(
    transaction: Transaction, view: View, kind: Kind, where: Filter | None, *, after: str, limit: int
) -> Page:
    """Return up to `limit` records of one kind that match, those after a cursor; raise InvalidInput."""
    if limit < 1:
        raise InvalidInput(f"limit must be at least 1, not {limit}")
    try:
        reached = id_bytes(after) if after else None
    except ValueError as error:
        raise InvalidInput(f"{after!r} is not a cursor of this listing") from error
    kinds = (kind.value,) if kind in ITEM_KINDS else ()
    found: list[Record] = []
    while len(found) <= limit:
        rows = records.page(transaction, view, records.TABLES[kind], after=reached, limit=_ROWS_AT_ONCE, kinds=kinds)
        found.extend(record for record in rows if where is None or where.matches(record.metadata))
        if len(rows) < _ROWS_AT_ONCE:
            break
        reached = id_bytes(rows[-1].id)
    page = found[:limit]
    return Page(records=tuple(page), cursor=page[-1].id if len(found) > limit else "")
