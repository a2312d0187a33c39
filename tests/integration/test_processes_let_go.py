"""What one process erases, the others let go of in memory: they say so, and who does not is named."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from companions import companion
from forks import Child
from retentia import Memory, Scope
from retentia.index import tokenizer
from retentia.store import erasures, readers
from retentia.testing import FakeEmbedder

ME, OTHER = Scope("acme", "anna"), Scope("acme", "bert")
SENTINEL = "Zwetschgenkuchenrezept"


@contextmanager
def opened(url: str, *, patience: float = 5.0) -> Iterator[Memory]:
    with Memory.open(url, embedder=FakeEmbedder(), worker=False, erase_patience=patience) as memory:
        yield memory


def wait_until(is_so: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def rows(memory: Memory, table: str) -> int:
    with memory._database.read("") as transaction:
        return transaction.connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()


def unfinished(memory: Memory) -> int:
    with memory._database.read("") as transaction:
        return len(erasures.unfinished(transaction))


def test_the_receipt_says_that_the_other_process_has_let_go(store_url: str) -> None:
    with opened(store_url) as memory, companion(store_url) as other:
        kept, gone = memory.add(["The weather is fine", f"My {SENTINEL} is secret"], scope=ME).ids
        assert any(SENTINEL in text for text in other.ask(f"search {SENTINEL}"))
        before = other.ask("held")
        assert len(before["scopes"]) == 1
        assert SENTINEL in before["words"]
        receipt = memory.erase(gone, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (2, 2)
        # It searched nothing since: its own thread has let go of the index and of every word.
        assert other.ask("held") == {"scopes": [], "words": []}
        assert other.ask(f"search {SENTINEL}") == ["The weather is fine"]
        assert memory.get(kept, scope=ME).id == kept
        assert rows(memory, "notice") == unfinished(memory) == 0


def test_what_another_process_holds_of_other_scopes_stays(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url, user="bert") as other:
        memory.add("The weather is fine", scope=OTHER)
        gone = memory.add(SENTINEL, scope=ME).id
        other.ask("search weather")
        assert memory.erase(gone, scope=ME).acknowledged == 2
        assert len(other.ask("held")["scopes"]) == 1


def test_who_wrote_and_never_searched_lets_go_of_its_words(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url) as other:
        (gone,) = other.ask(f"add {SENTINEL}")
        assert SENTINEL in other.ask("held")["words"]
        receipt = memory.erase(gone, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (2, 2)
        assert other.ask("held")["words"] == []


def test_three_processes_of_which_one_holds_nothing(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url) as first, companion(sqlite_url) as second:
        gone = memory.add(SENTINEL, scope=ME).id
        with companion(sqlite_url):  # opening alone holds nothing and writes nothing
            first.ask("search kuchen")
            second.ask("search kuchen")
            receipt = memory.erase(gone, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (3, 3)


def test_reading_rows_and_opening_write_no_row(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory:
        memory.messages(scope=ME)
        memory.stats(scope=ME)
        assert rows(memory, "reader") == 0
        memory.recall("anything", scope=ME)
        assert rows(memory, "reader") == 1
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        assert connection.execute("SELECT count(*) FROM reader").fetchone() == (0,)


def test_a_closed_store_is_not_asked_any_more(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url) as other:
        gone = memory.add(SENTINEL, scope=ME).id
        other.ask("search kuchen")
        other.ask("close")
        assert (memory.erase(gone, scope=ME).processes, rows(memory, "notice")) == (1, 0)


def test_a_suspended_process_is_named_and_the_erasure_finished_when_it_wakes(store_url: str) -> None:
    with opened(store_url, patience=0.3) as memory, companion(store_url) as other:
        first, second = memory.add([SENTINEL, f"{SENTINEL} again"], scope=ME).ids
        other.ask("search kuchen")
        other.send(signal.SIGSTOP)
        receipt = memory.erase(first, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (2, 1)
        assert f"process {other.process.pid} on " in receipt.pending
        assert memory.verify_erasure("acme", [first], erasure=receipt.id).is_pending
        other.send(signal.SIGCONT)
        wait_until(lambda: rows(memory, "notice") == 0)
        assert other.ask("held") == {"scopes": [], "words": []}
        assert memory.erase(second, scope=ME).acknowledged >= 1  # which also finishes the one before
        assert not memory.verify_erasure("acme", [first], erasure=receipt.id).is_pending


def test_a_killed_process_holds_nobody_up_when_its_lease_has_ended(store_url: str) -> None:
    with opened(store_url, patience=0.05) as memory, companion(store_url) as other:
        first, second, third = memory.add([SENTINEL, f"{SENTINEL} again", "And more"], scope=ME).ids
        other.ask("search kuchen")
        other.send(signal.SIGKILL)
        receipt = memory.erase(first, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (2, 1)
        assert "its lease ends in" in receipt.pending
        assert memory.erase(second, scope=ME).processes == 2
        assert unfinished(memory) == 2
        end_leases(memory, besides=memory._presence.id)
        last = memory.erase(third, scope=ME)
        assert (last.processes, last.acknowledged) == (1, 1)
        assert unfinished(memory) == rows(memory, "notice") == 0
        assert rows(memory, "reader") == 1


def test_nobody_waits_again_for_who_has_left_an_older_notice_unanswered(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "_STUCK_MS", -1)
    with opened(sqlite_url, patience=0.05) as memory, companion(sqlite_url) as other:
        first, second = memory.add([SENTINEL, f"{SENTINEL} again"], scope=ME).ids
        other.ask("search kuchen")
        other.send(signal.SIGKILL)
        memory.erase(first, scope=ME)
        memory._eraser._others._patience = 3600
        assert memory.erase(second, scope=ME).acknowledged == 1


def end_leases(memory: Memory, *, besides: bytes) -> None:
    with memory._database.write("") as transaction:
        for (reader_id,) in transaction.connection.exec_driver_sql("SELECT id FROM reader").all():
            if bytes(reader_id) != besides:
                readers.renew(transaction, bytes(reader_id))
                transaction.connection.execute(
                    readers.reader.update().where(readers.reader.c.id == reader_id).values(lease_until=1)
                )


def test_who_wakes_after_its_lease_finds_its_row_gone_and_lets_go_of_everything(sqlite_url: str) -> None:
    with opened(sqlite_url, patience=0.05) as memory, companion(sqlite_url) as other:
        first, second = memory.add([SENTINEL, f"{SENTINEL} again"], scope=ME).ids
        other.ask("search kuchen")
        other.send(signal.SIGSTOP)
        end_leases(memory, besides=memory._presence.id)
        receipt = memory.erase(first, scope=ME)
        assert (receipt.processes, receipt.acknowledged, receipt.pending) == (1, 1, "")
        assert rows(memory, "reader") == 1
        other.send(signal.SIGCONT)
        wait_until(lambda: rows(memory, "reader") == 2)
        assert other.ask("held") == {"scopes": [], "words": []}
        other.ask("search kuchen")
        memory._eraser._others._patience = 5.0
        assert memory.erase(second, scope=ME).acknowledged == 2


@pytest.mark.parametrize("skew", [-86_400_000_000, 86_400_000_000])
def test_clocks_of_processes_may_differ_by_a_day(store_url: str, skew: int) -> None:
    with opened(store_url) as memory, companion(store_url, skew=skew) as other:
        first, second = memory.add([SENTINEL, f"{SENTINEL} again"], scope=ME).ids
        other.ask("search kuchen")
        receipt = memory.erase(first, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (2, 2)
        memory.recall(SENTINEL, scope=ME)
        assert other.ask(f"erase {second}") == [2, 2, receipt.pending]


def test_a_forked_child_holds_nothing_and_answers_for_itself(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory:
        first, second = memory.add([SENTINEL, f"{SENTINEL} again"], scope=ME).ids
        memory.recall(SENTINEL, scope=ME)
        go, told = os.pipe()

        def child(report: Callable[[str], None]) -> None:
            report(f"{len(memory._residents._held)} {SENTINEL in tokenizer._CHUNKS}")
            memory.recall(SENTINEL, scope=ME)
            report(f"{len(memory._residents._held)} {SENTINEL in tokenizer._CHUNKS}")
            os.read(go, 1)
            report(f"{len(memory._residents._held)} {SENTINEL in tokenizer._CHUNKS}")
            memory.close()

        forked = Child(child)
        assert [forked.reported.readline() for _ in range(2)] == ["0 False\n", "1 True\n"]
        assert len(memory._residents._held) == 1
        receipt = memory.erase(first, scope=ME)
        assert (receipt.processes, receipt.acknowledged) == (2, 2)
        os.write(told, b"x")
        assert forked.reported.readline() == "0 False\n"
        assert forked.status() == 0
        assert memory.erase(second, scope=ME).processes == 1


def test_a_search_that_began_before_the_erasure_does_not_bring_it_back_into_memory(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory:
        kept, gone = memory.add(["The weather is fine", SENTINEL], scope=ME).ids
        memory.recall("weather", scope=ME)
        current, seen = memory._residents.current, []

        def late(transaction, view, **options):  # type: ignore[no-untyped-def]
            if not seen:  # after its snapshot was taken, and before the index is looked up
                seen.append(memory.erase(gone, scope=ME))
            return current(transaction, view, **options)

        memory._residents.current = late  # type: ignore[method-assign]
        found = memory.recall("weather", scope=ME, min_relevance=0.0)
        memory._residents.current = current  # type: ignore[method-assign]
        assert [hit.record.id for hit in found.hits][:1] == [kept]
        assert memory._residents._held == {}


def test_where_the_row_cannot_be_had_at_once_a_search_answers_and_keeps_nothing(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory:
        memory.add("The weather is fine", scope=ME)
    with opened(sqlite_url) as memory, opened(sqlite_url) as writer:
        with writer._database.write("acme"):
            assert memory.recall("weather", scope=ME).hits
            assert memory._residents._held == {}
        wait_until(lambda: memory._presence.is_known)
        assert memory.recall("weather", scope=ME).hits
        assert len(memory._residents._held) == 1


def test_an_erasure_that_was_killed_before_it_asked_is_asked_by_the_next_opening(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url) as other:
        gone = memory.add(SENTINEL, scope=ME).id
        other.ask("search kuchen")

        def erase_and_die(_report: Callable[[str], None]) -> None:
            with opened(sqlite_url) as doomed:
                doomed._eraser._others.ask = lambda *_a, **_k: os._exit(7)  # type: ignore[method-assign]
                doomed.erase(gone, scope=ME)

        assert Child(erase_and_die).status() == 7
        assert len(other.ask("held")["scopes"]) == 1
        with opened(sqlite_url):
            wait_until(lambda: other.ask("held")["scopes"] == [])
        with opened(sqlite_url) as again:
            wait_until(lambda: rows(again, "notice") == 0)
        with opened(sqlite_url) as again:
            assert unfinished(again) == 0


def test_what_is_removed_into_the_bin_and_restored_is_let_go_of_everywhere(store_url: str) -> None:
    with opened(store_url) as memory, companion(store_url) as other:
        memory.add(["The weather is fine", f"My {SENTINEL} is secret"], scope=ME)
        planned = memory.plan_forgetting(about=SENTINEL, scope=ME)
        other.ask(f"search {SENTINEL}")
        removal = memory.forget(planned, undo_for=timedelta(days=7))
        assert (removal.processes, removal.acknowledged, removal.pending) == (2, 2, "")
        assert other.ask("held") == {"scopes": [], "words": []}
        assert other.ask(f"search {SENTINEL}") == ["The weather is fine"]
        assert rows(memory, "notice") == unfinished(memory) == 0
        assert memory.keeping.restore(removal.id, scope=ME) == planned.ids
        wait_until(lambda: rows(memory, "notice") == 0)
        assert other.ask("held") == {"scopes": [], "words": []}
        assert len(other.ask(f"search {SENTINEL}")) == 2


def test_a_purge_waits_like_an_erasure(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url) as other:
        memory.add(["The weather is fine", SENTINEL], scope=ME)
        planned = memory.plan_forgetting(about=SENTINEL, scope=ME)
        memory.forget(planned, undo_for=timedelta(microseconds=1))
        other.ask("search weather")
        assert len(other.ask("held")["scopes"]) == 1
        assert memory.keeping.purge() == 1
        assert other.ask("held") == {"scopes": [], "words": []}
        assert rows(memory, "notice") == unfinished(memory) == 0


def test_who_has_not_let_go_of_what_was_removed_is_named_until_it_does(sqlite_url: str) -> None:
    with opened(sqlite_url, patience=0.3) as memory, companion(sqlite_url) as other:
        memory.add(SENTINEL, scope=ME)
        other.ask("search kuchen")
        other.send(signal.SIGSTOP)
        removal = memory.forget(memory.plan_forgetting(about=SENTINEL, scope=ME), undo_for=timedelta(days=7))
        assert (removal.processes, removal.acknowledged) == (2, 1)
        assert f"process {other.process.pid} on " in removal.pending
        assert unfinished(memory) == 1
        other.send(signal.SIGCONT)
        wait_until(lambda: rows(memory, "notice") == 0)
        assert other.ask("held") == {"scopes": [], "words": []}
        memory._eraser.recover()
        assert unfinished(memory) == 0


def test_a_removal_that_was_killed_before_it_asked_is_asked_by_the_next_opening(sqlite_url: str) -> None:
    with opened(sqlite_url) as memory, companion(sqlite_url) as other:
        memory.add(SENTINEL, scope=ME)
        other.ask("search kuchen")

        def remove_and_die(_report: Callable[[str], None]) -> None:
            with opened(sqlite_url) as doomed:
                doomed._eraser._others.ask = lambda *_a, **_k: os._exit(7)  # type: ignore[method-assign]
                doomed.forget(doomed.plan_forgetting(everything=True, scope=ME), undo_for=timedelta(days=7))

        assert Child(remove_and_die).status() == 7
        assert len(other.ask("held")["scopes"]) == 1
        with opened(sqlite_url):
            wait_until(lambda: other.ask("held")["scopes"] == [])
        with opened(sqlite_url) as again:
            wait_until(lambda: rows(again, "notice") == 0)
        with opened(sqlite_url) as again:
            assert unfinished(again) == 0


def test_a_role_that_may_only_read_searches_as_before(postgres_url: str) -> None:
    with opened(postgres_url) as memory:
        memory.add("The weather is fine", scope=ME)
    with opened(
        f"{postgres_url}{'&' if '?' in postgres_url else '?'}options=-c%20default_transaction_read_only%3Don"
    ) as memory:
        memory.recall("weather", scope=ME)
        wait_until(lambda: memory._presence._is_read_only)
        assert memory.recall("weather", scope=ME).hits
        assert len(memory._residents._held) == 1
