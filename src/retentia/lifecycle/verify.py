"""Verifying an erasure: look for what is left of it, by another way than the one that erased.

The tables and their columns are read from the database's own catalogue, not from our schema; the files are read as
bytes. So a table that was forgotten in the code that erases is not forgotten here.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Column, LargeBinary, MetaData, Table, func, inspect, select

from retentia.lifecycle.ledger import Entry
from retentia.lifecycle.store_ledger import StoreLedger
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.store import erasures
from retentia.store.database import Database, Transaction, batches
from retentia.store.sqlite_bytes import descriptor

_CHUNK = 1 << 22
_HOLD_IDS_ON_PURPOSE = frozenset({"erasure", "change", "job"})  # and nothing else of a record


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a search for erased records found: rows by table, texts by file, and whether the ledger names the erasure.

    `is_pending` says that the erasure is not finished: bytes may be left. `unsearched` says what could not be looked
    at, and why.
    """

    records: int
    rows: Mapping[str, int]
    files: Mapping[str, int]
    in_ledger: bool | None
    is_pending: bool = False
    unsearched: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found, and nothing is still to be done."""
        return not self.rows and not self.files and not self.is_pending and self.in_ledger is not False


def verify(
    database: Database,
    ledger: StoreLedger,
    tenant: str,
    ids: Sequence[RecordId],
    *,
    erasure: str = "",
    texts: Sequence[str] = (),
) -> Verification:
    """Look for records by their ids in every table, and for texts in every byte of the store's files.

    `erasure` is the id of the erasure that the ledger must name. A text is looked for in UTF-8, as it is and as JSON
    has it.
    """
    raw = [id_bytes(record_id) for record_id in ids]
    with database.read(tenant) as transaction:
        rows = dict(_rows_with(transaction, raw))
        begun = [id_text(planned.id) for planned in erasures.unfinished(transaction)]
    known = ledger.existing()
    place = getattr(database.dialect, "path", None)
    return Verification(
        records=len(raw),
        rows=rows,
        files={} if place is None else _files_with(place.resolve(), _spellings(texts)),
        in_ledger=None if known is None or not erasure else _is_named(known.entries(), erasure, raw),
        is_pending=erasure in begun,
        unsearched=_unsearched(database, texts),
    )


def _is_named(entries: Sequence[Entry], erasure: str, ids: Collection[bytes]) -> bool:
    """Tell whether an erasure has its line; one that began as a removal, whether all of its records were purged."""
    erased = [entry for entry in entries if entry.kind == "erasure"]
    if any(entry.id == erasure for entry in erased):
        return True
    began = any(entry.id == erasure and entry.kind == "removal" for entry in entries)
    return began and {one.hex() for one in ids} <= {one for entry in erased for one in entry.records}


def _unsearched(database: Database, texts: Sequence[str]) -> tuple[str, ...]:
    if getattr(database.dialect, "path", None) is None:
        return ("the files of the server, its write-ahead log and its backups",)
    is_encrypted = getattr(database.dialect, "is_encrypted", False)
    return ("texts in the file, which is encrypted",) if texts and is_encrypted else ()


def _spellings(texts: Sequence[str]) -> list[bytes]:
    """Return how texts may stand in a file: as they are, and within JSON."""
    spelled = {text for text in texts if text}
    spelled |= {json.dumps(text, ensure_ascii=ascii_only)[1:-1] for text in spelled for ascii_only in (True, False)}
    return [text.encode("utf-8", "surrogatepass") for text in sorted(spelled)]


def _rows_with(transaction: Transaction, ids: Collection[bytes]) -> Iterable[tuple[str, int]]:
    catalogue = inspect(transaction.connection)
    for name in sorted(catalogue.get_table_names()):
        if name in _HOLD_IDS_ON_PURPOSE:
            continue
        table = Table(name, MetaData(), autoload_with=transaction.connection)
        binary = [column for column in table.columns if isinstance(column.type, LargeBinary)]
        if found := sum(_count(transaction, column, ids) for column in binary):
            yield name, found


def _count(transaction: Transaction, column: Column[bytes], ids: Collection[bytes]) -> int:
    counted = select(func.count()).select_from(column.table)
    return sum(transaction.number(counted.where(column.in_(some))) for some in batches(ids))


def _files_with(store: Path, texts: Sequence[bytes]) -> dict[str, int]:
    """Count the texts in the files of a store: the database, its log, its ledger, and whatever lies beside them."""
    found = {}
    for file in sorted(store.parent.iterdir()):
        if file.name.startswith(store.name) and file.is_file() and (hits := _count_in(store, file, texts)):
            found[file.name] = hits
    return found


def _count_in(store: Path, file: Path, texts: Sequence[bytes]) -> int:
    overlap = max((len(text) for text in texts), default=1) - 1
    hits, before = 0, b""
    with descriptor(store, file) as opened:
        while chunk := os.read(opened, _CHUNK):
            window = before + chunk
            # What lies wholly in the part that was seen before has been counted.
            hits += sum(window.count(text) - before.count(text) for text in texts)
            before = window[-overlap:] if overlap else b""
    return hits
