"""Read the JSON out of what a model answered, however it is wrapped; say so where there is none.

Models put their answer into fences, think aloud before it, explain it, repeat the schema, answer with a list where an
object was asked for, or with JSON that is not quite JSON (graphiti#868, #912, mem0#4540, letta#507). What is guessed
here is only the wrapping: an answer that was cut off, or that does not fit, is an error that can be retried, never an
empty result.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from retentia.errors import ModelReplyInvalid
from retentia.model.message import JSON
from retentia.providers.chat import json_schema, lenient
from retentia.providers.chat.base import JsonSchema

_THINKING = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection)\b[^<>]{0,100}>", re.IGNORECASE)
_FENCES = ("```", "~~~")
_BETWEEN = re.compile(r"[\s,;]*\Z")
_WRAPPERS = ("properties", "parameters", "arguments", "input", "result", "response", "answer", "output", "data", "json")


def without_thinking(raw: str) -> str:
    """Return what a model said after thinking aloud; "" when it never came to an end."""
    at = 0
    while opened := _THINKING.match(raw, at):
        closed = re.compile(rf"</{opened[1]}\s*>", re.IGNORECASE).search(raw, opened.end())
        if closed is None:
            return ""
        at = closed.end()
    return raw[at:].strip()


def read_value(raw: str, schema: JsonSchema) -> JSON:
    """Return the JSON in an answer that fits the schema; raise ModelReplyInvalid, with the answer, and nothing else."""
    try:
        found, why = _found(raw, schema)
    except RecursionError:
        found, why = None, "it is nested too deeply"
    if found is None:
        raise ModelReplyInvalid(f"the chat model's answer cannot be used: {why}; ask again", reply=raw)
    value: JSON = found[0]
    return value


def sound(value: Any) -> Any:
    """Return JSON with texts that can be stored: surrogate pairs are joined, halves become U+FFFD."""
    match value:
        case str():
            return _sound_text(value)
        case list():
            return [sound(item) for item in value]
        case dict():
            return {_sound_text(key): sound(entry) for key, entry in value.items()}
    return value


def _found(raw: str, schema: JsonSchema) -> tuple[tuple[Any] | None, str]:
    """Return the value that fits best, in a tuple since it may be null, or why there is none."""
    text = without_thinking(raw)
    if not text:
        return None, "it thought aloud and never answered" if raw.strip() else "it is empty"
    whole = list(_whole(text))
    parts, is_cut = ([], False) if whole else _parts(text, schema)
    values = [value for value in whole if not _is_echo(value, schema)] + parts
    # The last one is the conclusion; an empty one is one only where there is nothing else.
    values.sort(key=bool)
    for value in reversed(values):
        if _fits(value, schema):
            return (sound(value),), ""
    for value in reversed(values):
        for inner in _unwrapped(value, schema):
            if _fits(inner, schema):
                return (sound(inner),), ""
    if is_cut:
        return None, "it was cut off"
    if values:
        return None, json_schema.problem(values[-1], schema) or "it has nothing of what was asked for"
    return None, "it only repeats the schema" if whole else "it holds no JSON"


def _whole(text: str) -> Iterator[Any]:
    """Yield what the text is as a whole, once or twice encoded."""
    for candidate in (text, _unfenced(text)):
        try:
            value = _strict(candidate)
        except ValueError:
            continue
        yield value
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            yield from _whole(value)
        return


def _unfenced(text: str) -> str:
    if len(text) > 6 and text[:3] in _FENCES and text.endswith(text[:3]):
        return text[3:-3].partition("\n")[2]
    return ""


def _parts(text: str, schema: JsonSchema) -> tuple[list[Any], bool]:
    """Return the JSON between the words, neighbours as one list, and whether some of it was cut off."""
    found, is_cut = lenient.spans(text)
    values: list[Any] = []
    run: list[Any] = []
    end = 0
    for span in found:
        try:
            value = _lenient(text[span.start : span.end])
        except ValueError:
            continue
        if _is_echo(value, schema):
            continue
        if run and not _BETWEEN.match(text, end, span.start):
            values += _as_run(run, schema)
            run = []
        run.append(value)
        end = span.end
    return values + _as_run(run, schema), is_cut


def _as_run(values: list[Any], schema: JsonSchema) -> list[Any]:
    """Return neighbours as one list, unless one of them is the answer by itself.

    Objects one after the other, such as JSON Lines, are a list: taking the last one would lose the others.
    """
    fitting = [value for value in values if _fits(value, schema)]
    if fitting and all(value == fitting[0] for value in fitting):
        return fitting[:1]
    return [values] if len(values) > 1 else values


def _lenient(text: str) -> Any:
    try:
        return _strict(text)
    except ValueError:
        value = lenient.read(text)
        if not _is_finite(value):
            raise lenient.NotJSON("a number that is not finite") from None
        return value


def _strict(text: str) -> Any:
    value = json.loads(text, strict=False, parse_constant=_no_constant, object_pairs_hook=_entries)
    if not _is_finite(value):
        raise lenient.NotJSON("a number that is not finite")
    return value


def _no_constant(name: str) -> None:
    raise lenient.NotJSON(f"{name} is no JSON")


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs) and any(entries[key] != value for key, value in pairs):
        raise lenient.NotJSON("a key stands twice")  # one of the two would be lost
    return entries


def _is_finite(value: Any) -> bool:
    match value:
        case float():
            return math.isfinite(value)
        case list():
            return all(map(_is_finite, value))
        case dict():
            return all(map(_is_finite, value.values()))
    return True


def _fits(value: Any, schema: JsonSchema) -> bool:
    """Tell whether a value is an answer: it fits, and knows at least one of the properties, if it has any."""
    if json_schema.problem(value, schema):
        return False
    named = json_schema.resolved(schema, schema).get("properties")
    return not (named and isinstance(value, dict) and value and value.keys().isdisjoint(named))


def _is_echo(value: Any, schema: JsonSchema) -> bool:
    """Tell whether a value is the schema that was asked by, filled in or not."""
    if value == schema:
        return True
    asked = schema.get("properties")
    return isinstance(value, dict) and bool(asked) and value.get("properties") == asked


def _unwrapped(value: Any, schema: JsonSchema) -> Iterator[Any]:
    """Yield what an answer may mean that does not fit: the only item, the only property's list, or what it wraps."""
    if isinstance(value, list) and len(value) == 1:
        yield value[0]
    if isinstance(value, list) and json_schema.is_object(schema) and (name := _list_property(schema)):
        yield {name: value}
    if isinstance(value, dict):
        yield from (value[name] for name in _WRAPPERS if name in value)
        if not json_schema.is_object(schema) and len(value) == 1:
            yield from value.values()


def _list_property(schema: JsonSchema) -> str:
    """Return the property that holds the list an object was asked for; "" unless there is exactly one."""
    properties = json_schema.resolved(schema, schema).get("properties", {})
    lists = [name for name, inner in properties.items() if json_schema.resolved(inner, schema).get("type") == "array"]
    return lists[0] if len(lists) == 1 else ""


def _sound_text(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
