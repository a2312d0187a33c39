"""What is shown is counted, in the background and without content; what says the same is shown once."""

import os
import threading
import time
from collections.abc import Iterator

import pytest

from forks import Child
from retentia import Memory, Scope, Source
from retentia.learn.inline import LearningSettings
from retentia.model.ids import id_bytes
from retentia.model.record import Importance, Kind
from retentia.read.use_buffer import UseBuffer
from retentia.store import scopes, uses
from retentia.testing_store.clock import FixedClock

ME = Scope("acme", "anna")
AGENT = Scope("acme", "anna", agent="bot")
DAY = 86_400_000_000


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as opened:
        yield opened


def counted(memory: Memory, scope: Scope = ME) -> dict[str, int]:
    assert memory._uses is not None
    memory._uses.flush()
    return {one.record_id: one.shown for one in memory.usage(scope=scope)}


def test_what_recall_shows_is_counted_with_the_time(memory: Memory, clock: FixedClock) -> None:
    tea = memory.remember("Anna drinks green tea", scope=ME).id
    memory.remember("The printer is on the second floor", scope=ME)
    for _ in range(3):
        clock.advance(seconds=60)
        assert [hit.id for hit in memory.recall("green tea", scope=ME, limit=1)] == [tea]
    assert counted(memory) == {tea: 3}
    assert memory.usage(scope=ME)[0].last_shown_at == clock()


def test_a_context_counts_what_it_shows_and_not_what_did_not_fit(memory: Memory) -> None:
    ids = {memory.remember(f"Tea number {number} is green and grows in Japan " * 8, scope=ME).id for number in range(9)}
    made = memory.context("Which green tea grows in Japan?", scope=ME, session="new", budget=500)
    shown = {one.id for one in made.manifest} & ids
    assert shown < ids
    assert counted(memory).keys() == shown


def test_a_preview_of_forgetting_counts_nothing(memory: Memory) -> None:
    memory.remember("Anna drinks green tea", scope=ME)
    memory.plan_forgetting(about="tea", scope=ME)
    assert counted(memory) == {}


def test_what_agents_see_of_their_user_is_counted_where_it_lies(memory: Memory) -> None:
    tea = memory.remember("Anna drinks green tea", scope=ME).id
    memory.recall("green tea", scope=AGENT)
    assert counted(memory, ME) == counted(memory, AGENT) == {tea: 1}


def test_counts_go_with_their_record_and_none_comes_after_it(memory: Memory) -> None:
    tea = memory.remember("Anna drinks green tea", scope=ME).id
    memory.recall("green tea", scope=ME)
    assert counted(memory) == {tea: 1}
    memory.recall("green tea", scope=ME)  # waits to be counted while the record is erased
    receipt = memory.erase(tea, scope=ME)
    assert receipt.removed["record_use"] == 1
    assert counted(memory) == {}
    assert memory.verify_erasure("acme", [tea]).is_clean


def test_nothing_is_counted_where_the_settings_say_so(store_url: str) -> None:
    silent = LearningSettings(counts_use=False)
    with Memory.open(store_url, embedder=None, worker=False, learning=silent) as memory:
        memory.remember("Anna drinks green tea", scope=ME)
        memory.recall("green tea", scope=ME)
        assert memory.usage(scope=ME) == []


