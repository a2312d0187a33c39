"""Several threads and processes that learn about one slot at once: no update is lost, no value is believed twice."""

import signal
import threading
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise

import pytest
from sqlalchemy import func, select

from forks import Child
from retentia import Memory, Scope
from retentia.errors import Conflict
from retentia.model.belief import Belief
from retentia.model.claim import Change, Revision
from retentia.model.ids import id_bytes
from retentia.model.record import Status
from retentia.store import beliefs, scopes
from retentia.store.open import open_database
from retentia.store.schema import claim, item, revision

ME = Scope("acme", "anna")
EACH = 20


def opened(url: str) -> Memory:
    return Memory.open(url, embedder=None, worker=False, ledger=None)


def check_slots(memory: Memory, *, written: int) -> list[Belief]:
    """Check that each slot with one value has one, that intervals do not overlap, and that every row has its claim."""
    homes = [one for one in memory.facts.history("home", scope=ME) if one.record.valid_from != one.record.valid_to]
    spans = sorted((one.record.valid_from or 0, one.record.valid_to or 1 << 62) for one in homes)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert [one.is_current for one in homes].count(True) == 1
    with memory._database.read("acme") as transaction:
        rows = {
            table: transaction.number(select(func.count()).select_from(table).where(table.c.tenant == "acme"))
            for table in (item, claim)
        }
        assert rows[item] == rows[claim]
        ended = select(func.count()).select_from(item).where(item.c.tenant == "acme", item.c.valid_to.is_not(None))
        noted = (
            select(func.count(func.distinct(revision.c.record_id)))
            .select_from(revision)
            .where(revision.c.tenant == "acme", revision.c.change == Change.SUPERSEDED.value)
        )
        assert transaction.number(noted) <= transaction.number(ended)
    likes = {one.value: one.record.seen_count for one in memory.facts.get("likes", scope=ME)}
    assert sum(likes.values()) >= written
    assert len(likes) == len({value.casefold() for value in likes})
    return homes


def tell(url: str, name: str, times: int) -> Callable[[Callable[[str], None]], None]:
    def work(report: Callable[[str], None]) -> None:
        with opened(url) as memory:
            for number in range(times):
                memory.facts.set("home", f"town {name}{number % 3}", scope=ME)
                memory.facts.set("likes", ("tea", "Tea", "TEA.")[number % 3], scope=ME)
                report(str(number))

    return work


def test_processes_that_learn_about_one_slot_at_once_lose_nothing(store_url: str) -> None:
    opened(store_url).close()
    children = [Child(tell(store_url, name, EACH)) for name in "abc"]
    assert [len(list(child.reported)) for child in children] == [EACH] * 3
    assert [child.status() for child in children] == [0, 0, 0]
    with opened(store_url) as memory:
        check_slots(memory, written=3 * EACH)
        (tea,) = memory.facts.get("likes", scope=ME)
        assert tea.record.seen_count == 3 * EACH
        said = memory.facts.history("home", scope=ME)
        assert {one.value for one in said} == {f"town {name}{number}" for name in "abc" for number in range(3)}


def test_a_process_that_is_killed_while_it_learns_leaves_all_or_nothing_of_each(store_url: str) -> None:
    opened(store_url).close()
    child = Child(tell(store_url, "a", 10_000))
    reported = child.kill_after(12)
    assert child.status() == -signal.SIGKILL
    with opened(store_url) as memory:
        check_slots(memory, written=reported)
        memory.facts.set("home", "Lviv", scope=ME)
        assert memory.facts.profile(scope=ME).values()["home"] == ["Lviv"]


def test_threads_that_learn_from_the_same_messages_keep_one_fact_with_all_its_evidence(store_url: str) -> None:
    ways = ["I like tea.", "I love tea.", "I like Tea!", "I really like tea."]
    with opened(store_url) as memory:
        threads = [threading.Thread(target=memory.add, args=(text,), kwargs={"scope": ME}) for text in ways]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (tea,) = memory.facts.get("likes", scope=ME)
        assert tea.record.seen_count == len(tea.record.sources) == 4


def test_a_decision_made_on_what_has_changed_meanwhile_is_refused_and_nothing_is_overwritten(store_url: str) -> None:
    with opened(store_url) as memory, closing(open_database(store_url)) as other:
        memory.facts.set("home", "Kyiv", scope=ME)
        (seen,) = memory.facts.get("home", scope=ME)  # a slow decision begins with what it read
        memory.facts.confirm(seen.id, scope=ME)  # and the person is quicker
        stale = Revision(
            record_id=seen.record.id,
            version=seen.record.version + 1,
            changed_at=0,
            change=Change.REJECTED,
            before={},
        )
        values = {"status": Status.CANDIDATE.value}
        with other.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, ME)
            with pytest.raises(Conflict):
                beliefs.update_item(transaction, scope_id, id_bytes(seen.id), stale, values)
        (still,) = memory.facts.get("home", scope=ME)
        assert (still.record.status, still.record.version) == (Status.CONFIRMED, seen.record.version + 1)
