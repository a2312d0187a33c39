"""Summaries beside writes, erasures, failing summarisers and other workers, on both databases."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from retentia import Memory, Scope
from retentia.model.ids import id_text, new_id_bytes
from retentia.model.summary import OVERVIEW_LEVEL, SEGMENT_LEVEL, Summary
from retentia.store import jobs, sessions, summaries
from retentia.testing_store import FixedClock
from retentia.working.context import Context
from retentia.working.settings import WorkingSettings
from retentia.working.summary import SummaryPolicy
from summarisers import Telling

ANNA = Scope("acme", "anna")
SENTINEL = "ZX-9137-KIWI"


@contextmanager
def opened(url: str, summariser: Telling, *, worker: bool = False, **more: object) -> Iterator[Memory]:
    with Memory.open(url, embedder=None, worker=worker, summariser=summariser, **more) as memory:  # type: ignore[arg-type]
        yield memory


def say(memory: Memory, first: int, last: int, *, session: str = "chat") -> list[str]:
    ids: list[str] = []
    for number in range(first, last + 1):
        said = {"role": "user" if number % 2 else "assistant", "content": f"m{number}"}
        ids += memory.add(said, scope=ANNA, session=session).ids
    return ids


def all_summaries(memory: Memory, session: str = "chat") -> list[Summary]:
    with memory._database.read("acme") as transaction:
        (scope_id,) = [number for number, _ in _scopes(transaction)]
        session_id = sessions.find(transaction, scope_id, session)
        assert session_id is not None
        found = summaries.stretches(transaction, scope_id, session_id)
        return summaries.texts(transaction, scope_id, session_id, found)


def _scopes(transaction: object) -> list[tuple[int, Scope]]:
    from retentia.store import scopes

    return scopes.all_scopes(transaction)  # type: ignore[arg-type]


def places(memory: Memory, context: Context, *, session: str = "chat") -> dict[str, set[str]]:
    """Tell where each message of a session is: shown, covered by a summary that is shown, or named in the gap."""
    history = memory.history(scope=ANNA, session=session, whole=True)
    shown = {one.id for one in context.manifest if one.part in ("summary", "pinned", "recent")}
    gap = set(context.gap.ids) if context.gap else set()
    covered = {one.id for one in history.messages if history.covering(one.seq) in shown} - shown - gap
    return {"shown": shown, "covered": covered, "gap": gap, "all": {one.id for one in history.messages}}


def test_at_thirty_messages_the_first_fifteen_are_summarised_from_their_own_words(store_url: str) -> None:
    with opened(store_url, Telling()) as memory:
        say(memory, 1, 29)
        assert memory.drain() == 0
        say(memory, 30, 30)
        assert memory.drain() == 1
        (made,) = memory.history(scope=ANNA, session="chat").summaries
        assert (made.first_seq, made.last_seq, made.messages, made.made_by) == (1, 15, 15, "telling")
        assert made.text == "told: " + " ".join(f"m{number}" for number in range(1, 16))
        assert [said.text for said in memory.messages(scope=ANNA, session="chat")][:3] == ["m1", "m2", "m3"]


def test_no_step_of_a_long_session_has_an_unnamed_gap_or_a_message_given_twice(sqlite_url: str) -> None:
    with opened(sqlite_url, Telling()) as memory:
        for number in range(1, 501):
            said = {"role": "user" if number % 2 else "assistant", "content": f"m{number} " + "word " * (number % 40)}
            memory.add(said, scope=ANNA, session="chat")
            if number % 3 == 0:
                memory.drain()  # the summaries are sometimes late
            context = memory.context("m7 word?", scope=ANNA, session="chat", budget=1500)
            assert context.total_tokens <= 1500
            found = places(memory, context)
            assert found["all"] <= found["shown"] | found["covered"] | found["gap"]
            assert not found["gap"] & (found["shown"] | found["covered"])
            ids = [one.id for one in context.manifest]
            assert len(ids) == len(set(ids))
        levels = {one.level for one in all_summaries(memory)}
        assert levels == {1, 2, OVERVIEW_LEVEL}


def test_below_an_overview_only_what_reaches_behind_it_is_read(store_url: str) -> None:
    with opened(store_url, Telling()) as memory:
        say(memory, 1, 1)
        for reached in (1, 12, 13, 24, 30, 36, 71, 72, 90):
            with memory._database.write("acme") as transaction:
                (scope_id,) = [number for number, _ in _scopes(transaction)]
                session_id = sessions.ensure(transaction, scope_id, f"chat {reached}")
                for level, length in ((1, 4), (2, 12), (3, 36)):
                    for first in range(1, 73, length):
                        summaries.add(transaction, scope_id, session_id, covering(level, first, first + length - 1))
                summaries.put(transaction, scope_id, session_id, covering(OVERVIEW_LEVEL, 1, reached))
                everything = summaries.stretches(transaction, scope_id, session_id)
                found = summaries.standing(transaction, scope_id, session_id)
            assert found == [one for one in everything if one.level == OVERVIEW_LEVEL or one.last_seq > reached]


def covering(level: int, first: int, last: int) -> Summary:
    return Summary(
        id=id_text(new_id_bytes()),
        level=level,
        first_seq=first,
        last_seq=last,
        text="told",
        made_by="telling",
        messages=last - first + 1,
        tokens=1,
        started_at=first,
        ended_at=last,
        created_at=0,
    )


def test_a_message_that_is_erased_during_its_summary_is_in_no_summary(store_url: str) -> None:
    told = Telling()
    with opened(store_url, told) as memory:
        ids = say(memory, 1, 31)

        def erase_once() -> None:
            told.meanwhile = lambda: None
            memory.erase(ids[6], scope=ANNA)

        told.meanwhile = erase_once
        memory.drain()
        (made,) = all_summaries(memory)
        assert "m7" not in made.text.split()
        assert told.calls == 2
        assert made.messages == 15


def test_an_erased_message_takes_every_summary_that_tells_of_it_along_and_they_are_made_anew(store_url: str) -> None:
    with opened(store_url, Telling()) as memory:
        ids = say(memory, 1, 19)
        ids += memory.add(f"the key is {SENTINEL}", scope=ANNA, session="chat").ids
        for number in range(21, 130):
            ids += say(memory, number, number)
            memory.drain()
        before = all_summaries(memory)
        assert {one.level for one in before if SENTINEL in one.text} == {1, 2, OVERVIEW_LEVEL}
        receipt = memory.erase(ids[19], scope=ANNA)
        assert receipt.removed["summary"] == sum(one.first_seq <= 20 <= one.last_seq for one in before)
        assert not any(SENTINEL in one.text for one in all_summaries(memory))
        kept = [one for one in before if not one.first_seq <= 20 <= one.last_seq]
        assert all_summaries(memory) == kept
        context = memory.context("what now?", scope=ANNA, session="chat", budget=900)
        assert places(memory, context)["all"] <= set().union(
            *(places(memory, context)[k] for k in ("shown", "covered", "gap"))
        )
        memory.drain()
        after = all_summaries(memory)
        assert {one.level for one in after} == {1, 2, OVERVIEW_LEVEL}
        assert not any(SENTINEL in one.text for one in after)
        assert memory.verify_erasure("acme", [ids[19]]).is_clean


def test_a_whole_stretch_that_is_erased_leaves_no_hole_that_stops_the_rest(store_url: str) -> None:
    with opened(store_url, Telling()) as memory:
        ids = say(memory, 1, 150)
        memory.drain()
        memory.forget(memory.plan_forgetting(ids=ids[15:30], scope=ANNA))
        say(memory, 151, 200)
        memory.drain()
        history = memory.history(scope=ANNA, session="chat")
        assert history.summaries[0].level == OVERVIEW_LEVEL
        assert sum(one.messages for one in history.summaries) + 15 >= 185 - 15


def test_what_is_said_during_a_summary_is_kept_and_comes_next(store_url: str) -> None:
    told = Telling()
    with opened(store_url, told) as memory:
        say(memory, 1, 30)

        def say_more() -> None:
            told.meanwhile = lambda: None
            say(memory, 31, 45)

        told.meanwhile = say_more
        memory.drain()
        assert [(one.first_seq, one.last_seq) for one in all_summaries(memory)] == [(1, 15), (16, 30)]


def test_a_failing_summariser_leaves_all_as_it_was_and_is_tried_again(store_url: str) -> None:
    clock = FixedClock()
    with opened(store_url, Telling(failures=2), clock=clock) as memory:
        say(memory, 1, 30)
        for attempt in (1, 2):
            memory.drain()
            assert all_summaries(memory) == []
            (job,) = memory.jobs(tenant="acme")
            assert (job.kind, job.state, job.attempts) == (jobs.SUMMARISE, "queued", attempt)
            assert "m1" not in job.error
            context = memory.context("and?", scope=ANNA, session="chat", budget=4000)
            assert context.gap is None
            clock.advance(seconds=60)
        memory.drain()
        assert len(all_summaries(memory)) == 1
        assert memory.jobs(tenant="acme") == []


def test_a_worker_that_was_paused_past_its_lease_writes_nothing(store_url: str) -> None:
    clock = FixedClock()
    slow = Telling()
    with opened(store_url, slow, clock=clock) as memory, opened(store_url, Telling(), clock=clock) as other:
        say(memory, 1, 30)

        def be_overtaken() -> None:
            slow.meanwhile = lambda: None
            clock.advance(seconds=3600)
            assert other.drain() == 1

        slow.meanwhile = be_overtaken
        memory.drain()
        (made,) = all_summaries(memory)
        assert made.messages == 15
        assert memory.jobs(tenant="acme") == []


def test_two_workers_on_one_session_write_each_stretch_once(store_url: str) -> None:
    told = Telling()
    with opened(store_url, told) as memory, opened(store_url, told) as other:
        for number in range(20):
            say(memory, 30 * number + 1, 30 * number + 30, session=f"s{number % 4}")
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda one: one.drain(), (memory, other)))
        memory.drain()
        for session in ("s0", "s1", "s2", "s3"):
            low = [one for one in all_summaries(memory, session) if one.level == SEGMENT_LEVEL]
            assert [one.first_seq for one in low[1:]] == [one.last_seq + 1 for one in low[:-1]]
            assert low[-1].last_seq >= 150 - 29


def test_no_connection_is_held_while_the_summariser_works(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of one connection, a slow model, and 20 sessions that go on meanwhile."""
    is_slow, may_go_on = threading.Event(), threading.Event()

    def wait() -> None:
        is_slow.set()
        assert may_go_on.wait(30)

    with opened(store_url, Telling(wait)) as memory:
        say(memory, 1, 30)
        pool = memory._database._engine.pool
        monkeypatch.setattr(pool, "_max_overflow", 0)
        monkeypatch.setattr(pool._pool, "maxsize", 1, raising=False)  # type: ignore[attr-defined]
        with ThreadPoolExecutor(21) as threads:
            working = threads.submit(memory.drain)
            assert is_slow.wait(30)
            list(threads.map(lambda number: say(memory, 1, 3, session=f"other {number}"), range(20)))
            contexts = threads.map(
                lambda number: memory.context("and?", scope=ANNA, session=f"other {number}"), range(20)
            )
            assert all(len(one.manifest) >= 3 for one in contexts)
            may_go_on.set()
            assert working.result(60) == 1


