"""What was exported is the memory it was exported from, wherever it is imported."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from retentia import Document, Memory, Message, Scope, Source, ToolCall
from retentia.errors import Conflict, ErasedEarlier, InvalidInput
from retentia.testing import FakeEmbedder
from retentia.transfer.restore import IMPORTED_ID

ELSEWHERE = Scope("globex", "anna")
BOB = Scope("acme", "bob")


def fill(memory: Memory, scope: Scope) -> str:
    """Write some of each kind; return the id of a note with three sources."""
    first = memory.add(
        [
            Message(
                role="user", content="We move to ClickHouse", speaker="Anna", at="2026-04-02T09:00+03:00", key="m1"
            ),
            Message(role="assistant", content=[{"type": "text", "text": "Noted"}, {"type": "image", "url": "x"}]),
        ],
        scope=scope,
        session="monday",
    )
    memory.log_tool_call(
        ToolCall(name="quote", arguments={"s": "T"}, result={"price": 213.0}), scope=scope, session="monday"
    )
    memory.add(
        Message(role="user", content="Thanks", pinned=True, metadata={"mood": "good"}), scope=scope, session="monday"
    )
    memory.add("Dentist on Friday", scope=scope, session="tuesday")
    document = memory.add_document(Document(text="# Restore\n\n40 minutes.", title="Runbook", key="d1"), scope=scope)
    decision = memory.remember("ClickHouse it is", "decision", scope=scope, at="2026-04", importance="high")
    sources = [
        Source(kind="message", id=first.ids[0], start=3, end=9),
        Source(kind="document", id=document.id),
        Source(kind="decision", id=decision.id, role="reason"),
    ]
    return memory.remember("Anna moves databases", scope=scope, author="agent-7", sources=sources).id


def lines(memory: Memory, scope: Scope, folder: Path) -> list[dict[str, Any]]:
    path = folder / f"{scope.tenant}-{scope.user}.jsonl"
    memory.export(path, scope=scope, overwrite=True)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()][1:]


def test_an_empty_scope_becomes_the_one_that_was_exported(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    fill(memory, scope)
    before = lines(memory, scope, tmp_path)
    tally = memory.import_export(tmp_path / "acme-anna.jsonl", scope=ELSEWHERE)
    assert tally.stored == {"messages": 4, "tool calls": 1, "documents": 1, "items": 2}
    assert tally.notes == {"records of 'acme/anna/default' were read; all of them go into globex/anna/default"}
    assert lines(memory, ELSEWHERE, tmp_path) == before
    assert [record.text for record in memory.messages(scope=ELSEWHERE, session="monday")] == [
        "We move to ClickHouse",
        "Noted",
        "Thanks",
    ]


def test_importing_again_adds_nothing(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    fill(memory, scope)
    before = lines(memory, scope, tmp_path)
    for _ in range(2):
        tally = memory.import_export(tmp_path / "acme-anna.jsonl", scope=scope)
        assert not tally.stored
        assert tally.already_there.total() == 8
    assert lines(memory, scope, tmp_path) == before


def test_what_was_imported_is_found_and_a_session_goes_on(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    fill(memory, scope)
    lines(memory, scope, tmp_path)
    memory.import_export(tmp_path / "acme-anna.jsonl", scope=ELSEWHERE)
    assert memory.drain() > 0
    assert memory.stats(scope=ELSEWHERE).without_vector == 0
    hit = memory.recall("ClickHouse", scope=ELSEWHERE, kinds=["message"], min_relevance=0)[0]
    assert hit.record.occurred is not None
    assert hit.record.occurred.iso() == "2026-04-02T09:00:00+03:00"
    memory.add("And then?", scope=ELSEWHERE, session="monday")
    assert [record.seq for record in memory.messages(scope=ELSEWHERE, session="monday")] == [1, 2, 4, 5]


def test_within_a_tenant_another_scope_gets_ids_of_its_own(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    note = fill(memory, scope)
    before = lines(memory, scope, tmp_path)
    for stored in (8, 0):
        assert memory.import_export(tmp_path / "acme-anna.jsonl", scope=BOB).stored.total() == stored
    after = lines(memory, BOB, tmp_path)
    ids = {
        old["id"]: next(new["id"] for new in after if (new.get("metadata") or {}).get(IMPORTED_ID) == old["id"])
        for old in before
        if old["kind"] != "session"
    }
    assert len(set(ids.values()) - ids.keys()) == len(ids) == 8
    assert sorted(line["seq"] for line in after if "seq" in line) == sorted(
        line["seq"] for line in before if "seq" in line
    )
    (of_bob,) = [line for line in after if line["text" if "text" in line else "name"] == "Anna moves databases"]
    (of_anna,) = [line for line in before if line["id"] == note]
    assert [(one["id"], one["start"], one["end"], one["role"]) for one in of_bob["sources"]] == sorted(
        [(ids[one["id"]], one["start"], one["end"], one["role"]) for one in of_anna["sources"]],
        key=lambda one: [source["id"] for source in of_bob["sources"]].index(one[0]),
    )
    memory.erase([one["id"] for one in of_anna["sources"]], scope=scope)
    assert memory.get(of_bob["id"], scope=BOB).text == "Anna moves databases", "another's erasure does not reach it"


def test_an_id_of_its_own_stays_when_the_other_scope_has_erased_its_record(
    memory: Memory, scope: Scope, tmp_path: Path
) -> None:
    said = memory.add(["one", "two"], scope=scope).ids
    lines(memory, scope, tmp_path)
    memory.import_export(tmp_path / "acme-anna.jsonl", scope=BOB)
    memory.erase(said, scope=scope)
    assert not memory.import_export(tmp_path / "acme-anna.jsonl", scope=BOB).stored
    assert [record.text for record in memory.messages(scope=BOB)] == ["one", "two"]


def test_an_erasure_reaches_what_was_imported_with_its_source(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    note = fill(memory, scope)
    lines(memory, scope, tmp_path)
    memory.import_export(tmp_path / "acme-anna.jsonl", scope=ELSEWHERE)
    (known,) = [line for line in lines(memory, ELSEWHERE, tmp_path) if line["id"] == note]
    memory.erase([one["id"] for one in known["sources"]], scope=ELSEWHERE)
    assert note not in [line["id"] for line in lines(memory, ELSEWHERE, tmp_path)]


def test_a_session_of_the_same_name_goes_on_with_what_is_imported(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    fill(memory, scope)
    lines(memory, scope, tmp_path)
    memory.add(
        [Message(role="user", content="Mine", key="m1"), Message(role="user", content="Too")],
        scope=ELSEWHERE,
        session="monday",
    )
    tally = memory.import_export(tmp_path / "acme-anna.jsonl", scope=ELSEWHERE)
    assert tally.already_there == {"messages": 1}, "its key is known"
    said = memory.messages(scope=ELSEWHERE, session="monday")
    assert [(record.seq, record.text) for record in said] == [(1, "Mine"), (2, "Too"), (3, "Noted"), (5, "Thanks")]
    (known,) = [
        line
        for line in lines(memory, ELSEWHERE, tmp_path)
        if line["text" if "text" in line else "name"] == "Anna moves databases"
    ]
    assert said[0].id in [one["id"] for one in known["sources"]], "what cites the record finds it under its id here"


def test_sources_that_come_later_in_the_file_are_linked(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    old = memory.remember("Old", scope=scope)
    new = memory.remember("New", "fact", scope=scope)
    later = [memory.remember(f"Note {n}", scope=scope).id for n in range(700)]
    memory.remember("Old", scope=scope, sources=[Source(kind="note", id=later[-1]), Source(kind="fact", id=new.id)])
    before = lines(memory, scope, tmp_path)
    for target in (ELSEWHERE, BOB):
        assert not memory.import_export(tmp_path / "acme-anna.jsonl", scope=target).reasons
    assert lines(memory, ELSEWHERE, tmp_path) == before
    (of_bob,) = [line for line in lines(memory, BOB, tmp_path) if line["text"] == "Old"]
    assert len(of_bob["sources"]) == 2
    assert old.id != of_bob["id"]


def test_a_source_that_is_not_there_is_named_and_the_item_kept(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    agent = Scope("acme", "anna", agent="coder")
    shared = memory.add("Said to all", scope=scope).id
    memory.remember("Known to one", scope=agent, sources=[Source(kind="message", id=shared)])
    memory.export(tmp_path / "agent.jsonl", scope=agent)
    memory.export(tmp_path / "shared.jsonl", scope=scope)
    target = Scope("globex", "anna", agent="coder")
    tally = memory.import_export(tmp_path / "agent.jsonl", scope=target)
    assert tally.stored == {"items": 1}
    assert tally.reasons == {"a source is not in this scope; the item was kept without it": 1}
    assert tally.skipped[0].detail == shared
    memory.import_export(tmp_path / "shared.jsonl", scope=target.shared())
    assert not memory.import_export(tmp_path / "agent.jsonl", scope=target).reasons
    assert [line["sources"][0]["id"] for line in lines(memory, target, tmp_path)] == [shared]


def test_what_was_erased_under_its_key_does_not_come_back(sqlite_url: str, scope: Scope, tmp_path: Path) -> None:
    with Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as memory:
        fill(memory, scope)
        lines(memory, scope, tmp_path)
        first = memory.messages(scope=scope, session="monday")[0]
        (document,) = memory.records(scope=scope, kind="document").records
        memory.erase([first.id, document.id], scope=scope)
        tally = memory.import_export(tmp_path / "acme-anna.jsonl", scope=scope)
        assert not tally.stored
        assert tally.reasons == {
            str(ErasedEarlier()): 2,
            "a source is not in this scope; the item was kept without it": 1,
        }


def test_an_id_that_is_another_record_here_is_refused_and_nothing_overwritten(memory: Memory, scope: Scope) -> None:
    known = memory.remember("Mine", scope=scope)
    forged = [
        {"kind": "note", "id": known.id, "text": "Forged", "trust": "person"},
        {"kind": "document", "id": known.id, "text": "Mine"},
        {"kind": "note", "text": "Honest"},
        {"kind": "note", "text": "honest."},
    ]
    restored = memory.import_records(forged, scope=scope)
    assert [(one.position, one.code) for one in restored.failed] == [(0, "conflict"), (1, "conflict")]
    assert [(one.position, one.is_new) for one in restored.written] == [(2, True), (3, False)]
    assert memory.get(known.id, scope=scope).text == "Mine"


def test_ids_twice_in_one_file_are_one_record_or_a_refusal(memory: Memory, scope: Scope) -> None:
    own = "01a22cdc-26b5-78fb-b08e-0abe8d4716b8"
    said = {"kind": "message", "id": own, "session": "s", "role": "user"}
    restored = memory.import_records([{**said, "text": "a"}, {**said, "text": "a"}, {**said, "text": "b"}], scope=scope)
    assert [entry.is_new for entry in restored.written] == [True, False]
    assert [(one.position, one.code) for one in restored.failed] == [(2, "conflict")]
    assert [record.text for record in memory.messages(scope=scope, session="s")] == ["a"]


def test_places_that_are_taken_are_given_anew_in_the_order_of_the_file(memory: Memory, scope: Scope) -> None:
    said = {"kind": "message", "session": "s", "session_id": "01a22cdc-26b5-78fb-b08e-0abe8d4716b8", "role": "user"}
    memory.import_records([{**said, "seq": 2, "text": "two"}, {**said, "seq": 9, "text": "nine"}], scope=scope)
    memory.import_records([{**said, "seq": 1, "text": "1"}, {**said, "seq": 2, "text": "2"}], scope=scope)
    memory.import_records([{**said, "seq": 5, "text": "five"}, {**said, "seq": None, "text": "last"}], scope=scope)
    found = [(record.seq, record.text) for record in memory.messages(scope=scope, session="s")]
    assert found == [(2, "two"), (9, "nine"), (10, "1"), (11, "2"), (12, "five"), (13, "last")]


def test_an_export_is_one_instant_whatever_is_written_meanwhile(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    memory.add([f"message {n}" for n in range(250)], scope=scope)
    written: list[str] = []

    def write(_: int) -> None:
        if len(written) < 3:
            written.extend(memory.add("meanwhile", scope=scope, session="late").ids)

    made = memory.export(tmp_path / "out.jsonl", scope=scope, progress=write)
    assert made.counts == {"message": 250, "session": 1}
    assert "meanwhile" not in (tmp_path / "out.jsonl").read_text()


def test_what_is_erased_during_an_export_is_in_no_file(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    ids = memory.add([f"message {n}" for n in range(5)], scope=scope).ids
    with pytest.raises(Conflict, match="export again"):
        memory.export(
            tmp_path / "out.jsonl", scope=scope, progress=lambda _: memory.erase(ids[0], scope=scope) and None
        )
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []
    assert memory.export(tmp_path / "out.jsonl", scope=scope).counts["message"] == 4


def test_the_file_is_its_owners_and_replaces_nothing_unasked(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    memory.add("secret of mine", scope=scope)
    memory.export(path, scope=scope)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(InvalidInput, match="is there already"):
        memory.export(path, scope=scope)
    for bad in (tmp_path, tmp_path / "no" / "out.jsonl", Path("/dev/null")):
        with pytest.raises(InvalidInput):
            memory.export(bad, scope=scope, overwrite=True)
    with pytest.raises(InvalidInput, match="unknown format"):
        memory.export(path, scope=scope, as_format="pdf", overwrite=True)  # type: ignore[arg-type]
    assert {file.name for file in tmp_path.iterdir()} - {"memory.db", "memory.db-wal", "memory.db-shm"} == {"out.jsonl"}


def test_a_scope_that_holds_nothing_is_an_export_without_lines(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    assert memory.export(tmp_path / "out.jsonl", scope=scope).counts == {}
    assert memory.import_export(tmp_path / "out.jsonl", scope=scope).stored.total() == 0
    memory.export(tmp_path / "out.md", scope=scope, as_format="markdown")
    assert "nothing" in (tmp_path / "out.md").read_text()


def test_a_person_can_read_the_markdown(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    fill(memory, scope)
    memory.add(
        Message(role="user", content="# no heading\r## of\nthe file", at="2026-05-01"), scope=scope, session="tuesday"
    )
    memory.export(tmp_path / "out.md", scope=scope, as_format="markdown")
    text = (tmp_path / "out.md").read_text("utf-8")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Memory of acme/anna/default",
        "## Session monday",
        "## Session tuesday",
        "## Documents",
        "### Runbook",
        "## Decisions",
        "## Notes",
    ]
    assert "*2026-04-02*\n\n**Anna** (user), 09:00\n\n> We move to ClickHouse\n" in text
    assert "**quote** (tool call, ok)" in text
    assert "> # no heading\n> ## of\n> the file\n" in text
    assert "> # Restore\n>\n> 40 minutes.\n" in text
    assert "> ClickHouse it is\n\n- 2026-04 · stated · high importance\n" in text
    assert "- source: Anna, 2026-04-02: We move to ClickHouse\n" in text
    assert "- source: document: # Restore 40 minutes.\n" in text


def test_a_store_on_the_other_database_gives_the_same_file(
    sqlite_url: str, postgres_url: str, scope: Scope, tmp_path: Path
) -> None:
    with Memory.open(sqlite_url, embedder=FakeEmbedder(), worker=False) as memory:
        fill(memory, scope)
        before = lines(memory, scope, tmp_path)
    with Memory.open(postgres_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.import_export(tmp_path / "acme-anna.jsonl", scope=scope)
        assert lines(memory, scope, tmp_path) == before


def test_a_file_that_is_no_export_is_refused(memory: Memory, scope: Scope, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "Hi"}\n')
    with pytest.raises(InvalidInput, match="is no export of retentia, it looks like jsonl"):
        memory.import_export(path, scope=scope)
    with pytest.raises(InvalidInput, match="not readable"):
        memory.import_export(tmp_path / "nowhere.jsonl", scope=scope)
