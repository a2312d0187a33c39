"""The command line as a person uses it: one line when something is wrong, never a traceback."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from retentia import Memory, Scope


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "retentia", *arguments], capture_output=True, text=True, check=False, cwd=folder
    )


def answer(*arguments: str, folder: Path) -> object:
    done = run(*arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in which two things are remembered."""
    place = tmp_path_factory.mktemp("cli")
    assert run("init", folder=place).stdout.startswith("created memory.db")
    assert "remembered" in run("remember", "The alarm code is changed every March", folder=place).stdout
    assert "remembered" in run("remember", "Der Gärtner kommt am Dienstag", "--kind", "fact", folder=place).stdout
    return place


def test_what_was_remembered_is_recalled_with_its_reason(folder: Path) -> None:
    done = run("recall", "When is the alarm code changed?", folder=folder)
    assert "The alarm code is changed every March" in done.stdout
    assert "relevance" in done.stdout
    found = answer("recall", "Gärtner", "--kind", "fact", folder=folder)
    assert isinstance(found, dict)
    assert [hit["text"] for hit in found["hits"]] == ["Der Gärtner kommt am Dienstag"]
    assert {"score", "signals", "reason", "spans", "tokens", "record"} <= found["hits"][0].keys()


def test_a_foreign_question_is_answered_with_nothing_and_the_reason(folder: Path) -> None:
    assert run("recall", "Who won the chess olympiad?", folder=folder).stdout.startswith("nothing: ")


def test_every_listing_and_report_has_json(folder: Path) -> None:
    listed = answer("list", "--kind", "note", folder=folder)
    assert isinstance(listed, dict)
    (record,) = listed["records"]
    shown = answer("show", record["id"], folder=folder)
    assert isinstance(shown, dict)
    assert shown["text"] == record["text"]
    counted = answer("stats", folder=folder)
    assert isinstance(counted, dict)
    assert counted["records"]["fact"] == 1
    examined = answer("doctor", folder=folder)
    assert isinstance(examined, list)
    assert {finding["level"] for finding in examined} <= {"ok", "note"}
    assert answer("jobs", folder=folder) == []
    context = answer("context", "What about the alarm?", folder=folder)
    assert isinstance(context, dict)


def test_reindexing_and_reembedding_say_what_they_did(folder: Path) -> None:
    assert answer("reindex", folder=folder) == {"records": 2}
    assert answer("reembed", "--to", "use", folder=folder) == {"passages": 0}


def test_a_worker_that_runs_once_also_does_what_lost_its_job(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "The ferry leaves at nine"}')
    run("ingest", "chat.jsonl", "--no-embed", folder=tmp_path)
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        connection.execute("DELETE FROM job")
        connection.commit()
    assert "done: 1 jobs" in run("worker", "--once", folder=tmp_path).stderr
    counted = answer("stats", folder=tmp_path)
    assert isinstance(counted, dict)
    assert counted["without_vector"] == 0


