"""Consolidation merges what says the same and gathers what belongs together; every fact stays, every removal too."""

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner

from retentia import Memory, Scope, Source
from retentia.cli.main import cli
from retentia.errors import Conflict
from retentia.learn.consolidate import ConsolidationSettings
from retentia.learn.inline import LearningSettings
from retentia.lifecycle import consolidate
from retentia.model.claim import Change, Revision
from retentia.model.ids import id_bytes
from retentia.model.record import Importance, ItemRecord, Kind
from retentia.security.audit import Action
from retentia.store import beliefs, scopes
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ME = Scope("acme", "anna")
DAY = timedelta(days=1)
GARDEN = (
    "Anna planted roses in the garden behind the house",
    "Anna watered the roses in the garden behind the house",
    "Anna cut the roses in the garden behind the house",
)
OTHERS = ("The tram to Porto leaves at 7:45", "Bert paid 312.50 EUR for the gearbox")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_store(store_url: str, clock: FixedClock) -> Callable[..., Memory]:
    def opened(**given: Any) -> Memory:
        settings = LearningSettings(consolidation=ConsolidationSettings(topics=True, events_near=0))
        chosen = {"embedder": FakeEmbedder(), "worker": False, "clock": clock, "learning": settings, **given}
        return Memory.open(store_url, **chosen)

    return opened


@pytest.fixture
def memory(open_store: Callable[..., Memory]) -> Iterator[Memory]:
    with open_store() as opened:
        yield opened


def items(memory: Memory, *kinds: Kind) -> list[ItemRecord]:
    wanted = kinds or (Kind.NOTE, Kind.FACT, Kind.EVENT, Kind.KNOWLEDGE)
    found = [one for kind in wanted for one in memory.records(scope=ME, kind=kind).records]
    whole = [memory.get(one.id, scope=ME) for one in found]  # a listing leaves sources out
    return [one for one in whole if isinstance(one, ItemRecord)]


def topics(memory: Memory) -> list[ItemRecord]:
    return [one for one in items(memory, Kind.KNOWLEDGE) if "topic" in one.body and one.retracted_at is None]


def two_notes_of_one_thing(memory: Memory) -> tuple[str, str, list[str]]:
    """Keep one thing twice, in other punctuation, each from a message of its own; return both and the messages."""
    said = [memory.add(f"{number} the key hangs in the hall", scope=ME).ids[0] for number in ("one", "two")]
    sources = [[Source(kind="message", id=one)] for one in said]
    first = memory.remember("The key hangs in the hall", scope=ME, sources=sources[0]).id
    second = memory.remember('"The key, hangs in the hall"', scope=ME, sources=sources[1]).id
    assert first != second
    return first, second, list(said)


def keep_events(memory: Memory, *texts: str) -> list[str]:
    ids = [
        memory.remember(text, Kind.EVENT, scope=ME, at=f"2026-03-{day:02}").id
        for day, text in enumerate(texts, start=1)
    ]
    memory.drain()
    return list(ids)


def test_of_two_that_say_the_same_exactly_one_is_left_with_the_sources_of_both(memory: Memory) -> None:
    """Case 16: deduplication elsewhere deleted every copy."""
    first, second, said = two_notes_of_one_thing(memory)
    done = memory.keeping.consolidate(scope=ME)
    assert [(one.kept, one.gone) for one in done.merged] == [(first, (second,))]
    (left,) = items(memory, Kind.NOTE)
    assert {source.id for source in left.sources} == set(said)
    assert left.seen_count == 2
    assert left.confidence >= 0.75


def test_consolidating_ten_times_is_consolidating_once_and_every_removal_is_logged(memory: Memory) -> None:
    """Case 15: curation elsewhere deleted rows, and no event told of it."""
    two_notes_of_one_thing(memory)
    keep_events(memory, *GARDEN, *OTHERS)
    first = memory.keeping.consolidate(scope=ME)
    left = {one.id: (one.text, one.version, one.confidence, one.sources) for one in items(memory)}
    for _ in range(9):
        assert memory.keeping.consolidate(scope=ME).is_empty
    assert {one.id: (one.text, one.version, one.confidence, one.sources) for one in items(memory)} == left
    removed = [one for one in memory.audit_log("acme", limit=1000) if one.action == Action.REMOVE]
    assert {gone for one in removed for gone in one.records} == {gone for one in first.merged for gone in one.gone}