def test_what_an_import_puts_into_a_summarised_stretch_is_not_taken_for_summarised(
    sqlite_url: str, tmp_path: Path
) -> None:
    with opened(sqlite_url, Telling()) as memory:
        ids = say(memory, 1, 45)
        memory.export(tmp_path / "all.jsonl", scope=ANNA)
        memory.drain()
        assert all_summaries(memory)[0].messages == 30
    other = sqlite_url.replace("memory.db", "other.db")
    with opened(other, Telling()) as memory:
        lines = (tmp_path / "all.jsonl").read_text("utf-8").splitlines(keepends=True)
        without = [line for line in lines if ids[4] not in line]
        (tmp_path / "some.jsonl").write_text("".join(without), "utf-8")
        memory.import_export(tmp_path / "some.jsonl", scope=ANNA)
        memory.context("and?", scope=ANNA, session="chat", budget=200)
        memory.drain()
        assert all_summaries(memory)[0].messages >= 14
        memory.import_export(tmp_path / "all.jsonl", scope=ANNA)
        context = memory.context("and?", scope=ANNA, session="chat", budget=4000)
        found = places(memory, context)
        assert found["all"] <= found["shown"] | found["covered"] | found["gap"]
        assert ids[4] in found["shown"] | found["gap"]


def test_by_phases_a_segment_ends_where_the_talk_turned(sqlite_url: str) -> None:
    policy = WorkingSettings(summary=SummaryPolicy(kind="phases"))
    with opened(sqlite_url, Telling(), working=policy) as memory:
        say(memory, 1, 20)
        memory.add("next: something else", scope=ANNA, session="chat")
        say(memory, 22, 40)
        memory.drain()
        assert [(one.first_seq, one.last_seq) for one in all_summaries(memory)] == [(1, 20)]