def test_erasing_asks_first(tmp_path: Path) -> None:
    run("init", folder=tmp_path)
    written = answer("remember", "Something private", folder=tmp_path)
    assert isinstance(written, dict)
    record_id = written["written"][0]["id"]
    refused = subprocess.run(
        [sys.executable, "-m", "retentia", "erase", record_id],
        input="n\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert refused.returncode != 0
    assert "Something private" in refused.stderr
    erased = answer("erase", record_id, "--yes", folder=tmp_path)
    assert isinstance(erased, dict)
    assert erased["removed"]["note"] == 1
    assert b"Something private" not in (tmp_path / "memory.db").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("recall", "x", "--store", "missing/memory.db"), "there is no folder"),
        (("recall", "x", "--store", "mistyped.db"), "there is no store 'mistyped.db'"),
        (("recall", "x", "--store", "mysql://localhost/x"), "is no store"),
        (("recall", "x", "--store", "notours.txt"), "is not a retentia store"),
        (("recall", "x", "--embedder", "nonsense"), "nonsense"),
        (("recall", "x", "--where", "{"), "take JSON"),
        (("recall", "x", "--where", '{"a": {"near": 1}}'), "near"),
        (("recall", "x", "--since", "next-ish"), "next-ish"),
        (("recall", "x", "--user", " "), "user"),
        (("show", "1234"), "1234"),
        (("show", "01a22bba-0d88-7dac-be70-ca9ad8961890"), "there is no record"),
        (("remember", "  "), "nothing to remember"),
        (("remember", "x", "--metadata", "[1]"), "JSON object"),
        (("list", "--after", "zzz"), "cursor"),
        (("jobs", "--retry", "01a22bba-0d88-7dac-be70-ca9ad8961890"), "there is no job"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_without_a_traceback(
    folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    (folder / "notours.txt").write_text("hello")
    done = run(*arguments, folder=folder)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    done = subprocess.run(
        f"{sys.executable} -m retentia list --kind note | head -c 1 > /dev/null",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert "Traceback" not in done.stderr


def test_the_audit_log_is_verified_and_its_head_is_kept(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False, audit=True) as memory:
        memory.add(["one", "two"], scope=Scope("local", "me"))
    head = run("audit", "head", folder=tmp_path).stdout.strip()
    assert "sound: 1 entries" in run("audit", "verify", "--head", head, folder=tmp_path).stdout
    (entry,) = cast("list[dict[str, object]]", answer("audit", "list", "--of-scope", "--limit", "5", folder=tmp_path))
    assert (entry["by"], entry["action"], entry["count"]) == ("owner", "write", 2)
    assert "owner" in run("audit", "list", folder=tmp_path).stdout
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        connection.execute("DROP TRIGGER audit_entry_is_not_removed")
        connection.execute("DELETE FROM audit_entry")
        connection.commit()
    done = run("audit", "verify", "--json", folder=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["first_wrong"]) == (1, 1)
    assert "retentia: '12' is no hash" in run("audit", "verify", "--head", "12", folder=tmp_path).stderr


def test_a_context_is_written_for_an_api_and_priced(folder: Path) -> None:
    openai = json.loads(run("context", "What about the alarm?", "--format", "openai", folder=folder).stdout)
    assert openai[-1] == {"role": "user", "content": "What about the alarm?"}
    written = run("context", "What about the alarm?", "--format", "anthropic", "--layout", "cache", folder=folder)
    assert json.loads(written.stdout)["system"][0]["cache_control"] == {"type": "ephemeral"}
    (folder / "prices.toml").write_text("[small]\ninput_per_million = 0.5\n", "utf-8")
    priced = answer(
        "context", "alarm?", "--price", "2,8,0.2", "--prices", "prices.toml", "--calls", "50", folder=folder
    )
    assert isinstance(priced, dict)
    assert priced["costs"].keys() == {"2,8,0.2", "small"}
    assert priced["costs"]["small"]["day"]["cost"] == pytest.approx(priced["total_tokens"] * 50 * 0.5e-6)
    shown = run("context", "alarm?", "--price", "2,8", "--explain", folder=folder).stdout
    assert "the whole session would take" in shown
    assert "with a cache" in shown
    wrong = run("context", "alarm?", "--price", "cheap", folder=folder)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (1, 1)
    assert "IN,OUT" in wrong.stderr


def test_why_shows_what_a_reply_saw_and_writes_its_prompt_again(tmp_path: Path) -> None:
    scope = Scope("local", "me")
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        memory.remember("The alarm code is changed every March", scope=scope)
        memory.add("When is the alarm code changed?", scope=scope)
        context = memory.context("When is the alarm code changed?", scope=scope)
        reply = memory.add({"role": "assistant", "content": "In March."}, scope=scope, context=context)
        plain = memory.add({"role": "assistant", "content": "Hello."}, scope=scope)
    shown = run("why", reply.id, folder=tmp_path).stdout
    assert shown.startswith(f"reply {reply.id}: In March.")
    assert "recalled" in shown
    assert f"{context.total_tokens} of 1500 tokens" in shown
    assert run("why", reply.id, "--replay", folder=tmp_path).stdout == context.text() + "\n"
    told = answer("why", reply.id, folder=tmp_path)
    assert isinstance(told, dict)
    assert told["manifest"]["tokens"] == context.total_tokens
    again = answer("why", reply.id, "--replay", folder=tmp_path)
    assert isinstance(again, dict)
    assert again["prompt"] == context.text()
    assert run("why", plain.id, folder=tmp_path).returncode == 1
