"""Reports of memories that vanished silently, and what must happen instead."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from retentia import Document, Memory, Message, Scope
from retentia.errors import EmptyContent
from retentia.providers.base import Embedder
from retentia.testing import FakeEmbedder


def texts(memory: Memory, query: str, scope: Scope) -> list[str]:
    return [hit.record.text for hit in memory.recall(query, scope=scope, min_relevance=0)]


def test_remembering_the_same_thing_twice_keeps_one_that_was_seen_twice(memory: Memory, scope: Scope) -> None:
    """mem0#1674: adding the same memory twice deleted it."""
    first = memory.remember("The dog descends from the wolf", scope=scope)
    second = memory.remember("The dog  descends from the wolf.", scope=scope)
    assert second.id == first.id
    assert [entry.is_new for entry in second.written] == [False]
    found = memory.get(first.id, scope=scope)
    assert getattr(found, "seen_count", None) == 2
    assert len(memory.records(scope=scope, kind="note").records) == 1


def test_a_second_unrelated_fact_leaves_the_first_alone(memory: Memory, scope: Scope) -> None:
    """mem0#1750: a second fact overwrote the first, in Chinese."""
    memory.remember("周游世界", "fact", scope=scope)
    memory.remember("在周末吃夜宵", "fact", scope=scope)
    assert {record.text for record in memory.records(scope=scope, kind="fact").records} == {"周游世界", "在周末吃夜宵"}
    assert "周游世界" in texts(memory, "世界", scope)
    assert "在周末吃夜宵" in texts(memory, "周末", scope)


def test_one_refused_message_of_three_is_named_and_the_others_are_kept(memory: Memory, scope: Scope) -> None:
    """mem0#6911: a row that failed was still reported as added."""
    receipt = memory.add(["I sail on Sundays", "   ", "I row on Mondays"], scope=scope)
    assert [entry.position for entry in receipt.written] == [0, 2]
    assert [(entry.position, entry.code) for entry in receipt.failed] == [(1, "empty_content")]
    assert [message.text for message in memory.messages(scope=scope)] == ["I sail on Sundays", "I row on Mondays"]


@pytest.mark.parametrize("nothing", ["", " \n\t "])
def test_a_write_of_which_nothing_can_be_kept_says_so(memory: Memory, scope: Scope, nothing: str) -> None:
    for write in (
        lambda: memory.add(nothing, scope=scope),
        lambda: memory.add_to_sessions([("a", nothing), ("b", nothing)], scope=scope),
        lambda: memory.remember(nothing, scope=scope),
        lambda: memory.add_document(Document(text=nothing), scope=scope),
    ):
        with pytest.raises(EmptyContent):
            write()
    assert memory.scopes("acme") == []


def test_messages_of_several_sessions_are_kept_in_the_order_of_each(memory: Memory, scope: Scope) -> None:
    memory.add([{"role": "user", "content": "first", "key": "1"}], scope=scope, session="old")
    receipt = memory.add_to_sessions(
        [
            ("new", "hello"),
            ("old", {"role": "user", "content": "again", "key": "1"}),
            ("new", ""),
            ("old", {"role": "user", "content": "second", "key": "2"}),
            ("new", {"role": "user", "content": "the same key in another session", "key": "2"}),
            ("old", {"role": "user", "content": "twice in one batch", "key": "2"}),
        ],
        scope=scope,
    )
    assert [(entry.position, entry.is_new) for entry in receipt.written] == [
        (0, True),
        (1, False),
        (3, True),
        (4, True),
        (5, False),
    ]
    assert [(entry.position, entry.code) for entry in receipt.failed] == [(2, "empty_content")]
    assert receipt.ids[2] == receipt.ids[4]
    said = {name: memory.messages(scope=scope, session=name) for name in ("old", "new")}
    assert [(message.seq, message.text) for message in said["old"]] == [(1, "first"), (2, "second")]
    assert [message.text for message in said["new"]] == ["hello", "the same key in another session"]
    assert [message.id for message in said["new"]] == [receipt.ids[0], receipt.ids[3]]


