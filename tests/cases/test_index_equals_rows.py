"""Reports of an index that told something else than the rows."""

from pathlib import Path

import pytest
from sqlalchemy import func, select

from retentia import Memory, Scope
from retentia.store import passages, schema, scopes
from retentia.testing import FakeEmbedder


def rows(memory: Memory, table_name: str, tenant: str) -> int:
    table = schema.metadata.tables[table_name]
    with memory._database.read(tenant) as transaction:
        return transaction.number(select(func.count()).select_from(table).where(table.c.tenant == tenant))


def test_vectors_and_passages_are_as_many_as_the_rows_they_come_from(memory: Memory, scope: Scope) -> None:
    """powercontext#1469, MemOS#842: orphan vectors crowded out live ones."""
    kept = memory.add(["one apple", "two pears", "three plums"], scope=scope).ids
    memory.drain()
    memory.erase(kept[0], scope=scope)
    memory.add("four figs", scope=scope)
    memory.drain()
    assert rows(memory, "message", "acme") == rows(memory, "passage", "acme") == rows(memory, "vector", "acme") == 3
    with memory._database.read("acme") as transaction:
        (entry,) = scopes.view(transaction, scope)
        assert passages.count_orphans(transaction, entry.scope_id, (schema.message,)) == 0


def test_an_answer_of_the_embedder_that_comes_after_the_erasure_is_dropped(
    memory: Memory, scope: Scope, embedder: FakeEmbedder
) -> None:
    receipt = memory.add("a secret meeting", scope=scope)
    embed = embedder.embed

    def erase_meanwhile(texts: object) -> object:
        memory.erase(receipt.id, scope=scope)
        return embed(texts)  # type: ignore[arg-type]

    embedder.embed = erase_meanwhile  # type: ignore[assignment,method-assign]
    memory.drain()
    assert rows(memory, "vector", "acme") == 0
    assert rows(memory, "passage", "acme") == 0
    assert rows(memory, "job", "acme") == 0


def test_what_was_erased_is_not_found_by_any_process_at_its_next_search(store_url: str, scope: Scope) -> None:
    """langgraph#8300, supermemory#195: an old vector kept answering."""
    with (
        Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as writer,
        Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as reader,
    ):
        receipt = writer.add(["The launch code is tulip", "Lunch is at noon"], scope=scope)
        writer.drain()
        assert reader.recall("launch code", scope=scope)[0].id == receipt.ids[0]
        writer.erase(receipt.ids[0], scope=scope)
        assert receipt.ids[0] not in {hit.id for hit in reader.recall("launch code", scope=scope, min_relevance=0)}
        writer.add("The launch code is daisy", scope=scope)
        assert reader.recall("launch code", scope=scope)[0].record.text == "The launch code is daisy"


def test_a_reader_that_is_hundreds_of_writes_behind_answers_like_a_fresh_one(store_url: str, scope: Scope) -> None:
    with (
        Memory.open(store_url, embedder=None, worker=False) as writer,
        Memory.open(store_url, embedder=None, worker=False) as reader,
    ):
        writer.add("The first note is about bees", scope=scope)
        assert len(reader.recall("bees", scope=scope)) == 1
        for number in range(600):
            writer.add(f"Note {number} is about bees and flower {number % 13}", scope=scope)
        behind = [(hit.id, hit.score) for hit in reader.recall("bees on flower 7", scope=scope, limit=20)]
        with Memory.open(store_url, embedder=None, worker=False) as fresh:
            anew = [(hit.id, hit.score) for hit in fresh.recall("bees on flower 7", scope=scope, limit=20)]
        assert [entry[0] for entry in behind] == [entry[0] for entry in anew]
        assert [entry[1] for entry in behind] == pytest.approx([entry[1] for entry in anew], abs=1e-5)


def test_an_erased_message_leaves_no_byte_in_any_file(sqlite_url: str, scope: Scope) -> None:
    with Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.add(["Before it", "The sentinel is ZX-9137-KIWI", "After it"], scope=scope)
        memory.drain()
        (hit,) = [hit for hit in memory.recall("ZX-9137-KIWI", scope=scope) if "KIWI" in hit.record.text]
        folder = Path(sqlite_url.removeprefix("sqlite:///")).parent
        assert any(b"KIWI" in file.read_bytes() for file in folder.iterdir())
        assert memory.erase(hit.id, scope=scope).pending == ""
        assert [file.name for file in folder.iterdir() if b"KIWI" in file.read_bytes()] == []


def test_the_rows_of_neighbours_are_as_if_the_erased_message_had_never_been(tmp_path: Path, scope: Scope) -> None:
    def derived(name: str, contents: list[str]) -> list[tuple[object, ...]]:
        with Memory.open(tmp_path / name, embedder=FakeEmbedder(), worker=False) as memory:
            ids = memory.add(
                [{"role": "user", "content": text, "at": "2026-05-07"} for text in contents], scope=scope
            ).ids
            memory.drain()
            if len(contents) == 3:
                memory.erase(ids[1], scope=scope)
            with memory._database.read("acme") as transaction:
                (entry,) = scopes.view(transaction, scope)
                ((terms, vectors),) = passages.slices(transaction, entry.scope_id, 1)
                return sorted(tuple(row[-2:]) for row in terms) + sorted(tuple(row[-1:]) for row in vectors)

    assert derived("with.db", ["Hello Olena", "my PIN is on the fridge", "bye"]) == derived(
        "without.db", ["Hello Olena", "bye"]
    )
