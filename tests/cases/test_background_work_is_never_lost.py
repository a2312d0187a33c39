"""Work that runs beside the conversation: slow, late, failing or killed, it loses nothing, and its state is told."""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from forks import Child
from retentia import Memory, Message, Scope, Session
from retentia.errors import ModelUnavailable
from retentia.providers.chat.base import ChatMessage
from retentia.store import jobs
from retentia.testing import FakeModel, Held
from retentia.testing_store import FixedClock

ANNA = Scope("acme", "anna")
NOTES = "The user and the assistant went through the invoices, one after the other."
MINUTE = 60.0


def talk(chat: Session, first: int, last: int) -> None:
    for number in range(first, last + 1):
        role = "user" if number % 2 else "assistant"
        chat.append({"role": role, "content": f"The invoice {number} over ${number}.50 is paid."})


def texts(memory: Memory) -> str:
    return "\n".join(one.text for one in memory.history(scope=ANNA, session="chat").summaries)


def test_what_is_written_pinned_and_erased_during_a_long_model_call_is_so_afterwards(store_url: str) -> None:
    """Case 46: a snapshot that spans a long call wrote back what had changed meanwhile."""
    held = Held(NOTES)
    with Memory.open(store_url, embedder=None, worker=False, models=FakeModel(held, then=NOTES)) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        talk(chat, 1, 30)
        working = threading.Thread(target=memory.drain)
        working.start()
        assert held.asked.wait(30)
        (fact,) = memory.remember("Anna pays on Fridays", "fact", scope=ANNA).ids
        (pinned,) = chat.append(Message(role="user", content="Never pay invoice 31 twice.", pinned=True)).ids
        erased = chat.messages()[6]
        memory.erase(erased.id, scope=ANNA)
        context = chat.context("What is paid?", budget=4000)
        assert pinned in {one.id for one in context.manifest}
        held.release.set()
        working.join(30)
        assert memory.get(fact, scope=ANNA).text == "Anna pays on Fridays"
        said = [message.text for message in chat.messages()]
        assert len(said) == 30
        assert erased.text not in said
        memory.drain()
        (made,) = memory.history(scope=ANNA, session="chat").summaries
        assert "$7.50" not in f"{made.text} {made.body}"
        assert "$6.50" in f"{made.text} {made.body}"
        assert pinned in {one.id for one in chat.context("What is paid?", budget=4000).manifest}


def test_a_job_that_failed_on_an_idle_memory_is_done_without_any_new_write(store_url: str) -> None:
    """Case 9: the provider was down during the job, came back, and nobody wrote anything after that."""
    clock = FixedClock()
    model = FakeModel(ModelUnavailable(), ModelUnavailable(), then=NOTES)
    with Memory.open(store_url, embedder=None, worker=False, clock=clock, models=model) as memory:
        talk(Session(memory, "chat", scope=ANNA), 1, 30)
        memory.drain()
        assert texts(memory) == ""
        for _ in range(5):
            clock.advance(seconds=MINUTE)
            memory.drain()
        assert NOTES in texts(memory)
        assert memory.jobs(tenant="acme") == []


def test_a_queue_that_nobody_works_on_is_named_with_its_age_and_drained_by_whoever_comes(store_url: str) -> None:
    """Case 10: the queue was pending for ever, with nothing in progress, and nobody could see it."""
    clock = FixedClock()
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as memory:
        talk(Session(memory, "chat", scope=ANNA), 1, 30)
        clock.advance(seconds=3_600)
        (finding,) = [one for one in memory.doctor() if one.check == "queue"]
        assert finding.level == "warning"
        assert "the oldest for 3,600 s" in finding.text
    with Memory.open(store_url, embedder=None, worker=True, clock=clock) as late:
        deadline = time.monotonic() + 30
        while _waits(late) and time.monotonic() < deadline:
            time.sleep(0.005)
        assert not _waits(late)
        assert "invoice" in texts(late)


def _waits(memory: Memory) -> bool:
    """Tell whether what was queued at first still waits; whoever comes also closes the session, which was silent."""
    return any(job.kind == jobs.SUMMARISE for job in memory.jobs(tenant="acme"))


