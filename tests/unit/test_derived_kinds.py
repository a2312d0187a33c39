import importlib

from retentia.lifecycle.derived import BOOKKEEPING, DERIVED, IN_BIN, IN_CUSTODY
from retentia.store.records import RECORD_TABLES
from retentia.store.schema import metadata


def test_every_table_is_a_record_a_registered_derived_kind_or_bookkeeping() -> None:
    records = {table.name for table in RECORD_TABLES}
    assert metadata.tables.keys() - records - DERIVED.keys() - BOOKKEEPING - IN_CUSTODY - IN_BIN == set()
    assert not records & DERIVED.keys()


def test_every_derived_kind_names_a_rebuilder_that_exists() -> None:
    for kind in DERIVED.values():
        assert importlib.import_module(kind.rebuilt_by)


def test_the_key_of_every_table_with_personal_data_begins_with_the_tenant() -> None:
    for table in metadata.tables.values():
        if table.name not in {"generation", "setting", "erasure", "tombstone", "reader", "notice"}:
            assert next(iter(table.primary_key.columns)).name == "tenant"
            for index in table.indexes:
                assert next(iter(index.columns)).name == "tenant"
