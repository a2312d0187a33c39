"""Copying a whole store into an empty one, from any database to any other: one snapshot in, one transaction out."""

from collections.abc import Mapping

from sqlalchemy import delete, select

from retentia.errors import InvalidInput
from retentia.model.progress import Progress, unheard
from retentia.store import content_keys, jobs
from retentia.store.bulk import insert_many
from retentia.store.database import Database, Transaction
from retentia.store.schema import TENANT_TABLES, content_key, metadata, notice, reader, setting

_ROWS_AT_ONCE = 1_000
_OF_THE_STORE = tuple(
    table
    for table in metadata.sorted_tables
    # Who has a store open has not opened its copy.
    if table not in (*TENANT_TABLES, reader, notice) and table.name != "schema_migration"
)

# Content is copied as it reads, and sealed anew with keys of the target where that has some.
_OF_TENANTS = tuple(table for table in TENANT_TABLES if table is not content_key)
_is_of_keys = setting.c.name == content_keys.SETTING


def copy_store(source: Database, target: Database, *, progress: Progress = unheard) -> Mapping[str, int]:
    """Copy every row; return how many of each table. Raises InvalidInput when the target is not empty."""
    counts: dict[str, int] = {}
    with source.read("") as reading, target.write("") as writing:
        if jobs.tenants(writing):
            raise InvalidInput("the store to restore into is not empty; name a new file or an empty database")
        tenants = jobs.tenants(reading)
        for table in _OF_THE_STORE:
            writing.run(delete(table).where(~_is_of_keys) if table is setting else delete(table))
            _copy(reading, writing, table.name, counts, progress)
        for tenant in tenants:
            of_one, to_one = reading.acting_for(tenant), writing.acting_for(tenant)
            for table in _OF_TENANTS:
                _copy(of_one, to_one, table.name, counts, progress)
    return counts


def _copy(reading: Transaction, writing: Transaction, name: str, counts: dict[str, int], progress: Progress) -> None:
    table = metadata.tables[name]
    statement = select(table)
    if table in TENANT_TABLES:
        statement = statement.where(table.c.tenant == reading.tenant)
    elif table is setting:
        statement = statement.where(~_is_of_keys)
    counts.setdefault(name, 0)
    for rows in reading.partitions(statement, _ROWS_AT_ONCE):
        insert_many(writing, table, rows)
        counts[name] += len(rows)
        progress(len(rows))
