"""Thousands of ids in one parameter find the same rows as a list of them would, and by the key."""

import random
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from retentia.model.turns import in_turns
from retentia.store import binned, erasures, manifests, passages, records, summaries, tool_uses
from retentia.store.open import open_database
from retentia.store.records import RECORD_TABLES


@pytest.mark.parametrize("count", [0, 1, 2, 4096, 4097, 9000])
def test_exactly_the_ids_that_are_there_are_found(store_url: str, count: int) -> None:
    chosen = random.Random(count)
    there = [chosen.randbytes(32) for _ in range(count)]
    strangers = [chosen.randbytes(32) for _ in range(50)]
    database = open_database(store_url)
    with database.write("") as transaction:
        assert erasures.bury(transaction, there) == count
        assert erasures.bury(transaction, there[:10]) == 0
        asked = [*there[::2], *strangers, *there[:3]]
        assert erasures.buried(transaction, asked) == {*there[::2], *there[:3]}
        assert erasures.buried(transaction, strangers) == set()
    database.close()


@pytest.mark.parametrize("table", RECORD_TABLES, ids=lambda table: table.name)
def test_sqlite_looks_ids_up_by_their_key(sqlite_url: str, table) -> None:  # type: ignore[no-untyped-def]
    for statement in (records._kinds(table), records._delete(table)):
        assert f"{table.name} USING" in plan(sqlite_url, statement)
        assert "scope_id=? AND id=?" in plan(sqlite_url, statement)


def test_sqlite_looks_vectors_and_passages_up_by_their_key(sqlite_url: str) -> None:
    assert "scope_id=? AND generation=? AND record_id=?" in plan(sqlite_url, passages._DELETE_VECTORS)
    assert "scope_id=? AND record_id=?" in plan(sqlite_url, passages._DELETE_PASSAGES)


def test_sqlite_looks_what_lies_in_the_bin_up_by_its_key(sqlite_url: str) -> None:
    by_id = ("(tenant=? AND scope_id=? AND id=?)", "(tenant=? AND id=? AND scope_id=?)")
    for statement in (binned._FIND, binned._IS_THERE, binned._TAKE_OUT):
        assert any(key in plan(sqlite_url, statement) for key in by_id)
    assert "bin_derived_from_parent (tenant=? AND parent_id=?)" in plan(sqlite_url, binned._DERIVED)


def test_sqlite_looks_summaries_manifests_and_uses_of_tools_up_by_their_key(sqlite_url: str) -> None:
    assert "scope_id=? AND record_id=?" in plan(sqlite_url, tool_uses._DELETE)
    assert "scope_id=? AND id=?" in plan(sqlite_url, summaries._PLACES)
    assert "scope_id=? AND session_id=?" in plan(sqlite_url, summaries._DELETE_ORPHANS)
    for statement in manifests._DELETE_OWN:
        assert "scope_id=? AND reply_id=?" in plan(sqlite_url, statement)
    assert "scope_id=? AND record_id=?" in plan(sqlite_url, manifests._BLANK)
    by_reply, by_record = (plan(sqlite_url, statement) for statement in manifests._COUNT)
    assert "scope_id=? AND reply_id=?" in by_reply
    assert "scope_id=? AND record_id=?" in by_record


def plan(url: str, statement) -> str:  # type: ignore[no-untyped-def]
    compiled = statement.compile(dialect=sqlite.dialect())
    open_database(url).close()
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        found = connection.execute(f"EXPLAIN QUERY PLAN {compiled}", [b""] * len(compiled.positiontup)).fetchall()
    return "; ".join(row[3] for row in found)


@given(st.lists(st.integers(), max_size=30), st.integers(0, 3000))
def test_values_come_in_turns_as_they_are(values: list[int], more: int) -> None:
    given_values = [*values, *range(more)]
    assert list(in_turns(given_values)) == given_values
