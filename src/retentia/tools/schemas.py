"""Schemas of tools, in the forms that models and servers have them. Pure.

OpenAI: {"type": "function", "function": {name, description, parameters}}, or the same flat. Anthropic: {name,
description, input_schema}. MCP: {name, title, description, inputSchema}, one by one or as the answer to `tools/list`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retentia.errors import InvalidInput
from retentia.model.message import JSON

_PARAMETERS = ("parameters", "input_schema", "inputSchema")
_MOST_NAME = 200
_MOST_TEXT = 2_000
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSchema:
    """One tool: `schema` is as it came in and goes to the model so; `server` tells tools of one name apart."""

    name: str
    server: str
    description: str
    parameters: str
    schema: Mapping[str, JSON]

    @property
    def words(self) -> str:
        """The words of its name."""
        return words_of(self.name)

    @property
    def text(self) -> str:
        """What it is found by: its name on the first line, then name, description and parameters."""
        told = f"{self.words}: {self.description}" if self.description else self.words
        parameters = f" ({self.parameters})" if self.parameters else ""
        return f"{self.words}\n{told[:_MOST_TEXT]}{parameters[:_MOST_TEXT]}"

    @property
    def key(self) -> str:
        """What makes it one: its server and name."""
        return key_of(self.server, self.name)


def key_of(server: str, name: str) -> str:
    """Return what makes a tool one; a slash in the server is written so that it divides nothing."""
    return f"{server.replace('%', '%25').replace('/', '%2F')}/{name}"


def words_of(name: str) -> str:
    """Write a name as words: `get_weather`, `GetWeather` and `get-weather` are "get weather"."""
    return _NO_WORD.sub(" ", _CAMEL.sub(" ", name)).strip()


def read_tools(given: object, *, server: str = "") -> list[ToolSchema]:
    """Read one tool, a list of them, or what an MCP server lists; raise InvalidInput naming the tool that is wrong."""
    if isinstance(given, Mapping) and isinstance(given.get("result"), Mapping) and "name" not in given:
        given = given["result"]
    if isinstance(given, Mapping) and isinstance(given.get("tools"), Sequence) and "name" not in given:
        given = given["tools"]
    tools = [given] if isinstance(given, Mapping) else given
    if isinstance(tools, str) or not isinstance(tools, Sequence):
        raise InvalidInput(f"tools are a schema, a list of them or an MCP list, not {type(given).__name__}")
    read = [_read(one, place, server) for place, one in enumerate(tools)]
    seen: set[str] = set()
    for one in read:
        if one.key in seen:
            raise InvalidInput(f"two tools are called {one.name!r}; name the server of each with `server=`")
        seen.add(one.key)
    return read


def _read(given: object, place: int, server: str) -> ToolSchema:
    if not isinstance(given, Mapping):
        raise InvalidInput(f"tool {place} is no schema but {type(given).__name__}")
    function = given.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else given
    name, description = inner.get("name"), inner.get("description") or inner.get("title") or ""
    if not isinstance(name, str) or not name.strip() or len(name) > _MOST_NAME:
        raise InvalidInput(f"tool {place} needs a name of 1 to {_MOST_NAME} characters, not {_told(name)}")
    if not isinstance(description, str):
        raise InvalidInput(f"the description of tool {name!r} must be text, not {_told(description)}")
    schema: Any = next((inner[field] for field in _PARAMETERS if inner.get(field) is not None), {})
    if not isinstance(schema, Mapping):
        raise InvalidInput(f"the parameters of tool {name!r} must be a JSON schema, not {_told(schema)}")
    try:
        json.dumps(given, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the schema of tool {name!r} is no JSON: {error}") from error
    return ToolSchema(
        name=name,
        server=server,
        description=" ".join(description.split()),
        parameters="; ".join(_parameters(schema)),
        schema=dict(given),
    )


def _told(value: object) -> str:
    return repr(value) if isinstance(value, str) else type(value).__name__


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    properties = schema.get("properties")
    for name, told in properties.items() if isinstance(properties, Mapping) else ():
        described = told.get("description") if isinstance(told, Mapping) else None
        values = told.get("enum") if isinstance(told, Mapping) else None
        text = words_of(str(name))
        if isinstance(described, str) and described.strip():
            text += f": {' '.join(described.split())}"
        if isinstance(values, Sequence) and not isinstance(values, str):
            text += f" ({', '.join(map(str, values[:8]))})"
        yield text