def test_switched_off_nothing_is_summarised_and_nothing_queued(sqlite_url: str) -> None:
    with opened(sqlite_url, Telling(), working=WorkingSettings(summary=SummaryPolicy(kind="off"))) as memory:
        say(memory, 1, 40)
        memory.context("and?", scope=ANNA, session="chat", budget=120)
        assert memory.jobs(tenant="acme") == []
        assert memory.drain() == 0


def test_a_long_import_is_summarised_when_a_context_needs_it(sqlite_url: str) -> None:
    with opened(sqlite_url, Telling()) as memory:
        said = [{"role": "user", "content": f"m{number} " + "word " * 20} for number in range(1, 301)]
        memory.add(said, scope=ANNA, session="chat")
        memory.drain()  # learns from them
        assert memory.jobs(tenant="acme") == []
        first = memory.context("and?", scope=ANNA, session="chat", budget=800)
        assert first.gap is not None
        assert [job.kind for job in memory.jobs(tenant="acme")] == [jobs.SUMMARISE]
        memory.context("and?", scope=ANNA, session="chat", budget=800)
        assert len(memory.jobs(tenant="acme")) == 1
        memory.drain()
        then = memory.context("and?", scope=ANNA, session="chat", budget=800)
        assert then.gap is None or then.gap.count < 20
        assert then.full_history_tokens == first.full_history_tokens
