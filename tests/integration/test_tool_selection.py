"""Tools that are registered once are selected by what a request needs, and by what served before; on both databases."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from retentia import Memory, Scope, ToolCall
from retentia.cli.main import cli
from retentia.errors import AccessDenied, InvalidInput, NotFound
from retentia.security.access import Principal
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")
CODER = Scope("acme", "anna", agent="coder")
TOOLS = [
    {"name": "get_weather", "description": "Look up the weather of a city."},
    {"name": "draw_chart", "description": "Draw a chart of figures."},
    {"name": "send_mail", "description": "Send a mail to somebody."},
    {"name": "find_flights", "description": "Find flights between two airports."},
]


def names(memory: Memory, request: str, k: int = 2, *, scope: Scope = ME) -> list[str]:
    return [one.name for one in memory.tools.select(request, k, scope=scope)]


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as opened:
        opened.tools.register(TOOLS, scope=ME)
        opened.drain()
        yield opened


def test_the_tool_that_a_request_needs_comes_first_with_its_reason_and_schema(memory: Memory) -> None:
    found = memory.tools.select("look up the weather in Kyiv", 2, scope=ME)
    assert found[0].name == "get_weather"
    assert found[0].schema == TOOLS[0]
    assert "shares words with the request" in found[0].reason
    assert found.schemas[0] == TOOLS[0]
    assert found.registered == len(TOOLS)
    assert 0 < found.tokens < found.all_tokens


def test_a_tool_is_found_before_it_is_embedded(store_url: str) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.tools.register(TOOLS, scope=ME)
        assert names(memory, "look up the weather", 1) == ["get_weather"]


def test_registering_the_same_again_changes_nothing(memory: Memory) -> None:
    again = memory.tools.register(TOOLS, scope=ME)
    assert (again.new, again.changed, len(again.known)) == ((), (), len(TOOLS))
    assert memory.drain() == 0


def test_a_tool_that_changed_takes_the_place_of_what_it_was(memory: Memory) -> None:
    changed = {"name": "get_weather", "description": "Rent a bicycle."}
    assert memory.tools.register([changed], scope=ME).changed == ("get_weather",)
    memory.drain()
    assert names(memory, "rent a bicycle", 1) == ["get_weather"]
    assert len(memory.tools.registered(scope=ME)) == len(TOOLS)
    assert memory.tools.select("rent a bicycle", 1, scope=ME)[0].schema == changed


def test_some_are_in_every_selection_beside_the_k_best(memory: Memory) -> None:
    memory.tools.register([*TOOLS, {"name": "ask_person"}], scope=ME, always=["ask_person"])
    assert set(names(memory, "look up the weather", 1)) == {"get_weather", "ask_person"}
    assert names(memory, "look up the weather", 0) == ["ask_person"]
    named = memory.tools.select("look up the weather", 1, scope=ME, always=["send_mail"])
    assert {one.name for one in named if one.is_always} == {"ask_person", "send_mail"}


def test_a_selection_never_exceeds_k_and_what_is_always_in(memory: Memory) -> None:
    for k in range(7):
        assert len(names(memory, "send the chart of the weather", k)) == min(k, len(TOOLS))


def test_what_served_a_request_is_selected_for_one_like_it(memory: Memory) -> None:
    before = names(memory, "how is it outside", 4).index("find_flights")
    memory.tools.used("how is it outside", ["find_flights"], scope=ME)
    memory.drain()
    found = memory.tools.select("how is it outside", 4, scope=ME)
    assert [one.name for one in found].index("find_flights") == 0 <= before
    assert "served 1 similar request" in found[0].reason


def test_a_request_that_was_served_is_known_by_all_its_words_and_nothing_else(memory: Memory) -> None:
    memory.tools.used("how is\nit outside", ["find_flights"], scope=ME)
    memory.drain()
    (one,) = (one for one in memory.tools.select("how is it outside", 4, scope=ME) if one.name == "find_flights")
    assert one.signals["past"] > 0.3 + 1.4  # as like as can be: the whole of its vote, and the nearest
    assert one.signals["past"] < 0.3 + 1.5


def test_a_logged_call_that_succeeded_teaches_until_its_request_is_erased(memory: Memory) -> None:
    asked = memory.add({"role": "user", "content": "how is it outside"}, scope=ME, session="s").id
    memory.log_tool_call(ToolCall(name="send_mail", arguments={}, result="sent"), scope=ME, session="s")
    failed = ToolCall(name="draw_chart", arguments={}, status="error", error="no figures")
    memory.log_tool_call(failed, scope=ME, session="s")
    memory.drain()
    scores = {one.name: one.signals["past"] for one in memory.tools.select("how is it outside", 4, scope=ME)}
    assert scores["send_mail"] > 0
    assert scores["draw_chart"] == 0
    memory.erase([asked], scope=ME)
    scores = {one.name: one.signals["past"] for one in memory.tools.select("how is it outside", 4, scope=ME)}
    assert scores["send_mail"] == 0


def test_an_agent_has_its_own_tools_beside_the_shared_ones(memory: Memory) -> None:
    own = {"name": "get_weather", "description": "Look up the weather on Mars."}
    memory.tools.register([own, {"name": "run_code"}], scope=CODER)
    memory.drain()
    assert len(memory.tools.registered(scope=CODER)) == len(TOOLS) + 1
    assert memory.tools.select("weather", 1, scope=CODER)[0].schema == own
    assert "run_code" not in names(memory, "run code", 9)
    assert memory.tools.select("weather", 3, scope=Scope("acme", "bob")).tools == ()


def test_tools_of_one_name_are_told_apart_by_their_server(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="two tools are called"):
        memory.tools.register([TOOLS[0], TOOLS[0]], scope=ME)
    memory.tools.register([TOOLS[0]], scope=ME, server="sky")
    assert [one.server for one in memory.tools.registered(scope=ME) if one.name == "get_weather"] == ["", "sky"]
    memory.tools.forget("get_weather", scope=ME, server="sky")
    assert [one.server for one in memory.tools.registered(scope=ME) if one.name == "get_weather"] == [""]


def test_a_forgotten_tool_is_gone_and_may_be_registered_again(memory: Memory) -> None:
    memory.tools.forget("get_weather", scope=ME)
    assert "get_weather" not in names(memory, "weather", 9)
    with pytest.raises(NotFound):
        memory.tools.forget("get_weather", scope=ME)
    assert memory.tools.register([TOOLS[0]], scope=ME).new == ("get_weather",)


def test_a_tool_that_came_back_from_the_bin_beside_its_successor_goes_with_it(memory: Memory) -> None:
    (found,) = (one for one in memory.tools.registered(scope=ME) if one.name == "get_weather")
    removed = memory.forget(memory.plan_forgetting(ids=[found.id], scope=ME), undo_for=timedelta(hours=1))
    memory.tools.register([TOOLS[0]], scope=ME)
    memory.keeping.restore(removed.id, scope=ME)
    assert [one.name for one in memory.tools.registered(scope=ME)].count("get_weather") == 1
    memory.tools.forget("get_weather", scope=ME)
    assert "get_weather" not in [one.name for one in memory.tools.registered(scope=ME)]


def test_exactly_these_tools_replace_what_was_there(memory: Memory) -> None:
    done = memory.tools.register(TOOLS[:2], scope=ME, replace=True)
    assert set(done.removed) == {"send_mail", "find_flights"}
    assert {one.name for one in memory.tools.registered(scope=ME)} == {"get_weather", "draw_chart"}


def test_a_recall_and_a_context_do_not_show_tools(memory: Memory) -> None:
    memory.add("The weather in Kyiv is fine", scope=ME)
    memory.drain()
    assert {hit.record.kind for hit in memory.recall("weather of a city", scope=ME, min_relevance=0)} == {"message"}
    assert "Look up the weather" not in memory.context("weather", scope=ME).text()
    assert memory.recall("weather of a city", scope=ME, kinds=["tool"], min_relevance=0)[0].record.kind == "tool"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda memory: memory.tools.select("x", -1, scope=ME),
        lambda memory: memory.tools.used("x", ["no_such"], scope=ME),
        lambda memory: memory.tools.used(" ", ["get_weather"], scope=ME),
        lambda memory: memory.tools.used("x", [], scope=ME),
        lambda memory: memory.tools.register(TOOLS, scope=ME, always=["no_such"]),
        lambda memory: memory.remember("get_weather", "tool", scope=ME),
    ],
)
def test_what_cannot_be_is_refused(memory: Memory, wrong: Any) -> None:
    with pytest.raises(InvalidInput):
        wrong(memory)


def test_a_principal_selects_and_registers_by_its_rights(memory: Memory) -> None:
    agent = memory.acting_as(Principal(id="k1", role="agent", tenant="acme", user="anna", agent="coder"))
    agent.tools.register([{"name": "run_code"}], scope=CODER)
    assert agent.tools.select("run the code", 1, scope=CODER)[0].name == "run_code"
    agent.tools.forget("run_code", scope=CODER)
    for ask in (
        lambda: agent.tools.select("x", scope=Scope("acme", "bob")),
        lambda: agent.tools.register(TOOLS, scope=Scope("acme", "bob")),
    ):
        with pytest.raises(AccessDenied):
            ask()


def test_secrets_in_a_schema_are_masked(memory: Memory) -> None:
    secret = "sk-proj-" + "a1B2" * 8
    memory.tools.register([{"name": "call_api", "description": f"Call it with {secret}"}], scope=ME)
    found = memory.tools.select("call the api", 1, scope=ME)
    assert secret not in repr(found)
    assert secret not in repr(memory.records(scope=ME, kind="tool").records)


def test_the_commands_register_list_select_teach_and_forget(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        given = ["tools", *arguments, "--store", str(tmp_path / "memory.db")]
        return CliRunner().invoke(cli, given, catch_exceptions=False).output

    file = tmp_path / "tools.json"
    file.write_text(json.dumps([*TOOLS, {"name": "bare"}]), "utf-8")
    output = run("register", str(file), "--always", "send_mail")
    assert output.startswith("5 new, 0 changed, 0 as they were, 0 erased")
    assert "without a description: bare" in output
    assert "send_mail (always in)" in run("list")
    assert "get_weather" in run("select", "look up the weather in Kyiv", "-k", "1").splitlines()[0]
    assert run("used", "how is it outside", "get_weather").startswith("kept: ")
    assert "served 1 similar request" in run("select", "how is it outside", "-k", "1")
    assert run("forget", "bare").startswith("forgotten")
    assert len(json.loads(run("list", "--json"))) == len(TOOLS)


def test_a_tool_whose_text_is_changed_on_its_way_in_is_known_again(memory: Memory) -> None:
    told = {"name": "open_door", "description": "Opens with password: hunter2-Xk93! and \0 or \ud800."}
    assert memory.tools.register(told, scope=ME).new == ("open_door",)
    assert memory.tools.register(told, scope=ME).known == ("open_door",)


def test_two_servers_and_names_that_read_alike_are_two_tools(memory: Memory) -> None:
    for server, name in (("a", "b/c"), ("a/b", "c")):
        assert memory.tools.register({"name": name}, scope=ME, server=server).new == (name,)
    memory.tools.forget("c", scope=ME, server="a/b")
    assert [one.name for one in memory.tools.registered(scope=ME) if one.server] == ["b/c"]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800", "token=ghp_0123456789abcdefghijABCDEFGHIJ012345"])
def test_a_name_that_cannot_be_kept_as_it_is_is_refused(memory: Memory, name: str) -> None:
    with pytest.raises(InvalidInput, match="rename"):
        memory.tools.register({"name": name}, scope=ME)


def test_a_server_that_no_database_can_hold_is_known_again(memory: Memory) -> None:
    assert memory.tools.register({"name": "x"}, scope=ME, server="\ud800").new == ("x",)
    assert memory.tools.register({"name": "x"}, scope=ME, server="\ud800").known == ("x",)


def test_what_another_registered_since_the_look_is_not_registered_twice(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = memory.tools._of_server

    def late(scope: Scope, server: str) -> Any:
        found = look(scope, server)
        monkeypatch.undo()
        memory.tools.register({"name": "late"}, scope=ME)
        return found

    monkeypatch.setattr(memory.tools, "_of_server", late)
    assert memory.tools.register({"name": "late"}, scope=ME).known == ("late",)
    assert [one.name for one in memory.tools.registered(scope=ME)].count("late") == 1


def test_a_file_nested_too_deep_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text("[" * 200_000, "utf-8")
    store = ["--store", str(tmp_path / "m.db"), "--embedder", "none"]
    with pytest.raises(InvalidInput, match="no JSON"):
        CliRunner().invoke(cli, ["tools", "register", str(tmp_path / "tools.json"), *store], catch_exceptions=False)