def test_a_merge_is_undone_until_it_is_purged(memory: Memory, clock: FixedClock) -> None:
    first, second, _ = two_notes_of_one_thing(memory)
    (merged,) = memory.keeping.consolidate(scope=ME, undo_for=7 * DAY).merged
    assert [one.cause for one in memory.keeping.removed(scope=ME)] == ["consolidation"]
    assert merged.removal is not None
    memory.keeping.restore(merged.removal, scope=ME)
    assert {one.id for one in items(memory, Kind.NOTE)} == {first, second}
    memory.keeping.consolidate(scope=ME, undo_for=7 * DAY)
    clock.advance(seconds=8 * 86_400)
    assert memory.keeping.purge() == 1
    assert {one.id for one in items(memory, Kind.NOTE)} == {first}


def test_a_preview_tells_the_same_and_does_nothing(memory: Memory) -> None:
    two_notes_of_one_thing(memory)
    keep_events(memory, *GARDEN)
    before = items(memory)
    planned = memory.keeping.consolidate(scope=ME, dry_run=True)
    assert items(memory) == before
    assert planned.is_preview
    done = memory.keeping.consolidate(scope=ME)
    assert [(one.kept, one.gone) for one in planned.merged] == [(one.kept, one.gone) for one in done.merged]
    assert [(one.title, one.members) for one in planned.topics] == [(one.title, one.members) for one in done.topics]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"content": "It is ready"}, {"content": "It is ready?"}),
        ({"content": "It costs 3.5"}, {"content": "It costs 35"}),
        ({"content": "It is at -5"}, {"content": "It is at 5"}),
        ({"content": "It is ready", "kind": Kind.FACT}, {"content": "It is ready", "kind": Kind.NOTE}),
        ({"content": "It is ready"}, {"content": "it is, ready", "metadata": {"from": "bert"}}),
        (
            {"content": "Ran", "kind": Kind.EVENT, "at": "2026-01-01"},
            {"content": "ran,", "kind": Kind.EVENT, "at": "2026-01-02"},
        ),
    ],
)
def test_what_differs_in_anything_that_counts_is_not_merged(
    first: dict[str, Any], second: dict[str, Any], memory: Memory
) -> None:
    ids = {memory.remember(**one, scope=ME).id for one in (first, second)}
    assert len(ids) == 2
    assert memory.keeping.consolidate(scope=ME, topics=False).is_empty


def test_the_more_important_of_two_stays(memory: Memory) -> None:
    memory.remember("The key hangs in the hall", scope=ME)
    high = memory.remember("the key hangs, in the hall", scope=ME, importance=Importance.HIGH).id
    memory.keeping.consolidate(scope=ME)
    assert [one.id for one in items(memory, Kind.NOTE)] == [high]


def test_the_one_that_stays_is_kept_as_long_as_the_last_of_them(memory: Memory) -> None:
    first, second, _ = two_notes_of_one_thing(memory)
    memory.keep(second, scope=ME, forever=True)
    memory.keeping.consolidate(scope=ME)
    (left,) = items(memory, Kind.NOTE)
    assert (left.id, left.expires_at) == (first, None)


def test_a_topic_quotes_all_its_members_and_they_stay(memory: Memory) -> None:
    ids = keep_events(memory, *GARDEN, *OTHERS)
    (made,) = memory.keeping.consolidate(scope=ME).topics
    assert set(made.members) == set(ids[:3])
    (topic,) = topics(memory)
    assert all(text in topic.text for text in GARDEN)
    assert "2026-03-01: Anna planted" in topic.text
    assert not any(text in topic.text for text in OTHERS)
    assert {one.id for one in items(memory, Kind.EVENT)} == set(ids)
    memory.drain()
    assert made.id in {hit.id for hit in memory.recall("roses in the garden", scope=ME)}


