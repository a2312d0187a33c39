# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of scopes: exact names, walls between tenants, and versions that tell what changed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from retentia.model.ids import new_id_bytes
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import jobs, passages, records, scopes, sessions
from retentia.store.database import Database
from retentia.store.records import RECORD_TABLES, View
from retentia.store.schema import scope as scope_table
from retentia.testing_store.rows import passage_of, write_item, write_message

MINE = Scope("acme", "ann")
LOOKALIKES = (
    ("user_1", "user_10", "user1", "User_1", "USER_1", "user__1"),
    ("a", "a%", "ab", "%", "a%%", r"a\%", "a_b", "axb", "a b", "a-b", "a__b"),
    ("tenant:x", "tenant", "x", "tenant:", ":x", "/", "//", "a/b", "a/", r"\\", "acme", "acme-corp"),
    ("it's", "its", "it''s", r"it\'s", '"it"', "null", "NULL", "None", "0", "''"),
    ("caf\u00e9", "cafe\u0301", "cafe", "CAFÉ", "а", "ɑ", "α", "张伟", "张", "伟"),
)
"""Names that a prefix, a pattern, a collation or a normalisation would take for one another."""
NAMES = [name for names in LOOKALIKES for name in names]


class ScopesContract:
    """Scopes of one database."""

    def test_a_scope_that_nobody_wrote_to_is_unknown_and_empty(self, database: Database) -> None:
        with database.read("acme") as transaction:
            assert scopes.find(transaction, MINE) is None
            assert scopes.view(transaction, MINE) == []
            assert scopes.all_scopes(transaction) == []

    def test_a_scope_keeps_its_number(self, database: Database) -> None:
        with database.write("acme") as transaction:
            number = scopes.ensure(transaction, MINE)
            assert scopes.ensure(transaction, MINE) == number
        with database.write("acme") as transaction:
            assert scopes.ensure(transaction, MINE) == number
            assert scopes.find(transaction, MINE) == number

    @pytest.mark.parametrize("part", ["user", "space", "agent"])
    def test_names_are_compared_exactly(self, database: Database, part: str) -> None:
        named = [replace(MINE, **{part: name}) for name in NAMES]
        with database.write("acme") as transaction:
            numbers = [scopes.ensure(transaction, name) for name in named]
            assert len(set(numbers)) == len(NAMES)
            assert [scopes.find(transaction, name) for name in named] == numbers
            assert {name for _, name in scopes.all_scopes(transaction)} == set(named)

    def test_tenants_are_compared_exactly(self, database: Database) -> None:
        for tenant in NAMES:
            with database.write(tenant) as transaction:
                scopes.ensure(transaction, Scope(tenant, f"user of {tenant}"))
        for tenant in NAMES:
            with database.read(tenant) as transaction:
                assert [name for _, name in scopes.all_scopes(transaction)] == [Scope(tenant, f"user of {tenant}")]

    def test_a_view_is_the_agents_own_part_and_what_agents_share(self, database: Database) -> None:
        with database.write("acme") as transaction:
            shared, own, other, elsewhere = (
                scopes.ensure(transaction, name)
                for name in (
                    MINE,
                    replace(MINE, agent="coder"),
                    replace(MINE, agent="writer"),
                    replace(MINE, space="work", agent="coder"),
                )
            )

            def seen(name: Scope) -> list[int]:
                return [entry.scope_id for entry in scopes.view(transaction, name)]

            assert seen(MINE) == [shared]
            assert seen(replace(MINE, agent="coder")) == [shared, own]
            assert seen(replace(MINE, agent="writer")) == [shared, other]
            assert seen(replace(MINE, space="work", agent="coder")) == [elsewhere]
            assert seen(replace(MINE, space="work")) == []

    def test_scopes_are_listed_in_the_order_of_their_code_points(self, database: Database) -> None:
        users = ["Z", "a", "b", "ä", "А", "z", "1", "~", "張", "\U0001f600"]
        with database.write("acme") as transaction:
            for user in users:
                scopes.ensure(transaction, Scope("acme", user))
            assert [name.user for _, name in scopes.all_scopes(transaction)] == sorted(users)

    def test_one_tenant_never_sees_another_even_under_the_same_numbers(self, database: Database) -> None:
        session_id, view = new_id_bytes(), View({7: MINE})
        with database.write("acme") as transaction:
            values = {"tenant": "acme", "scope_id": 7, "user": "ann", "version": 0, "created_at": 0}
            transaction.insert_new(scope_table, values)
            ids = [write_message(transaction, 7, session_id, 1, "secret"), write_item(transaction, 7, "secret")]
            passages.insert_passages(transaction, 7, [passage_of(ids[0])])
            job_id = jobs.enqueue(transaction, "embed", 7, ids)
            scopes.record_change(transaction, 7, ids)
        with database.write("acme-corp") as transaction:
            assert scopes.all_scopes(transaction) == []
            assert records.fetch(transaction, view, {Kind.MESSAGE: ids, Kind.FACT: ids}) == {}
            assert records.kinds_of(transaction, view, ids) == {}
            assert records.texts(transaction, 7, {Kind.MESSAGE: ids, Kind.FACT: ids}) == {}
            assert records.session_messages(transaction, view, session_id) == []
            assert [records.page(transaction, view, table, after=None, limit=9) for table in RECORD_TABLES] == [[]] * 4
            assert set(records.counts(transaction, view).values()) == {0}
            assert records.sample_texts(transaction, 7, limit=9) == []
            assert list(passages.slices(transaction, 7, 1)) == []
            assert passages.count_passages(transaction, 7) == 0
            assert passages.delete_passages(transaction, 7, ids) == 0
            assert scopes.changed_since(transaction, 7, 0, current=0) == set()
            assert jobs.listing(transaction) == []
            assert jobs.claim(transaction, ("embed",)) == []
            assert jobs.states(transaction, [job_id]) == set()
            assert sessions.listing(transaction, [7], limit=9) == []

    def test_many_threads_make_one_scope_once(self, database: Database) -> None:
        def ensure(_: int) -> int:
            with database.write("acme") as transaction:
                return scopes.ensure(transaction, MINE)

        with ThreadPoolExecutor(8) as pool:
            numbers = set(pool.map(ensure, range(16)))
        with database.read("acme") as transaction:
            assert [number for number, _ in scopes.all_scopes(transaction)] == list(numbers)

    def test_each_write_gives_the_next_version_and_names_what_it_touched(self, database: Database) -> None:
        ids = [new_id_bytes() for _ in range(6)]
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            versions = [scopes.record_change(transaction, scope_id, pair) for pair in (ids[:2], ids[2:4], ids[4:])]
        assert versions == [1, 2, 3]
        with database.read("acme") as transaction:
            assert [entry.version for entry in scopes.view(transaction, MINE)] == [3]
            assert scopes.changed_since(transaction, scope_id, 1, current=3) == set(ids[2:])
            assert scopes.changed_since(transaction, scope_id, 3, current=3) == set()

    def test_changes_that_are_no_longer_known_are_told_by_none(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            for _ in range(2 * scopes.CHANGES_KEPT):
                current = scopes.record_change(transaction, scope_id, [])
            kept = current - scopes.CHANGES_KEPT
            assert scopes.changed_since(transaction, scope_id, kept, current=current) == set()
            assert scopes.changed_since(transaction, scope_id, kept - 1, current=current) is None
            assert scopes.changed_since(transaction, scope_id, 0, current=current) is None

    def test_no_version_is_given_twice_and_no_change_is_lost(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)

        def touch(record_id: bytes) -> int:
            with database.write("acme") as transaction:
                return scopes.record_change(transaction, scopes.ensure(transaction, MINE), [record_id])

        ids = [new_id_bytes() for _ in range(24)]
        with ThreadPoolExecutor(6) as pool:
            versions = list(pool.map(touch, ids))
        assert sorted(versions) == list(range(1, 25))
        with database.read("acme") as transaction:
            assert scopes.changed_since(transaction, scope_id, 0, current=24) == set(ids)

    def test_a_locked_scope_lets_no_other_writer_in(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)

        def add_one(_: int) -> None:
            with database.write("acme") as transaction:
                scopes.lock(transaction, [scope_id])
                said = records.sample_texts(transaction, scope_id, limit=99)
                write_message(transaction, scope_id, b"s" * 16, len(said))

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(add_one, range(12)))
        with database.read("acme") as transaction:
            assert len(records.sample_texts(transaction, scope_id, limit=99)) == 12
