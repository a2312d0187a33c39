"""Export, then import, is the identity; importing again adds nothing."""

import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from retentia import Document, Kind, Memory, Message, Scope, Source, ToolCall
from retentia.errors import ErasedEarlier
from retentia.testing import FakeEmbedder

ANNA = Scope("acme", "anna")
SCOPES = (ANNA, Scope("acme", "anna", "work"), Scope("acme", "anna", agent="coder"))
TEXTS = st.text(min_size=1, max_size=30).filter(lambda text: text.strip())
NAMES = st.sampled_from(["", "Anna", "Олена", "a\tb", "\x7f\x1b"])
TIMES = st.sampled_from(
    [None, "2026", "2026-02", "2026-06-01", "2026-06-01T19:00+02:00", "2026-06-01T10:00[Europe/Kyiv]"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
METADATA = st.dictionaries(TEXTS, VALUES, max_size=3)
SESSIONS = st.sampled_from(["default", "monday", "ß/1"])
MESSAGES = st.builds(
    Message,
    role=st.sampled_from(["user", "assistant", "system", "tool"]),
    content=TEXTS | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXTS}), min_size=1, max_size=2),
    speaker=NAMES,
    at=TIMES,
    key=st.sampled_from(["", "", "k1", "k2"]),
    pinned=st.booleans(),
    metadata=METADATA,
)
CALLS = st.builds(
    ToolCall,
    name=st.sampled_from(["quote", "пошук"]),
    arguments=VALUES,
    result=VALUES,
    status=st.sampled_from(["ok", "error"]),
    error=st.sampled_from(["", "timeout"]),
    duration_ms=st.none() | st.floats(0, 1e6),
    tokens=st.none() | st.integers(0, 9999),
    at=TIMES,
    metadata=METADATA,
)
DOCUMENTS = st.builds(
    Document, text=TEXTS, title=NAMES, uri=NAMES, at=TIMES, key=st.sampled_from(["", "d1"]), metadata=METADATA
)
KINDS = st.sampled_from(["note", "fact", "preference", "event", "decision", "commitment", "procedure", "knowledge"])
ITEMS = st.tuples(TEXTS, KINDS, TIMES, st.sampled_from(["low", "normal", "high"]), NAMES, METADATA, st.integers(0, 99))
STEPS = st.lists(
    st.tuples(
        st.sampled_from(SCOPES), st.one_of(st.tuples(SESSIONS, MESSAGES | CALLS), DOCUMENTS, ITEMS, st.integers(0, 99))
    ),
    max_size=12,
)


def fill(memory: Memory, steps: list[tuple[Scope, Any]]) -> None:
    """Do what the steps say; a bare number erases one of what was written."""
    ids: list[tuple[Scope, str, str]] = []
    for scope, step in steps:
        with suppress(ErasedEarlier):  # what was erased under a key does not come back
            _do(memory, scope, step, ids)


def _do(memory: Memory, scope: Scope, step: Any, ids: list[tuple[Scope, str, str]]) -> None:
    match step:
        case (str(session), Message() as message):
            ids.append((scope, "message", memory.add(message, scope=scope, session=session).id))
        case (str(session), ToolCall() as call):
            ids.append((scope, "tool_call", memory.log_tool_call(call, scope=scope, session=session).id))
        case Document():
            ids.append((scope, "document", memory.add_document(step, scope=scope).id))
        case (text, kind, at, importance, author, metadata, place):
            here = [one for one in ids if one[0] == scope]
            sources = [Source(kind=one[1], id=one[2], end=place) for one in here[place % (len(here) + 1) :]]
            written = memory.remember(
                text,
                kind,
                scope=scope,
                at=at,
                importance=importance,
                author=author,
                metadata=metadata,
                sources=sources,
            )
            ids.append((scope, kind, written.id))
        case int(place) if ids:
            gone = ids.pop(place % len(ids))
            memory.erase(gone[2], scope=gone[0])
            there = _there(memory, gone[0])
            ids[:] = [one for one in ids if one[0] != gone[0] or one[2] in there]


def _there(memory: Memory, scope: Scope) -> set[str]:
    return {record.id for kind in Kind for record in memory.records(scope=scope, kind=kind, limit=500).records}


def exported(memory: Memory, folder: Path, scope: Scope) -> bytes:
    """Export a scope; return the file without the one thing that may differ."""
    path = folder / f"{scope.space}-{scope.agent}.jsonl"
    made = memory.export(path, scope=scope, overwrite=True)
    header, _, lines = path.read_bytes().partition(b"\n")
    told = json.loads(header)
    assert sum(told["counts"].values()) == lines.count(b"\n")
    assert made.bytes == path.stat().st_size
    del told["created_at"]
    return json.dumps(told).encode() + b"\n" + lines


@given(STEPS)
@settings(max_examples=60)
def test_what_was_exported_and_imported_is_exported_the_same(steps: list[tuple[Scope, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Memory.open(folder / "a.db", embedder=FakeEmbedder(8), worker=False) as memory:
            fill(memory, steps)
            before = {scope: exported(memory, folder, scope) for scope in SCOPES}
            for scope in SCOPES:
                memory.export(folder / "memory.md", scope=scope, as_format="markdown", overwrite=True)
        with Memory.open(folder / "b.db", embedder=FakeEmbedder(8), worker=False) as memory:
            for scope in SCOPES:
                tally = memory.import_export(folder / f"{scope.space}-{scope.agent}.jsonl", scope=scope)
                assert not tally.reasons
                assert not tally.already_there
            assert {scope: exported(memory, folder, scope) for scope in SCOPES} == before
            for scope in SCOPES:
                assert not memory.import_export(folder / f"{scope.space}-{scope.agent}.jsonl", scope=scope).stored
            assert {scope: exported(memory, folder, scope) for scope in SCOPES} == before
            assert [finding for finding in memory.doctor() if finding.level == "fault"] == []
