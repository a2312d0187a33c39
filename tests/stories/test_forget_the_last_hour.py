"""Forget the last hour within a long session: afterwards no summary, no record and no byte tells of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from retentia import Memory, Message, Scope, Session
from retentia.evals.replay import unnamed
from retentia.testing_store import FixedClock
from retentia.working.context import Context

SECRET = "ZX-9137-KIWI"
TOLD = f"We decided to open the safe with {SECRET}, because the key of the vault is lost."


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as opened:
        yield opened


def said(number: int) -> Message:
    text = f"Step {number}: the invoice {4700 + number} over ${number}.10 is paid, as agreed with the office."
    return Message(role="user" if number % 2 else "assistant", content=text)


def talk(memory: Memory, chat: Session, numbers: range) -> None:
    for number in numbers:
        chat.append(said(number))
        memory.drain()


def told(memory: Memory, chat: Session, context: Context) -> str:
    """Everything that the memory says of the session, in one text."""
    history = memory.history(scope=chat.scope, session=chat.name, whole=True)
    record = chat.record()
    items = [str(memory.records(scope=chat.scope, kind=kind).records) for kind in ("decision", "knowledge")]
    return "\n".join([context.text(), *(f"{one.text} {one.body}" for one in history.summaries), str(record), *items])


def test_no_summary_tells_of_the_forgotten_hour_and_the_session_goes_on(
    memory: Memory, anna: Scope, clock: FixedClock, sqlite_url: str
) -> None:
    chat = Session(memory, "chat", scope=anna)
    talk(memory, chat, range(1, 41))
    clock.advance(seconds=3 * 3600)
    (secret,) = chat.append(TOLD).ids
    talk(memory, chat, range(41, 91))
    chat.checkpoint()
    before = told(memory, chat, chat.context("What was decided about the safe?"))
    assert SECRET in before

    clock.advance(seconds=30 * 60)
    planned = memory.plan_forgetting("forget the last hour", scope=anna)
    assert planned.counts["message"] == 51
    receipt = memory.forget(planned)
    assert receipt.removed["message"] == 51

    for _ in range(2):
        after = told(memory, chat, chat.context("What was decided about the safe?"))
        assert SECRET not in after
        assert "Step 41" not in after
        assert "Step 40" in after
        memory.drain()  # summaries are made anew, from what is left
    assert [one.text for one in chat.messages()] == [str(said(number).content) for number in range(1, 41)]
    assert memory.verify_erasure("acme", receipt.records, erasure=receipt.id, texts=[SECRET]).is_clean
    assert not any(SECRET.encode() in file.read_bytes() for file in _files(sqlite_url))

    talk(memory, chat, range(91, 131))
    chat.checkpoint()
    context = chat.context("How far are we?")
    assert unnamed(context, memory.history(scope=anna, session="chat", whole=True)) == set()
    assert SECRET not in told(memory, chat, context)
    assert secret not in [hit.record.id for hit in memory.recall(SECRET, scope=anna, min_relevance=0)]


def _files(url: str) -> Iterator[Path]:
    folder = Path(url.removeprefix("sqlite:///")).parent
    yield from (path for path in folder.rglob("*") if path.is_file())
