# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of sessions: one row a name, and numbers without gap or double."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from retentia.model.scope import Scope
from retentia.store import records, scopes, sessions
from retentia.store.database import Database
from retentia.store.records import View
from retentia.testing_store.clock import FixedClock
from retentia.testing_store.rows import write_message

MINE = Scope("acme", "ann")


class SessionsContract:
    """Sessions of one database."""

    def test_a_session_is_begun_once_for_each_scope(self, database: Database) -> None:
        with database.write("acme") as transaction:
            mine, work = (scopes.ensure(transaction, name) for name in (MINE, replace(MINE, space="work")))
            assert sessions.find(transaction, mine, "чат %_1") is None
            begun = sessions.ensure(transaction, mine, "чат %_1")
            assert sessions.ensure(transaction, mine, "чат %_1") == begun
            assert sessions.find(transaction, mine, "чат %_1") == begun
            assert sessions.find(transaction, mine, "чат %_2") is None
            assert sessions.ensure(transaction, work, "чат %_1") != begun

    def test_numbers_follow_each_other_from_one(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            one, other = (sessions.ensure(transaction, scope_id, name) for name in ("one", "other"))
            assert [sessions.take_numbers(transaction, scope_id, one, count) for count in (1, 3, 1)] == [1, 2, 5]
            assert sessions.take_numbers(transaction, scope_id, other, 1) == 1

    def test_writers_at_the_same_time_get_places_of_their_own(self, database: Database) -> None:
        def append(_: int) -> None:
            with database.write("acme") as transaction:
                scope_id = scopes.ensure(transaction, MINE)
                session_id = sessions.ensure(transaction, scope_id, "chat")
                first = sessions.take_numbers(transaction, scope_id, session_id, 2)
                for seq in (first, first + 1):
                    write_message(transaction, scope_id, session_id, seq, str(seq))

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(append, range(12)))
        with database.read("acme") as transaction:
            scope_id = scopes.view(transaction, MINE)[0].scope_id
            session_id = sessions.find(transaction, scope_id, "chat")
            assert session_id is not None
            said = records.session_messages(transaction, View({scope_id: MINE}), session_id)
        assert [message.seq for message in said] == list(range(1, 25))
        assert [message.text for message in said] == [str(number) for number in range(1, 25)]

    def test_a_listing_has_the_latest_session_first_with_its_messages_counted(
        self, database: Database, clock: FixedClock
    ) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            first = sessions.ensure(transaction, scope_id, "first")
            write_message(transaction, scope_id, first, 1)
            write_message(transaction, scope_id, first, 2)
        clock.advance(seconds=60)
        with database.write("acme") as transaction:
            second = sessions.ensure(transaction, scope_id, "second")
            sessions.take_numbers(transaction, scope_id, second, 1)
            found = sessions.listing(transaction, [scope_id], limit=9)
            assert [(entry.id, entry.name, entry.messages) for entry in found] == [
                (second, "second", 0),
                (first, "first", 2),
            ]
            assert (found[0].started_at, found[0].last_at, found[0].ended_at) == (clock.now, clock.now, None)
            assert sessions.listing(transaction, [scope_id], limit=1) == found[:1]
            assert sessions.listing(transaction, [], limit=9) == []
