"""`retentia ingest` as people run it: real files, a real store."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia.cli.ingest import FORMATS, ingest
from retentia.cli.intake import BATCH_MESSAGES, Intake
from retentia.errors import StoreFull
from retentia.ingest import Format, IngestMessage, Item, read
from retentia.memory import Memory
from retentia.model.message import Message
from retentia.model.scope import Scope
from retentia.store import scopes

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ingest"
EXAMPLES = Path(__file__).parents[2] / "examples"
ME = Scope("local", "me")
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(*args: object, embedder: str = "none") -> Result:
        store = ["--store", str(tmp_path / "memory.db"), "--embedder", embedder]
        return CliRunner().invoke(ingest, [*map(str, args), *store], catch_exceptions=False)

    return invoke


def answer(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def chat(path: Path, count: int) -> Path:
    lines = [json.dumps({"role": "user", "content": f"message number {n}"}) for n in range(count)]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_the_examples_are_stored_whole_and_a_second_time_only_recognised(run: Run) -> None:
    first = answer(run(EXAMPLES / "chats", EXAMPLES / "documents", "--json"))
    assert first["complete"]
    assert first["stored"] == {"messages": 203, "tool calls": 2, "documents": 1, "items": 0}
    assert first["skipped"] == 0
    second = answer(run(EXAMPLES / "chats", EXAMPLES / "documents", "--json"))
    assert second["stored"] == {"messages": 0, "tool calls": 0, "documents": 0, "items": 0}
    assert second["already_there"] == first["stored"]


def test_messages_arrive_in_order_with_their_times_and_calls(run: Run, tmp_path: Path) -> None:
    run(EXAMPLES / "chats" / "en_project.jsonl")
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        found = memory.messages(scope=ME, session="en_project/review")
    assert [record.key for record in found] == [f"en-{number:03}" for number in range(42, 62)]
    assert found[0].occurred is not None
    assert found[0].occurred.local_day() == 20260313
    assert found[1].parts["tool_calls"]


def test_what_was_skipped_is_counted_by_reason_and_shown(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"role": "user", "content": "kept"}\n' + "{not json}\n" * 30 + '{"role": "user"}\n')
    result = run(FIXTURES / "chatgpt_conversations.json", broken)
    assert "stored: 6 messages, 1 tool calls" in result.stdout
    assert "skipped: 35" in result.stdout
    assert "  30 × broken JSON\n" in result.stdout
    assert f"  {broken}:2: broken JSON (Expecting property name enclosed in double quotes" in result.stdout
    assert "the first 10 of them:" in result.stdout
    assert answer(run(broken, "--json"))["first_skipped"][0]["where"] == f"{broken}:2"


def test_a_run_that_takes_nothing_in_fails(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"")
    result = run(empty)
    assert result.exit_code == 1
    assert f"  {empty}: the file is empty" in result.stdout


def test_a_path_that_does_not_exist_is_refused_before_anything_is_written(run: Run, tmp_path: Path) -> None:
    result = run(tmp_path / "nowhere.jsonl")
    assert result.exit_code == 2
    assert "does not exist" in result.output
    assert not (tmp_path / "memory.db").exists()


def test_a_secret_is_masked_and_mentioned(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "my key is AKIAIOSFODNN7EXAMPLE, keep it"}\n')
    result = run(path)
    assert "note: a secret was masked" in result.stdout
    assert b"AKIAIOSFODNN7EXAMPLE" not in (tmp_path / "memory.db").read_bytes()


def test_a_message_the_memory_refuses_costs_only_itself(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines: list[dict[str, object]] = [{"role": "user", "content": "short", "name": "x" * 5_000}]
    path.write_text(json.dumps(lines[0]) + "\n")
    assert run(path).exit_code == 1, "alone"
    lines.append({"role": "user", "content": "kept"})
    path.write_text("\n".join(map(json.dumps, lines)))
    result = run(path)
    assert result.exit_code == 0
    assert "stored: 1 messages" in result.stdout
    assert f"{path}:1: the speaker may have" in result.stdout


def test_new_passages_are_embedded_unless_that_is_left_for_later(run: Run, tmp_path: Path) -> None:
    path = chat(tmp_path / "chat.jsonl", 20)
    later = run(path, "--no-embed", embedder="use")
    assert "20 passages are found by words only until they are embedded" in later.stdout
    assert answer(run(path, "--json", embedder="use"))["without_vector"] == 0


def test_the_zone_is_used_for_times_without_one(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "late", "timestamp": "2026-06-01 23:30"}\n')
    run(path, "--zone", "America/New_York")
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        (found,) = memory.messages(scope=ME, session="chat")
    assert found.occurred is not None
    assert (found.occurred.zone, found.occurred.local_day()) == ("America/New_York", 20260601)


def test_every_format_can_be_named() -> None:
    assert ("auto", *(entry.value for entry in Format)) == FORMATS


def test_a_full_disk_keeps_the_batches_before_it(tmp_path: Path) -> None:
    def items() -> Iterator[Item]:
        yield from read([chat(tmp_path / "chat.jsonl", BATCH_MESSAGES + 10)])
        raise StoreFull

    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        intake = Intake(memory, ME)
        with pytest.raises(StoreFull):
            intake.take(items())
        assert intake.tally.stored["messages"] == len(memory.messages(scope=ME, session="chat")) == BATCH_MESSAGES


def test_interleaved_sessions_keep_their_own_order(tmp_path: Path) -> None:
    items = [
        IngestMessage(where=f"x:{n}", session=f"s{n % 3}", message=Message(role="user", content=str(n), key=str(n)))
        for n in range(1_300)
    ]
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        intake = Intake(memory, ME)
        intake.take(items)
        assert intake.tally.stored["messages"] == 1_300
        for place in range(3):
            said = [int(record.text) for record in memory.messages(scope=ME, session=f"s{place}")]
            assert said == list(range(place, 1_300, 3))


def test_small_sessions_share_transactions(tmp_path: Path) -> None:
    items = [
        IngestMessage(where=f"x:{n}", session=f"s{n // 5}", message=Message(role="user", content=str(n), key=str(n)))
        for n in range(3 * BATCH_MESSAGES)
    ]
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        Intake(memory, ME).take(items)
        assert [record.text for record in memory.messages(scope=ME, session="s7")] == [str(n) for n in range(35, 40)]
        with memory._database.read(ME.tenant) as transaction:
            (entry,) = scopes.view(transaction, ME)
        assert entry.version == 3, "each transaction gives the scope its next version"
        again = Intake(memory, ME)
        again.take(items)
        assert (again.tally.stored.total(), again.tally.already_there.total()) == (0, 3 * BATCH_MESSAGES)


def test_a_session_of_which_nothing_can_be_kept_costs_only_itself(tmp_path: Path) -> None:
    def said(session: str, content: str) -> IngestMessage:
        return IngestMessage(
            where=f"{session}: {content!r}", session=session, message=Message(role="user", content=content)
        )

    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        intake = Intake(memory, ME)
        intake.take([said("a", "kept"), said("b", " "), said("b", ""), said("c", "kept"), said("a", "")])
        assert intake.tally.stored["messages"] == 2
        assert [skipped.where for skipped in intake.tally.skipped] == ["b: ' '", "b: ''", "a: ''"]
        intake.take([said("b", " "), said("d", "")])
        assert [skipped.where for skipped in intake.tally.skipped][3:] == ["b: ' '", "d: ''"]
        assert {session.name for session in memory.sessions(scope=ME)} == {"a", "c"}


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = chat(tmp_path / "chat.jsonl", 60_000)
    store = tmp_path / "memory.db"
    command = [
        sys.executable,
        "-m",
        "retentia",
        "ingest",
        str(path),
        "--store",
        str(store),
        "--embedder",
        "none",
        "--json",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (store.exists() and _stored(store)):
            pass
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the command again to go on" in err
    assert "Traceback" not in err
    interrupted = json.loads(out)
    assert not interrupted["complete"]
    before = interrupted["stored"]["messages"]
    assert 0 < before < 60_000
    path.write_text("\n".join(path.read_text().splitlines()[: before + 1_000]))
    resumed = subprocess.run(command, capture_output=True, text=True, check=True)
    again = json.loads(resumed.stdout)
    assert again["already_there"]["messages"] >= before
    assert again["stored"]["messages"] + again["already_there"]["messages"] == before + 1_000


def _stored(store: Path) -> bool:
    with Memory.open(store, embedder=None, worker=False) as memory:
        return bool(memory.sessions(scope=ME))
