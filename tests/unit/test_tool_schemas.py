"""Schemas of tools in every form that models and servers have them."""

from typing import Any

import pytest

from retentia.errors import InvalidInput
from retentia.tools.schemas import read_tools, words_of

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "where to look"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "exactDay": True,
    },
}
FORMS: dict[str, dict[str, Any]] = {
    "openai": {
        "type": "function",
        "function": {"name": "get_weather", "description": "Look up the weather.", "parameters": PARAMETERS},
    },
    "openai flat": {
        "type": "function",
        "name": "get_weather",
        "description": "Look up the weather.",
        "parameters": PARAMETERS,
    },
    "anthropic": {"name": "get_weather", "description": "Look up the weather.", "input_schema": PARAMETERS},
    "mcp": {"name": "get_weather", "description": "Look up the weather.", "inputSchema": PARAMETERS},
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_reads_alike_and_is_kept_as_it_came(form: str) -> None:
    (one,) = read_tools(FORMS[form])
    assert (one.name, one.description) == ("get_weather", "Look up the weather.")
    assert one.parameters == "city: where to look; unit (celsius, fahrenheit); exact Day"
    assert one.schema == FORMS[form]
    assert one.text.startswith("get weather\nget weather: Look up the weather.")


def test_what_a_server_lists_is_read_whole() -> None:
    listed = {"tools": list(FORMS.values())[3:]}
    for answer in (listed, {"jsonrpc": "2.0", "id": 1, "result": listed}):
        assert [one.key for one in read_tools(answer, server="sky")] == ["sky/get_weather"]


def test_a_tool_without_a_description_is_found_by_its_name() -> None:
    (one,) = read_tools({"name": "getWeatherHTTP2"})
    assert one.text == "get Weather HTTP2\nget Weather HTTP2"


@pytest.mark.parametrize(
    ("name", "words"),
    [("get_weather", "get weather"), ("GetWeather", "Get Weather"), ("HTTPServer", "HTTP Server"), ("a-b.c", "a b c")],
)
def test_a_name_is_written_as_words(name: str, words: str) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ([{"name": "a"}, {"name": "a"}], "two tools are called 'a'"),
        ([{"name": "a"}, 7], "tool 1 is no schema"),
        ({"description": "no name"}, "needs a name"),
        ({"name": " "}, "needs a name"),
        ({"name": "x" * 201}, "needs a name"),
        ({"name": "a", "description": 7}, "description"),
        ({"name": "a", "parameters": [1]}, "JSON schema"),
        ({"name": "a", "parameters": {"x": {1, 2}}}, "no JSON"),
        ({"name": "a", "parameters": {"x": float("nan")}}, "no JSON"),
        ("get_weather", "not str"),
        (7, "not int"),
    ],
)
def test_what_is_no_schema_is_refused_and_named(broken: object, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_tools(broken)


def test_a_slash_in_a_server_or_a_name_makes_no_two_tools_one() -> None:
    keys = {read_tools({"name": name}, server=server)[0].key for server, name in (("a", "b/c"), ("a/b", "c"))}
    assert len(keys) == 2


@pytest.mark.parametrize("field", ["name", "description", "parameters"])
def test_what_is_nested_too_deep_to_be_written_is_refused_all_the_same(field: str) -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="list"):
        read_tools({"name": "x", field: deep})
