# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of the rows an index is built from, and of the generations of its vectors."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select

from retentia.model.ids import new_id_bytes
from retentia.model.passage import Passage, VectorRow
from retentia.model.scope import Scope
from retentia.store import generations, passages, records, scopes, sessions
from retentia.store.database import Database, Transaction
from retentia.store.records import RECORD_TABLES
from retentia.store.schema import vector
from retentia.testing_store.rows import passage_of, write_document, write_message

MINE = Scope("acme", "ann")


class IndexRowsContract:
    """Passages, vectors and generations of one database."""

    def test_passages_come_back_byte_by_byte_with_their_columns_in_order(self, database: Database) -> None:
        made = [
            passage_of(new_id_bytes()),
            passage_of(new_id_bytes(), 1, thread=b"", role="", speaker="", stems=b"", grams=b"", day=0),
            passage_of(new_id_bytes(), grams=b"\0" * 60_000, flags=0, seq=2**40),
        ]
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            passages.insert_passages(transaction, scope_id, made)
            passages.insert_passages(transaction, scope_id, [])
        with database.read("acme") as transaction:
            ((rows, _),) = passages.slices(transaction, scope_id, 1)
            assert sorted(map(tuple, rows)) == sorted(made)
            (one,) = passages.load_passages(transaction, scope_id, [made[1].record_id])
            assert Passage._make(one) == made[1]
            assert passages.load_passages(transaction, scope_id, []) == []
            assert list(passages.slices(transaction, scope_id + 1, 1)) == []
            assert passages.count_passages(transaction, scope_id) == 3

    def test_a_big_scope_is_read_in_slices_that_miss_and_repeat_nothing(self, database: Database) -> None:
        made = [passage_of(new_id_bytes(), part) for part in range(3)]
        made += [passage_of(made[0].record_id, part) for part in (7, 8)]
        embedded = [VectorRow(row.record_id, row.part, b"v") for row in made[1:]]
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            passages.insert_passages(transaction, scope_id, made)
            passages.insert_vectors(transaction, scope_id, 1, embedded)
            passages.insert_vectors(transaction, scope_id, 2, embedded)
        for size in (1, 2, 5, 6):
            with database.read("acme") as transaction:
                found = list(passages.slices(transaction, scope_id, 1, size=size))
            assert all(0 < len(rows) <= size for rows, _ in found)
            assert [tuple(row) for rows, _ in found for row in rows] == sorted(made)
            assert [tuple(row) for _, rows in found for row in rows] == sorted(embedded)

    def test_a_vector_replaces_the_one_before_in_its_generation_only(self, database: Database) -> None:
        record_id = new_id_bytes()
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            passages.insert_vectors(transaction, scope_id, 1, _vectors(record_id, b"\x00\x3c", b"\xff\xfb"))
            passages.insert_vectors(transaction, scope_id, 2, _vectors(record_id, b"two"))
            passages.insert_vectors(transaction, scope_id, 1, _vectors(record_id, b"new"))
            assert _loaded(transaction, scope_id, 1) == [(record_id, 0, b"new")]
            assert _loaded(transaction, scope_id, 2) == [(record_id, 0, b"two")]
            assert passages.delete_generation(transaction, scope_id, 1) == 1
            assert _loaded(transaction, scope_id, 1) == []
            assert passages.delete_vectors(transaction, scope_id, [record_id]) == 1

    def test_the_vectors_of_wide_embedders_fit(self, database: Database) -> None:
        widths = [384, 1536, 3072, 4096, 16_384]
        made = [VectorRow(new_id_bytes(), 0, bytes(2 * width)) for width in widths]
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            passages.insert_vectors(transaction, scope_id, 1, made)
            assert _loaded(transaction, scope_id, 1) == sorted(map(tuple, made))

    def test_what_still_lacks_a_vector_is_known(self, database: Database) -> None:
        ids = sorted(new_id_bytes() for _ in range(5))
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            passages.insert_passages(transaction, scope_id, [passage_of(one, part) for one in ids for part in (0, 1)])
            passages.insert_vectors(transaction, scope_id, 1, _vectors(ids[0], b"a", b"b") + _vectors(ids[1], b"a"))
            assert passages.without_vector(transaction, scope_id, 1, limit=9) == ids[1:]
            assert passages.without_vector(transaction, scope_id, 1, limit=2, after=ids[2]) == ids[3:]
            assert passages.without_vector(transaction, scope_id, 2, limit=9) == ids
            assert passages.count_without_vector(transaction, scope_id, 1) == 7

    def test_rows_whose_parent_is_gone_are_counted_and_removed(self, database: Database) -> None:
        gone = new_id_bytes()
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            kept = write_document(transaction, scope_id)
            passages.insert_passages(transaction, scope_id, [passage_of(kept), passage_of(gone)])
            passages.insert_vectors(transaction, scope_id, 1, _vectors(kept, b"a") + _vectors(new_id_bytes(), b"b"))
            assert passages.count_orphans(transaction, scope_id, RECORD_TABLES) == 2
            assert passages.delete_orphans(transaction, scope_id, RECORD_TABLES) == 2
            assert passages.count_orphans(transaction, scope_id, RECORD_TABLES) == 0
            assert [row[0] for rows, _ in passages.slices(transaction, scope_id, 1) for row in rows] == [kept]
            assert _loaded(transaction, scope_id, 1) == [(kept, 0, b"a")]

    def test_records_with_text_and_no_passage_are_counted(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            session_id = sessions.ensure(transaction, scope_id, "s")
            ids = [
                write_message(transaction, scope_id, session_id, seq, text)
                for seq, text in enumerate(["said", "missed", "", " \t\r\n"])
            ]
            passages.insert_passages(transaction, scope_id, [passage_of(ids[0])])
            assert records.count_without_passage(transaction, scope_id) == 1

    def test_a_generation_is_built_serves_and_retires(self, database: Database) -> None:
        with database.write("acme") as transaction:
            assert generations.serving(transaction) is None
            first = generations.begin(transaction, '{"name": "use"}', "serving")
            scopes.ensure(transaction, MINE)
            second = generations.begin(transaction, '{"name": "e5"}', "building")
            assert (generations.serving(transaction), generations.building(transaction)) == (first, second)
            assert scopes.view(transaction, MINE)[0].generation == first.id
            generations.serve(transaction, second)
            serving = generations.serving(transaction)
            assert serving is not None
            assert (serving.id, serving.identity) == (second.id, '{"name": "e5"}')
            assert generations.building(transaction) is None
            assert [old.id for old in generations.retired(transaction)] == [first.id]
            assert scopes.view(transaction, MINE)[0].generation == second.id
            generations.drop(transaction, first.id)
            generations.retire(transaction, second)
            assert generations.serving(transaction) is None
            assert [old.id for old in generations.retired(transaction)] == [second.id]

    def test_of_many_that_open_a_new_store_at_once_one_names_its_embedder(self, database: Database) -> None:
        def begin(number: int) -> generations.Generation:
            with database.write("") as transaction:
                return generations.begin(transaction, f"embedder {number}", "serving")

        with ThreadPoolExecutor(6) as pool:
            assert len(set(pool.map(begin, range(6)))) == 1


def _vectors(record_id: bytes, *vectors: bytes) -> list[VectorRow]:
    return [VectorRow(record_id, part, vector) for part, vector in enumerate(vectors)]


def _loaded(transaction: Transaction, scope_id: int, generation: int) -> list[tuple[bytes, int, bytes]]:
    rows = transaction.rows(
        select(vector.c.record_id, vector.c.part, vector.c.vector).where(
            vector.c.tenant == transaction.tenant, vector.c.scope_id == scope_id, vector.c.generation == generation
        )
    )
    return sorted((row.record_id, row.part, row.vector) for row in rows)