def test_a_memory_that_is_closed_has_counted_all(store_url: str) -> None:
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        tea = memory.remember("Anna drinks green tea", scope=ME).id
        threads = [threading.Thread(target=lambda: memory.recall("green tea", scope=ME)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        assert {one.record_id: one.shown for one in memory.usage(scope=ME)} == {tea: 8}


def test_counts_are_written_within_a_second(memory: Memory) -> None:
    tea = memory.remember("Anna drinks green tea", scope=ME).id
    memory.recall("green tea", scope=ME)
    deadline = time.monotonic() + 20
    while not memory.usage(scope=ME) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [one.record_id for one in memory.usage(scope=ME)] == [tea]


def test_what_could_not_be_written_is_counted_the_next_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    tea = memory.remember("Anna drinks green tea", scope=ME).id
    buffer = UseBuffer(memory._database, seconds=3600)
    buffer.add([(ME, tea)])
    with monkeypatch.context() as broken:
        broken.setattr(uses, "note", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            buffer.flush()
    buffer.add([(ME, tea)])
    buffer.flush()
    buffer.close()
    assert memory.usage(scope=ME)[0].shown == 2


def _recall_and_count(memory: Memory) -> None:
    memory.recall("green tea", scope=ME)
    assert counted(memory)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_counts_only_what_it_shows_itself(sqlite_url: str) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        tea = memory.remember("Anna drinks green tea", scope=ME).id
        memory.recall("green tea", scope=ME)
        assert Child(lambda _: _recall_and_count(memory)).status() == 0
        assert counted(memory) == {tea: 2}


def test_between_equal_matches_the_confirmed_and_the_important_come_first(memory: Memory) -> None:
    low = memory.remember("The garden key hangs in the hall", scope=ME, importance=Importance.LOW).id
    normal = memory.remember("The cellar key hangs in the hall", scope=ME).id
    high = memory.remember("The office key hangs in the hall", scope=ME, importance=Importance.HIGH).id
    hits = memory.recall("Which key hangs in the hall?", scope=ME)
    assert [hit.id for hit in hits] == [high, normal, low]
    assert "is marked important" in hits[0].reason
    assert hits[0].signals["importance"] == 1.0
    assert "importance" not in hits[1].signals


def test_what_was_not_shown_for_months_comes_behind_its_like(memory: Memory, clock: FixedClock) -> None:
    memory.remember("The garden key hangs in the hall", scope=ME)
    used = memory.remember("The cellar key hangs in the hall", scope=ME).id
    clock.advance(seconds=100 * DAY / 1_000_000)
    assert [hit.id for hit in memory.recall("cellar", scope=ME, limit=1)] == [used]
    counted(memory)
    hits = memory.recall("Which key hangs in the hall?", scope=ME)
    assert hits[0].id == used
    assert hits[1].signals["unused"] == 1.0


def test_two_facts_of_one_sentence_and_the_sentence_are_shown_once(memory: Memory) -> None:
    memory.add("I speak English and German.", scope=ME)
    facts = {belief.id for belief in memory.facts.profile(scope=ME)}
    assert len(facts) == 2
    (hit,) = memory.recall("Which languages do I speak?", scope=ME)
    assert hit.record.kind is Kind.MESSAGE
    assert set(hit.also) == facts
    assert set(hit.shown_ids) == {hit.id, *facts}
    (known,) = memory.recall("Which languages do I speak?", scope=ME, kinds=[Kind.FACT])
    assert {known.id, *known.also} == facts


def test_an_item_is_shown_beside_a_source_that_says_something_else(memory: Memory) -> None:
    said = memory.add("We talked about the hall and about keys.", scope=ME).ids[0]
    known = memory.remember("The cellar key hangs in the hall", scope=ME, sources=[Source(kind="message", id=said)]).id
    hits = memory.recall("Which key hangs in the hall?", scope=ME)
    assert {hit.id for hit in hits} == {said, known}
    assert not any(hit.also for hit in hits)


def test_places_of_what_is_shown_once_go_to_the_next_hits(memory: Memory) -> None:
    memory.add("I speak English and German.", scope=ME)
    memory.remember("The person speaks of languages often", scope=ME)
    assert len(memory.recall("Which languages do I speak?", scope=ME, limit=2)) == 2


def test_no_count_is_noted_for_a_record_that_is_not_there(memory: Memory) -> None:
    tea = memory.remember("Anna drinks green tea", scope=ME).id
    buffer = UseBuffer(memory._database, seconds=3600)
    buffer.add([(ME, "01890a5d-ac96-774b-bcce-b302099a8057"), (ME, tea), (Scope("acme", "nobody"), tea)])
    buffer.close()
    with memory._database.read("acme") as transaction:
        scope_id = scopes.find(transaction, ME)
        assert scope_id is not None
        assert [one.record_id for one in uses.most_shown(transaction, [scope_id], limit=9)] == [tea]
        assert uses.shown(transaction, [scope_id], [id_bytes(tea)]).keys() == {id_bytes(tea)}
