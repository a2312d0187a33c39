"""The commands about what is believed, what happened and what changed, as a person types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia import Memory, Principal, Scope
from retentia.cli.main import cli
from retentia.errors import Conflict

ME = Scope("local", "me")
SAID = [
    "Hi, my name is Alice and I live in Berlin.",
    "Actually my name is Alex, not Alice.",
    "I moved to Lviv.",
    "I'll send the report by Friday.",
    "When you review code, list security issues first.",
    "We decided to use ClickHouse, because the weekly report took 40 seconds.",
]


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    with Memory.open(path, embedder=None, worker=False) as memory:
        for text in SAID:
            memory.add(text, scope=ME)
        agent = memory.acting_as(Principal(id="key-1", role="agent", tenant="local", user="me"))
        agent.facts.set("home", "Kyiv", scope=ME)
    return path


def said(store: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [arguments[0], "--store", store, "--embedder", "none", *arguments[1:]])


def answered(store: str, *arguments: str) -> Any:
    result = said(store, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_profile_shows_what_is_believed_and_that_something_waits(store: str) -> None:
    told = answered(store, "profile")
    assert told["values"] == {"name": ["Alex"], "home": ["Lviv"]}
    shown = said(store, "profile").stdout
    assert "Lviv" in shown
    assert "Kyiv" not in shown
    assert "1 more waits for your decision: `retentia inbox`" in shown
    assert answered(store, "profile", "--as-of", "2001")["values"] == {}


def test_the_inbox_shows_the_words_the_reason_what_is_against_it_and_how_to_decide(store: str) -> None:
    (proposal,) = answered(store, "inbox")
    shown = said(store, "inbox").stdout
    record_id = proposal["belief"]["record"]["id"]
    for part in ("home: Kyiv", "said:", "waits because", "against: home: Lviv (stated)"):
        assert part in shown
    assert f"retentia confirm {record_id}" in shown
    assert "home: Kyiv (confirmed" in said(store, "confirm", record_id).stdout
    assert answered(store, "profile")["values"]["home"] == ["Kyiv"]
    assert said(store, "inbox").stdout.strip() == "nothing waits for a decision"


def test_what_is_rejected_is_gone_from_the_inbox_and_stays_in_the_history_with_the_reason(store: str) -> None:
    (proposal,) = answered(store, "inbox")
    record_id = proposal["belief"]["record"]["id"]
    assert "rejected" in said(store, "reject", record_id, "--reason", "never lived there").stdout
    assert answered(store, "inbox") == []
    assert "rejected by user: never lived there" in said(store, "history", "home").stdout


def test_correct_narrow_and_retract_answer_with_what_holds_now(store: str) -> None:
    (home,) = [one for one in answered(store, "profile")["beliefs"] if one["claim"]["attribute"] == "home"]
    corrected = answered(store, "correct", home["record"]["id"], "Odesa")
    assert (corrected["claim"]["value"], corrected["record"]["status"]) == ("Odesa", "confirmed")
    narrowed = answered(store, "narrow", corrected["record"]["id"], "in summer")
    assert narrowed["claim"]["applies_to"] == "in summer"
    assert "retracted" in said(store, "retract", narrowed["record"]["id"]).stdout
    assert "home" not in answered(store, "profile")["values"]


def test_a_decision_about_an_older_version_is_refused(store: str) -> None:
    (home,) = [one for one in answered(store, "profile")["beliefs"] if one["claim"]["attribute"] == "home"]
    result = said(store, "retract", home["record"]["id"], "--expected-version", "9")
    assert isinstance(result.exception, Conflict)


def test_history_tells_each_change_and_why(store: str) -> None:
    shown = said(store, "history", "name").stdout
    assert "name: Alice: stated" in shown
    assert "corrected by user: the person corrected it" in shown
    assert [one["claim"]["value"] for one in answered(store, "history", "name")] == ["Alice", "Alex"]


def test_episodes_open_items_and_procedures_are_answered(store: str) -> None:
    found = answered(store, "episodes", "What did we decide?")
    assert [one["record"]["text"] for one in found["episodes"]] == [SAID[5]]
    assert answered(store, "episodes", "--when", "last month")["episodes"] == []
    assert "ClickHouse" in said(store, "episodes", "the weekly report").stdout
    (report,) = answered(store, "open-items")
    assert "send the report" in said(store, "open-items").stdout
    assert "done: send the report" in said(store, "close", report["record"]["id"]).stdout
    assert answered(store, "open-items") == []
    assert "security issues" in said(store, "procedures", "review my code").stdout
    assert answered(store, "procedures", "book a table") == []


def test_all_that_is_remembered_is_listed_in_pages(store: str) -> None:
    page = answered(store, "remembered", "--limit", "2")
    assert [one["says"] for one in page["entries"]] == ["name: Alex", "home: Lviv"]
    shown = said(store, "remembered", "--limit", "2").stdout
    assert f"`retentia remembered --after {page['cursor']}`" in shown
    assert "stated, applies everywhere, from" in shown
    assert "6 message" in shown


def test_changes_come_with_a_cursor_to_go_on_from(store: str) -> None:
    feed = answered(store, "changes")
    assert feed["is_complete"]
    assert answered(store, "changes", "--after", feed["cursor"])["entries"] == []
    said(store, "remember", "The printer is on the second floor")
    assert "note" in said(store, "changes", "--after", feed["cursor"]).stdout


def test_remember_answers_with_how_it_is_held(store: str) -> None:
    shown = said(store, "remember", "Use British spelling", "--kind", "procedure").stdout
    assert "stated, applies everywhere" in shown
    assert "review" in shown or "kept until" in shown
