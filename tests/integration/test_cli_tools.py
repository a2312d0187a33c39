"""The commands about tool calls, as a person types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia import Memory, Scope, ToolCall
from retentia.cli.main import cli
from retentia.errors import InvalidInput, NotFound

TSLA = '{"symbol": "TSLA"}'


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    with Memory.open(path, embedder=None, worker=False) as memory:
        for day, price in (("2026-06-01", 213.0), ("2026-06-04", 218.4)):
            call = ToolCall(name="get_price", arguments={"symbol": "TSLA"}, result={"price": price}, at=day)
            memory.log_tool_call(call, scope=Scope("local", "me"))
        failed = ToolCall(name="get_news", status="error", error="HTTP 503 from example.org")
        memory.log_tool_call(failed, scope=Scope("local", "me"), session="news")
    return path


def said(store: str, name: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["tools", name, "--store", store, "--embedder", "none", *arguments])


def answered(store: str, name: str, *arguments: str) -> Any:
    result = said(store, name, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_seen_tells_the_decision_and_where_the_whole_result_is(store: str) -> None:
    found = answered(store, "seen", "get_price", ' {"symbol":"TSLA"} ')
    assert (found["decision"], found["count"], found["status"]) == ("CallAgain", 2, "ok")
    assert found["condensed"] == '{"price":218.4}'
    assert answered(store, "result", found["id"]) == {"price": 218.4}
    assert "called 2 times" in said(store, "seen", "get_price", TSLA).output
    assert "still holds" in said(store, "seen", "get_price", TSLA, "--fresh-for", "1e9").output
    assert answered(store, "seen", "get_price", '{"symbol": "NVDA"}')["decision"] == "NeverSeen"
    assert "was not called like this before" in said(store, "seen", "get_price").output


def test_log_series_and_failures_print_tables_and_json(store: str) -> None:
    assert [one["name"] for one in answered(store, "log")] == ["get_news", "get_price", "get_price"]
    assert len(answered(store, "log", "--name", "get_price", "--limit", "1")) == 1
    assert [one["name"] for one in answered(store, "log", "--session", "news")] == ["get_news"]
    assert "get_news" in said(store, "log").output
    found = answered(store, "series", "get_price", TSLA, "--path", "price")
    assert [point["value"] for point in found["points"]] == [213.0, 218.4]
    assert found["change"] == pytest.approx(5.4)
    assert "+5.4" in said(store, "series", "get_price").output
    assert "no such value" in said(store, "series", "get_price", "--path", "volume").output
    (failure,) = answered(store, "failures")
    assert (failure["cause"], failure["count"]) == ("HTTP 503", 1)
    assert "HTTP 503" in said(store, "failures").output
    assert "HTTP 503" in said(store, "result", failure["id"]).output


def test_rules_are_shown_set_and_reset(store: str, tmp_path: Path) -> None:
    shipped = answered(store, "rules")
    own = tmp_path / "rules.toml"
    own.write_text('[[rule]]\nname = "our prices"\ntools = ["get_price"]\nholds = "4000 days"\n', "utf-8")
    assert answered(store, "rules", "--set", str(own))[0]["name"] == "our prices"
    assert answered(store, "seen", "get_price", TSLA)["decision"] == "Reuse"
    assert "our prices" in said(store, "rules").output
    assert answered(store, "rules", "--reset") == shipped
    assert said(store, "rules", "--reset", "--set", str(own)).exit_code == 2
    own.write_text("[[rule]", "utf-8")
    assert isinstance(said(store, "rules", "--set", str(own)).exception, InvalidInput)


def test_what_cannot_be_read_is_refused(store: str) -> None:
    assert isinstance(said(store, "seen", "get_price", "{symbol").exception, InvalidInput)
    assert isinstance(said(store, "result", "0" * 32).exception, NotFound)


def test_recall_prints_that_there_is_a_newer_result(store: str) -> None:
    found = CliRunner().invoke(
        cli, ["recall", "get_price TSLA", "--store", store, "--embedder", "none", "--min-relevance", "0"]
    )
    assert "newer: this result is from" in found.output
