"""Reports of vectors that did not fit, and of rows that search forgot because an embedder was down."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing

import pytest

from companions import companion
from retentia import Memory, Scope
from retentia.errors import EmbedderMismatch
from retentia.providers.vectors import Rows
from retentia.testing import FakeEmbedder


@pytest.mark.parametrize("dimension", [384, 512, 768, 1024, 1536])
def test_any_dimension_just_works(store_url: str, scope: Scope, dimension: int) -> None:
    """mem0#1575 and dozens more: 1536 was expected, 768 arrived."""
    with Memory.open(store_url, embedder=FakeEmbedder(dimension), worker=False) as memory:
        memory.add("The ferry leaves at nine", scope=scope)
        memory.drain()
        assert memory.stats(scope=scope).without_vector == 0
        assert "dense" in memory.recall("when does the ferry leave", scope=scope)[0].signals


def test_another_embedder_than_the_stores_is_refused_with_the_remedy(store_url: str, scope: Scope) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(64), worker=False) as memory:
        memory.add("something", scope=scope)
    with pytest.raises(EmbedderMismatch, match="retentia reembed"):
        Memory.open(store_url, embedder=FakeEmbedder(128), worker=False)
    with Memory.open(store_url, embedder=None, worker=False) as by_words:
        assert len(by_words.recall("something", scope=scope)) == 1


class _Watching(FakeEmbedder):
    """Looks at the store's own answers while it works."""

    def __init__(self, memory: Memory, scope: Scope) -> None:
        super().__init__(64, name="new")
        self.seen: list[float] = []
        self._memory, self._scope = memory, scope

    def embed(self, texts: Sequence[str]) -> Rows:
        answer = self._memory.recall("harbour", scope=self._scope, min_relevance=0)
        self.seen.append(answer[0].signals["dense"])
        if len(self.seen) == 1:
            self._memory.add("A new harbour was opened meanwhile", scope=self._scope)
        return super().embed(texts)


def test_moving_to_another_embedder_needs_no_model_and_mixes_no_generations(store_url: str, scope: Scope) -> None:
    """hindsight#1884: no way to re-embed; RuVector#973: an index of two generations found less than half."""
    with Memory.open(store_url, embedder=FakeEmbedder(32), worker=False) as memory:
        memory.add([f"The harbour of town {number}" for number in range(40)], scope=scope)
        memory.drain()
        watching = _Watching(memory, scope)
        assert memory.reembed(watching) >= 41
        assert watching.seen
        assert all(0 <= closeness <= 1 for closeness in watching.seen)
    with Memory.open(store_url, embedder=FakeEmbedder(64, name="new"), worker=False) as moved:
        assert moved.stats(scope=scope).without_vector == 0
        answer = moved.recall("A new harbour", scope=scope)
        assert answer[0].record.text == "A new harbour was opened meanwhile"
        assert moved.reembed(FakeEmbedder(64, name="new")) == 0


def test_another_process_fills_the_new_generation_from_then_on(sqlite_url: str, scope: Scope) -> None:
    with (
        Memory.open(sqlite_url, embedder="e5", worker=False) as memory,
        companion(sqlite_url, user="bert", embedder="auto") as other,
    ):
        memory.add("We met at the bakery", scope=scope)
        memory.drain()
        assert memory.reembed("use") == 1
        other.ask("add The boiler is broken")
        other.ask("drain")
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        count = "SELECT g.state, count(*) FROM vector v JOIN generation g ON g.id = v.generation GROUP BY g.state"
        assert connection.execute(count).fetchall() == [("serving", 2)]


def test_a_row_written_while_the_embedder_was_down_is_found_now_and_embedded_later(
    store_url: str, scope: Scope
) -> None:
    """open-brain#60: a failed embedding made a row invisible to semantic search for ever."""
    now = [1_800_000_000_000_000]
    embedder = FakeEmbedder()
    with Memory.open(store_url, embedder=embedder, worker=False, clock=lambda: now[0]) as memory:
        embedder.is_down = True
        receipt = memory.add("The boiler was serviced in March", scope=scope)
        memory.drain()
        assert memory.status(receipt) == "queued"
        answer = memory.recall("boiler", scope=scope)
        assert [hit.record.text for hit in answer] == ["The boiler was serviced in March"]
        assert answer.pending_count == 1
        assert any("words only" in note for note in answer.notes)
        assert any(finding.check == "pending" for finding in memory.doctor())
        embedder.is_down = False
        now[0] += 3_600_000_000
        memory.drain()
        assert memory.status(receipt) == "indexed"
        assert not any(finding.check == "pending" for finding in memory.doctor())


def test_a_job_that_fails_for_good_is_visible_and_can_be_tried_again(store_url: str, scope: Scope) -> None:
    """honcho#494, hindsight#1969: work was stuck and nobody could see it."""
    now = [1_800_000_000_000_000]
    embedder = FakeEmbedder()
    with Memory.open(store_url, embedder=embedder, worker=False, clock=lambda: now[0]) as memory:
        embedder.is_down = True
        receipt = memory.add("The boiler was serviced in March", scope=scope)
        for _ in range(20):
            memory.drain()
            now[0] += 3_600_000_000
        assert memory.status(receipt) == "failed"
        assert [finding.level for finding in memory.doctor() if finding.check == "queue"] == ["fault"]
        embedder.is_down = False
        (job,) = memory.jobs(tenant=scope.tenant)
        memory.retry_job(job.id, tenant=scope.tenant)
        memory.drain()
        assert memory.status(receipt) == "indexed"


class _Broken(FakeEmbedder):
    """An embedder with a fault in it: it fails in a way that nobody foresaw, and quotes the text."""

    def embed(self, texts: Sequence[str]) -> Rows:
        raise KeyError(texts[0])


def test_a_fault_in_an_embedder_keeps_the_job_and_never_the_text_in_it(store_url: str, scope: Scope) -> None:
    with Memory.open(store_url, embedder=_Broken(), worker=False) as memory:
        receipt = memory.add("The alarm code is 7391", scope=scope)
        memory.drain()
        assert memory.status(receipt) == "queued"
        (job,) = memory.jobs(tenant=scope.tenant)
        assert "KeyError" in job.error
        assert "7391" not in job.error