def test_what_was_just_added_is_found_before_any_background_work(memory: Memory, scope: Scope) -> None:
    """memobase#48, MemMachine#690: a buffer not yet flushed was invisible."""
    receipt = memory.add("My passport expires in October", scope=scope)
    assert memory.status(receipt) == "queued"
    answer = memory.recall("When does the passport expire?", scope=scope)
    assert [hit.record.text for hit in answer] == ["My passport expires in October"]
    assert answer.pending_count == 1
    memory.drain()
    assert memory.status(receipt) == "indexed"
    assert memory.recall("When does the passport expire?", scope=scope).pending_count == 0


_ADD_AND_DIE = """
import os, signal, sys
from retentia import Memory, Scope
from retentia.testing import FakeEmbedder
memory = Memory.open(sys.argv[1], embedder=FakeEmbedder(), worker=False)
for text in ("first turn", "second turn", "third turn"):
    memory.add(text, scope=Scope("acme", "anna"), session="s")
    print(text, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_turns_of_a_session_that_was_killed_are_there_and_get_their_vectors(store_url: str, scope: Scope) -> None:
    """agentmemory#308, openclaw#51572: what ended without its closing hook was lost."""
    died = subprocess.run([sys.executable, "-c", _ADD_AND_DIE, store_url], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    assert died.stdout.split("\n")[:3] == ["first turn", "second turn", "third turn"]
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        assert [message.text for message in memory.messages(scope=scope, session="s")] == died.stdout.strip().split(
            "\n"
        )
        memory.drain()
        assert memory.stats(scope=scope).without_vector == 0


class _InterruptedError(Exception):
    """The process ended in the middle."""


class _EndsInTheMiddle(FakeEmbedder):
    """An embedder in a process that dies while it re-embeds."""

    def embed(self, texts: object) -> NoReturn:
        raise _InterruptedError


def test_a_change_of_embedder_that_is_killed_loses_no_row_and_the_old_index_serves(
    store_url: str, scope: Scope, embedder: Embedder
) -> None:
    """synaplan#984: vectors were the truth, and re-vectorising dropped the only copy."""
    with Memory.open(store_url, embedder=embedder, worker=False) as memory:
        memory.add(["The key is under the mat", "Bruno is a dog"], scope=scope)
        memory.drain()
        with pytest.raises(_InterruptedError):
            memory.reembed(_EndsInTheMiddle(64, name="other"))
        assert "The key is under the mat" in texts(memory, "where is the key", scope)
        assert memory.stats(scope=scope).without_vector == 0
        assert len(memory.messages(scope=scope)) == 2
        memory.reembed(FakeEmbedder(64, name="other"))
    with Memory.open(store_url, embedder=FakeEmbedder(64, name="other"), worker=False) as moved:
        assert "The key is under the mat" in texts(moved, "where is the key", scope)
        assert moved.stats(scope=scope).without_vector == 0


def test_the_index_is_made_anew_from_rows_and_answers_the_same(memory: Memory, scope: Scope) -> None:
    """MemPalace#1091 and others: an index that was not rebuildable grew to 582 GB, and its repair crashed."""
    memory.add(
        [f"The {animal} sleeps in room {place}" for place, animal in enumerate(["cat", "owl", "fox"])], scope=scope
    )
    memory.drain()
    before = [(hit.record.id, hit.score) for hit in memory.recall("where does the owl sleep", scope=scope)]
    assert memory.reindex() == 3
    memory.drain()
    after = [(hit.record.id, hit.score) for hit in memory.recall("where does the owl sleep", scope=scope)]
    assert [entry[0] for entry in after] == [entry[0] for entry in before]
    assert [entry[1] for entry in after] == pytest.approx([entry[1] for entry in before], abs=1e-5)


def test_a_fresh_place_works_without_any_preparation(
    sqlite_url: str, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """basic-memory#225: a fresh installation answered "no such table"."""
    monkeypatch.chdir(Path(sqlite_url.removeprefix("sqlite:///")).parent)
    with Memory.open("sqlite:///fresh.db", embedder=FakeEmbedder(), worker=False) as memory:
        assert memory.recall("anything", scope=scope).hits == ()
        memory.add(Message(role="user", content="Now there is something"), scope=scope)
        assert len(memory.recall("something", scope=scope)) == 1
