"""What the index is told of a record is the same at the write and when the record is read back."""

import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from retentia import Document, Memory, Message, Scope, ToolCall
from retentia.model.record import ITEM_KINDS, Kind
from retentia.store import passages, scopes
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")
TEXTS = st.text(min_size=1, max_size=80).filter(str.strip) | st.sampled_from(
    ["Die Straße ist lang. " * 60, "Мене звати Олена.\n\nЖиву в Києві.", "张伟喜欢周游世界。" * 90]
)
TIMES = st.none() | st.sampled_from(["2026", "2026-06", "2026-06-01T19:00-05:00"]) | st.dates(date(1, 1, 2))
SESSIONS = st.sampled_from(["monday", "tuesday"])
Write = Callable[[Memory], object]


@st.composite
def messages(draw: st.DrawFn) -> Write:
    said = Message(
        role=draw(st.sampled_from(["user", "assistant", "system", "tool"])),
        content=draw(TEXTS),
        speaker=draw(st.sampled_from(["", "Олена"])),
        at=draw(TIMES),
    )
    session = draw(SESSIONS)
    return lambda memory: memory.add(said, scope=ME, session=session)


@st.composite
def tool_calls(draw: st.DrawFn) -> Write:
    call = ToolCall(name="search", arguments={"q": draw(TEXTS)}, result=draw(TEXTS), at=draw(TIMES))
    session = draw(SESSIONS)
    return lambda memory: memory.log_tool_call(call, scope=ME, session=session)


@st.composite
def documents(draw: st.DrawFn) -> Write:
    document = Document(text=draw(TEXTS), title="A page", at=draw(TIMES))
    return lambda memory: memory.add_document(document, scope=ME)


@st.composite
def items(draw: st.DrawFn) -> Write:
    text, kind, at = draw(TEXTS), draw(st.sampled_from(sorted(ITEM_KINDS))), draw(TIMES)
    if kind is Kind.EXPERIENCE:
        tried = {"task": text, "reward": 0.5, "outcome": "partial"}
        return lambda memory: memory.experience.record(tried, scope=ME)
    if kind is Kind.TOOL:
        return lambda memory: memory.tools.register({"name": "find_it", "description": text}, scope=ME)
    return lambda memory: memory.remember(text, kind, scope=ME, at=at)


@settings(max_examples=40)
@given(st.lists(messages() | tool_calls() | documents() | items(), min_size=1, max_size=6))
def test_reindexing_makes_what_the_write_made_and_keeps_every_vector(writes: list[Write]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "memory.db", embedder=FakeEmbedder(16), worker=False) as memory,
    ):
        for write in writes:
            write(memory)
        memory.drain()
        before = derived(memory)
        memory.reindex()
        assert derived(memory) == before
        assert memory.drain() == 0


def derived(memory: Memory) -> tuple[list[object], list[object]]:
    with memory._database.read("acme") as transaction:
        (entry,) = scopes.view(transaction, ME)
        ((terms, vectors),) = passages.slices(transaction, entry.scope_id, entry.generation)
        return sorted(map(tuple, terms)), sorted(map(tuple, vectors))
