"""A session that ends by a crash: nothing is lost, it is closed later, and the next one begins with what was open."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from forks import Child
from retentia import Memory, Message, Scope, Session
from retentia.testing import FakeModel
from retentia.testing_store import FixedClock
from talking_agent import TalkingAgent

SAID = (
    "I want to move our shop to a new host before the summer.",
    "We decided to take the host in Falkenstein, because the one in Dublin had 3 outages.",
    "We still have to book the movers for June 12.",
)


def test_a_killed_agent_loses_nothing_and_its_session_is_closed_and_opens_the_next(
    tmp_path: Path, anna: Scope, clock: FixedClock
) -> None:
    path = tmp_path / "memory.db"

    def work(report: Callable[[str], None]) -> None:
        memory = Memory.open(path, embedder=None, clock=clock)
        agent = TalkingAgent(memory, Session(memory, "monday", scope=anna), FakeModel(then="Noted."))
        for text in SAID:
            report(agent.answer(text))
        agent.session.append("And the last thing before the power went: the fuse box is in room 7.")
        os.kill(os.getpid(), signal.SIGKILL)

    child = Child(work)
    assert [line.strip() for line in child.reported] == ["Noted."] * 3
    assert child.status() == -signal.SIGKILL

    clock.advance(seconds=20 * 3600)
    with Memory.open(path, embedder=None, worker=False, clock=clock) as memory:
        said = memory.messages(scope=anna, session="monday")
        assert [one.text for one in said][::2] == [
            *SAID,
            "And the last thing before the power went: the fuse box is in room 7.",
        ]
        assert memory.why(said[1].id, scope=anna).reply.text == "Noted."
        assert memory.session_record(scope=anna, session="monday") is None

        memory._workers.summarising._sweep_when_due()
        memory.drain()
        record = memory.session_record(scope=anna, session="monday")
        assert record is not None
        assert (record.messages, record.ended_at) == (7, clock.now)
        assert [one.text for one in record.decisions] == [SAID[1]]

        tuesday = Session(memory, "tuesday", scope=anna)
        opening = memory.opening(scope=anna, request="How far are we with the move?")
        assert SAID[2] in [one.text for one in opening.open_items]
        context = memory.context("How far are we with the move?", scope=anna, session="tuesday", opening=opening)
        assert "Falkenstein, because the one in Dublin had 3 outages" in context.text()
        tuesday.append(Message(role="user", content="How far are we with the move?"), context=None)
        assert memory.recall("Where is the fuse box?", scope=anna)[0].record.id == said[-1].id
