"""`retentia advise`, as a person types it."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia import Memory, Message, Scope
from retentia.cli.main import cli
from retentia.errors import InvalidInput

ME = Scope("local", "me")


def said(store: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["advise", "--store", str(store), "--embedder", "none", *arguments])


def answered(store: Path, *arguments: str) -> Any:
    result = said(store, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def conversation(messages: int, **more: object) -> dict[str, object]:
    roles = ("user", "assistant")
    said = [{"role": roles[place % 2], "content": f"Number {place}, please."} for place in range(messages)]
    return {"messages": said, **more}


def log_of(folder: Path, *conversations: dict[str, object]) -> str:
    path = folder / "chat.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in conversations), "utf-8")
    return str(path)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=None, worker=False) as memory:
        for day in range(2):
            memory.add(
                [Message(role="user", content=f"Number {one}.") for one in range(45)], scope=ME, session=f"{day}"
            )
    return path


def test_a_person_sees_the_ladder_the_next_rung_and_the_number_that_decides(store: Path) -> None:
    shown = said(store).stdout.splitlines()
    assert shown[0] == (
        "local/me/default: sessions: 2, people: 1 (came back: 1); messages in a session: median 45, at most 45"
    )
    ladder = [line.split("  ")[1].strip() for line in shown if line.startswith("  ")]
    assert [line[:2] for line in ladder if line.startswith(("→", "●"))] == ["→ ", "● "]
    assert any("→ session records" in line and "people who came back 1 (≥ 1)" in line for line in shown)
    assert "next: session records: what the latest sessions were about, and what stayed open" in shown
    assert any("not needed" in line and "sessions of whoever came most often 2 (< 4)" in line for line in shown)


@pytest.mark.parametrize(
    ("language", "word"), [("de", "als Nächstes: Sitzungsprotokolle"), ("uk", "далі: записи сесій")]
)
def test_it_is_told_in_other_languages(store: Path, language: str, word: str) -> None:
    assert word in said(store, "--language", language).stdout


def test_programs_get_the_same_as_numbers(store: Path) -> None:
    found = answered(store)
    assert (found["rung"], found["next"], found["traffic"]["messages"]) == ("sessions", "sessions", 45)
    summary = next(one for one in found["layers"] if one["name"] == "summary")
    assert summary["stand"] == "on"
    assert summary["readings"] == [
        {
            "layer": "summary",
            "measure": "messages",
            "value": 45,
            "comparison": ">=",
            "threshold": 30,
            "holds": True,
        }
    ]


def test_the_layers_in_use_and_the_thresholds_can_be_ones_own(store: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[facts]\nsessions_of_one = 2\n", "utf-8")
    assert answered(store, "--on", "buffer")["next"] == "summary"
    found = answered(store, "--on", "summary", "--on", "sessions", "--thresholds", str(own))
    assert found["next"] == "facts"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("[summary]\nmessages = nan\n", "number above 0, not nan"),
        ("[summary]\nmessages = -3\n", "number above 0, not -3"),
        ("[sumary]\nmessages = 3\n", "no thresholds of 'sumary'"),
        ("[summary\n", "is no TOML"),
    ],
)
def test_thresholds_that_cannot_be_used_are_refused(store: Path, tmp_path: Path, written: str, why: str) -> None:
    own = tmp_path / "own.toml"
    own.write_text(written, "utf-8")
    result = said(store, "--thresholds", str(own))
    assert isinstance(result.exception, InvalidInput)
    assert why in str(result.exception)


def test_a_log_is_advised_on_without_a_store(tmp_path: Path) -> None:
    store = tmp_path / "none.db"
    once = [conversation(4, user_id=f"u{place}") for place in range(9)]
    found = answered(store, "--import", log_of(tmp_path, *once))
    assert (found["traffic"]["people"], found["traffic"]["one_off_share"], found["next"]) == (9, 1.0, None)
    long = answered(store, "--import", log_of(tmp_path, conversation(45, user_id="u1")))
    assert (long["next"], long["rung"]) == ("summary", "summary")
    back = answered(store, "--import", log_of(tmp_path, *(conversation(4 + one, user_id="u1") for one in range(3))))
    assert (back["next"], back["traffic"]["returning_people"]) == ("sessions", 1)
    assert not store.exists()


def test_symptoms_in_a_log_are_told_with_what_cures_them(tmp_path: Path) -> None:
    talk: list[dict[str, str]] = [
        {"role": "user", "content": "My number is A-1742."},
        {"role": "assistant", "content": "What is your number?"},
        {"role": "user", "content": "I already told you my number."},
    ]
    log = log_of(tmp_path, {"messages": talk})
    assert "seen 1 times: complaint of the user; cure: facts and profile" in said(tmp_path, "--import", log).stdout


def test_a_file_without_messages_and_a_person_who_is_not_there_are_told(store: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    for arguments in (["--import", str(empty)], ["--user", "nobody"], ["--tenant", "none", "--whole-tenant"]):
        result = said(store, *arguments)
        assert result.exit_code == 0
        assert "nothing is stored here yet" in result.stdout
    assert answered(store, "--user", "nobody")["next"] is None