def test_the_latest_events_stay_out_of_topics(open_store: Callable[..., Memory]) -> None:
    near = LearningSettings(consolidation=ConsolidationSettings(topics=True, events_near=3))
    with open_store(learning=near) as memory:
        ids = keep_events(memory, *(text.replace("Anna", name) for name in ("Anna", "Bert") for text in GARDEN))
        (made,) = memory.keeping.consolidate(scope=ME).topics
        assert set(made.members) == set(ids[:3])


def test_an_erased_member_takes_the_topic_along_and_the_rest_is_gathered_anew(memory: Memory) -> None:
    ids = keep_events(memory, *GARDEN, "Anna sold the roses of the garden behind the house")
    (made,) = memory.keeping.consolidate(scope=ME).topics
    assert made.id is not None
    receipt = memory.erase(ids[0], scope=ME)
    assert set(receipt.records) == {ids[0], made.id}
    assert memory.verify_erasure("acme", list(receipt.records), texts=[GARDEN[0]]).is_clean
    (again,) = memory.keeping.consolidate(scope=ME).topics
    assert set(again.members) == set(ids[1:])


@pytest.mark.parametrize("in_bin", [False, True])
def test_a_topic_goes_when_a_member_loses_one_of_the_messages_it_is_known_from(in_bin: bool, memory: Memory) -> None:
    """What stays may quote another message from then on; the topic would still quote the erased one."""
    said = [memory.add(f"{number}: {GARDEN[0]}", scope=ME).ids[0] for number in ("one", "two")]
    sources = [Source(kind="message", id=one) for one in said]
    member = memory.remember(GARDEN[0], Kind.EVENT, scope=ME, at="2026-03-04", sources=sources).id
    keep_events(memory, *GARDEN[1:])
    (made,) = memory.keeping.consolidate(scope=ME).topics
    assert made.id is not None
    if in_bin:
        memory.keeping.remove([made.id], scope=ME, undo_for=7 * DAY)
    assert made.id in memory.erase(said[0], scope=ME).records
    assert memory.get(member, scope=ME).text == GARDEN[0]
    assert memory.keeping.removed(scope=ME) == []


def test_a_topic_in_the_bin_goes_for_good_with_a_member_and_does_not_come_back_before_one(memory: Memory) -> None:
    ids = keep_events(memory, *GARDEN)
    (made,) = memory.keeping.consolidate(scope=ME).topics
    assert made.id is not None
    away = memory.keeping.remove([made.id], scope=ME, undo_for=7 * DAY)
    memory.forget(memory.plan_forgetting(ids=[ids[1]], scope=ME), undo_for=7 * DAY)
    with pytest.raises(Conflict):
        memory.keeping.restore(away.id, scope=ME)
    memory.erase(ids[0], scope=ME)
    assert memory.verify_erasure("acme", [made.id], texts=[GARDEN[0]]).is_clean


def test_a_topic_is_no_longer_shown_when_a_member_is_no_longer_believed(memory: Memory) -> None:
    keep_events(memory, *GARDEN)
    memory.keeping.consolidate(scope=ME)
    (topic,) = topics(memory)
    member = next(one for one in items(memory, Kind.EVENT))
    with memory._database.write("acme") as transaction:
        scope_id = scopes.find(transaction, ME)
        assert scope_id is not None
        changed = Revision(
            record_id=member.id, version=member.version + 1, changed_at=0, change=Change.RETRACTED, before={}
        )
        beliefs.update_item(transaction, scope_id, id_bytes(member.id), changed, {"retracted_at": transaction.now})
    assert topics(memory) == []
    assert topic.id not in {hit.id for hit in memory.recall("roses in the garden", scope=ME)}


def test_a_member_that_expires_does_not_stay_for_the_sake_of_its_topic(memory: Memory, clock: FixedClock) -> None:
    ids = keep_events(memory, *GARDEN)
    memory.keep(ids[0], scope=ME, until="2026-07-01")
    (made,) = memory.keeping.consolidate(scope=ME).topics
    clock.advance(seconds=90 * 86_400)
    assert memory.keeping.expire().postponed == 0
    assert ids[0] not in {one.id for one in items(memory)}
    assert made.id not in {one.id for one in items(memory)}


