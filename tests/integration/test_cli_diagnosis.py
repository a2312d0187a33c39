"""The commands that diagnose an agent, as a person types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia.cli.main import cli

CALL = {"type": "function", "function": {"name": "find_order", "arguments": '{"id": "A-1742"}'}}
LOG = [
    {"role": "user", "content": "My order number is A-1742, when does it arrive?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", **CALL}]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"arrives": "Tuesday"}'},
    {"role": "assistant", "content": "It arrives on Tuesday."},
    {"role": "user", "content": "And where is it now?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c2", **CALL}]},
    {"role": "tool", "tool_call_id": "c2", "content": '{"arrives": "Tuesday"}'},
    {"role": "assistant", "content": "As you mentioned, your neighbour Petra takes the parcel in Leipzig."},
    {"role": "user", "content": "I already told you my number, and I never said that."},
]


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps({**line, "session": "a"}) + "\n" for line in LOG), "utf-8")
    return str(path)


def said(store: str, *arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(cli, [arguments[0], "--store", store, "--embedder", "none", *arguments[1:]], input=given)


def answered(store: str, *arguments: str, given: str | None = None) -> Any:
    result = said(store, *arguments, "--json", given=given)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_log_is_looked_through_without_a_store(tmp_path: Path, log: str) -> None:
    store = tmp_path / "none.db"
    report = answered(str(store), "amnesia", "--import", log, "--price", "3")
    assert [one["kind"] for one in report["symptoms"]] == [
        "repeated tool call",
        "claim that is nowhere",
        "complaint of the user",
    ]
    assert (report["sessions"], report["tool_calls"]) == (1, 2)
    assert report["cost"] == pytest.approx(3 * report["tokens"] / 1_000_000)
    assert report["symptoms"][0]["severity"] == "low"
    assert not store.exists()
    shown = said(str(store), "amnesia", "--import", log).stdout
    assert "claim that is nowhere" in shown
    assert "» As you mentioned, your neighbour Petra takes the parcel in Leipzig." in shown


def test_a_log_leaves_the_users_store_as_it_is(tmp_path: Path, log: str) -> None:
    store = str(tmp_path / "memory.db")
    said(store, "remember", "I like tea")
    before = Path(store).read_bytes()
    assert answered(store, "amnesia", "--import", log)["sessions"] == 1
    assert Path(store).read_bytes() == before
    assert answered(store, "list", "--kind", "message")["records"] == []


def test_stored_sessions_are_looked_through(tmp_path: Path, log: str) -> None:
    store = str(tmp_path / "memory.db")
    assert said(store, "ingest", log).exit_code == 0
    assert len(answered(store, "amnesia", "--session", "a")["symptoms"]) == 3
    assert answered(store, "amnesia", "--since", "2099")["symptoms"] == []
    assert "no symptoms of amnesia" in said(store, "amnesia", "--since", "2099").stdout
    assert said(store, "amnesia", "--session", "b").exit_code == 1


def test_claims_are_checked_from_the_command_line(tmp_path: Path, log: str) -> None:
    store = str(tmp_path / "memory.db")
    said(store, "ingest", log)
    text = "You told me that your order number is A-1742."
    (one,) = answered(store, "check-claims", text)
    assert one["verdict"] == "stored but not shown"
    assert one["evidence"]["text"] == LOG[0]["content"]
    (one,) = answered(store, "check-claims", "-", "--session", "a", given=text)
    assert one["verdict"] == "in context"
    shown = said(store, "check-claims", "As I mentioned.").stdout
    assert "no verdict" in shown
    assert "no claims about the past" in said(store, "check-claims", "It rains.").stdout


def test_a_file_that_is_no_log_is_told(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b"\x00\xff\x00not a log\n")
    result = said(str(tmp_path / "none.db"), "amnesia", "--import", str(path))
    assert result.exit_code == 0
    assert "skipped: 1" in result.stderr
    assert "no symptoms of amnesia in 0 sessions" in result.stdout