def test_what_was_just_said_is_in_the_context_before_any_background_work(store_url: str) -> None:
    """Case 11: what lay in a buffer that was not yet flushed was invisible to the context."""
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        for number in range(1, 46):
            (said,) = chat.append(Message(role="user", content=f"The invoice {number} is paid.")).ids
            context = chat.context("What is paid?", budget=1500)
            assert said in {one.id for one in context.manifest if one.part in ("pinned", "recent")}
        elsewhere = memory.context("Is invoice 45 paid?", scope=ANNA, session="another")
        assert said in {one.id for one in elsewhere.manifest if one.part == "recalled"}


def test_how_far_the_work_came_is_in_every_answer(store_url: str) -> None:
    """Cases 7 and 12: "done" with nothing done, and memories that never appeared without a word why."""
    clock = FixedClock()
    with Memory.open(store_url, embedder=None, worker=False, clock=clock, models=FakeModel(then="")) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        talk(chat, 1, 30)
        assert [(job.kind, job.state, job.attempts) for job in memory.jobs(tenant="acme")] == [
            ("summarise", "queued", 0)
        ]
        memory.drain()
        (job,) = memory.jobs(tenant="acme")
        assert (job.state, job.attempts) == ("queued", 1)
        assert "no summary" in job.error or "nothing that is a summary" in job.error
        assert chat.checkpoint(timeout=0.5) is None
        assert len(chat.messages()) == 30
        assert "$17.50" in memory.recall("invoice 17", scope=ANNA)[0].text
        for _ in range(20):
            clock.advance(seconds=3_600)
            memory.drain()
        states = {job.kind: job.state for job in memory.jobs(tenant="acme")}
        assert states["summarise"] == "dead"
        assert "fault" in [one.level for one in memory.doctor() if one.check == "queue"]


def _dies(asked: Sequence[ChatMessage]) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def test_a_worker_that_is_killed_in_the_middle_is_followed_by_another_once_its_lease_is_over(tmp_path: Path) -> None:
    """Case 75: a claim outlived the process that made it, and the task was never taken again."""
    path, clock = tmp_path / "memory.db", FixedClock()
    with Memory.open(path, embedder=None, worker=False, clock=clock) as memory:
        talk(Session(memory, "chat", scope=ANNA), 1, 30)

    def work(report: Callable[[str], None]) -> None:
        with Memory.open(path, embedder=None, worker=False, clock=clock, models=FakeModel(then=_dies)) as memory:
            report("claims")
            memory.drain()

    child = Child(work)
    assert list(child.reported) == ["claims\n"]
    assert child.status() == -signal.SIGKILL
    with Memory.open(path, embedder=None, worker=False, clock=clock, models=FakeModel(then=NOTES)) as memory:
        (job,) = memory.jobs(tenant="acme")
        assert (job.kind, job.state, job.attempts) == (jobs.SUMMARISE, "leased", 1)
        memory.drain()
        assert texts(memory) == ""
        clock.advance(seconds=6 * MINUTE)
        memory.drain()
        assert NOTES in texts(memory)
        assert memory.jobs(tenant="acme") == []


def test_a_job_that_kills_every_worker_is_given_up_visibly_and_can_be_cancelled(tmp_path: Path) -> None:
    """Case 75, the worst of it: a job that takes each of its workers along ends as a dead one, not in a circle."""
    path, clock = tmp_path / "memory.db", FixedClock()
    with Memory.open(path, embedder=None, worker=False, clock=clock) as memory:
        talk(Session(memory, "chat", scope=ANNA), 1, 30)

    def work(report: Callable[[str], None]) -> None:
        with Memory.open(path, embedder=None, worker=False, clock=clock, models=FakeModel(then=_dies)) as memory:
            memory.drain()

    ends = []
    for _ in range(jobs.MAX_ATTEMPTS + 1):
        child = Child(work)
        ends.append(child.status())
        clock.advance(seconds=3_600)
    assert ends == [-signal.SIGKILL] * jobs.MAX_ATTEMPTS + [0]
    with Memory.open(path, embedder=None, worker=False, clock=clock) as memory:
        (job,) = memory.jobs(tenant="acme")
        assert job.state == "dead"
        assert len(memory.messages(scope=ANNA, session="chat")) == 30
        memory.cancel_job(job.id, tenant="acme")
        assert memory.jobs(tenant="acme") == []
