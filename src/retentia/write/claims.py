"""From an item's row to the claim that it is found by."""

import json
from collections.abc import Iterable, Iterator

from sqlalchemy import Table

from retentia.index.names import name_key
from retentia.model.claim import Claim, claim_of
from retentia.model.ids import id_bytes
from retentia.model.record import ItemRecord, Record
from retentia.store.claims import ClaimRow
from retentia.store.database import Params
from retentia.store.schema import item


def claims_of_rows(table: Table, rows: Iterable[Params]) -> Iterator[ClaimRow]:
    """Yield the claims of rows that are inserted; what is no item makes none."""
    if table is not item:
        return
    for values in rows:
        body = values.get("body")
        told = claim_of(json.loads(str(body))) if body else None
        if told is not None:
            start, end = values.get("occurred_start"), values.get("occurred_end")
            recorded = int(str(values["recorded_at"]))
            said = (recorded, recorded + 1) if start is None else (int(str(start)), int(str(end)))
            yield claim_row(told, values["id"], said)  # type: ignore[arg-type]  # as drafted


def claims_of(found: Iterable[Record]) -> Iterator[ClaimRow]:
    """Yield the claims of records that were read back."""
    for record in found:
        told = claim_of(record.body) if isinstance(record, ItemRecord) else None
        if told is not None:
            said = record.occurred
            span = (record.recorded_at, record.recorded_at + 1) if said is None else (said.start, said.end)
            yield claim_row(told, id_bytes(record.id), span)


def claim_row(told: Claim, record_id: bytes, said: tuple[int, int]) -> ClaimRow:
    """Return the row of a claim; it was said of [start, end), UTC microseconds."""
    return ClaimRow(
        record_id=record_id,
        subject_key=name_key(told.subject),
        attribute=told.attribute,
        value_key=name_key(told.value),
        applies_key=name_key(told.applies_to) if told.applies_to else bytes(16),
        said_start=said[0],
        said_end=said[1],
    )