def test_what_changed_while_it_was_decided_is_left_alone(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Case 46: a snapshot that is written back late overwrote newer writes elsewhere."""
    first, _, _ = two_notes_of_one_thing(memory)
    ids = keep_events(memory, *GARDEN)
    decide = consolidate.consolidate.merges

    def meanwhile(known: Any) -> Any:
        planned = decide(known)
        memory.erase([first, ids[1]], scope=ME)
        memory.remember("A fact that came meanwhile", Kind.FACT, scope=ME)
        return planned

    monkeypatch.setattr(consolidate.consolidate, "merges", meanwhile)
    done = memory.keeping.consolidate(scope=ME)
    assert (done.merged, done.topics, done.skipped) == ((), (), 2)
    assert "A fact that came meanwhile" in [one.text for one in items(memory)]
    assert len(items(memory, Kind.NOTE)) == 1
    assert topics(memory) == []


def test_two_at_once_make_nothing_twice(memory: Memory, open_store: Callable[..., Memory]) -> None:
    two_notes_of_one_thing(memory)
    keep_events(memory, *GARDEN)
    start = threading.Barrier(2)
    failed: list[BaseException] = []

    def work(opened: Memory) -> None:
        try:
            start.wait()
            opened.keeping.consolidate(scope=ME)
        except BaseException as error:  # told by the test
            failed.append(error)

    with open_store() as other:
        threads = [threading.Thread(target=work, args=[one]) for one in (memory, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
    assert len(topics(memory)) == 1
    assert len(items(memory, Kind.NOTE)) == 1


def test_an_interruption_leaves_nothing_half_and_the_next_run_goes_on(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_notes_of_one_thing(memory)
    keep_events(memory, *GARDEN)
    before = items(memory)
    assert memory.keeping.consolidate(scope=ME, stop=lambda: True).is_empty
    assert items(memory) == before
    with monkeypatch.context() as broken:
        broken.setattr("retentia.lifecycle.bin.set_aside", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            memory.keeping.consolidate(scope=ME)
    assert items(memory) == before
    assert len(memory.keeping.consolidate(scope=ME).merged) == 1


def test_a_worker_consolidates_once_a_week(memory: Memory, clock: FixedClock) -> None:
    two_notes_of_one_thing(memory)
    memory.keeping.upkeep()
    assert len(items(memory, Kind.NOTE)) == 2
    clock.advance(seconds=8 * 86_400)
    memory.keeping.upkeep()
    assert len(items(memory, Kind.NOTE)) == 1
    log = [one for one in memory.audit_log("acme") if one.action == Action.REMOVE]
    assert [one.by for one in log] == ["consolidation"]
    memory.remember("the key; hangs in the hall", scope=ME)
    memory.keeping.upkeep()
    assert len(items(memory, Kind.NOTE)) == 2
    clock.advance(seconds=8 * 86_400)
    memory.keeping.upkeep()
    assert len(items(memory, Kind.NOTE)) == 1


def test_the_command_tells_first_and_then_does(tmp_path: Any) -> None:
    place = ["--store", str(tmp_path / "memory.db"), "--user", "anna"]
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        mine = Scope("local", "anna")
        memory.remember("The key hangs in the hall", scope=mine)
        memory.remember("the key, hangs in the hall", scope=mine)
    run = CliRunner()
    for options, merged, words in (
        (["--dry-run"], 2, "would be"),
        ([], 1, "done"),
    ):
        told = run.invoke(cli, ["consolidate", *options, *place])
        assert told.exit_code == 0, told.output
        assert words in told.output
        assert "merged" in told.output
        with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
            assert len(memory.records(scope=Scope("local", "anna"), kind=Kind.NOTE).records) == merged
    assert '"merged": []' in run.invoke(cli, ["consolidate", "--json", *place]).stdout


def test_nothing_is_removed_in_one_step_that_another_record_needs(memory: Memory) -> None:
    first, second, _ = two_notes_of_one_thing(memory)
    child = memory.remember("The hall has a key", scope=ME, sources=[Source(kind="item", id=second)]).id
    memory.keeping.consolidate(scope=ME)
    assert {one.id for one in items(memory, Kind.NOTE)} >= {first, child}
