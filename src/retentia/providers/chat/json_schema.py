"""Check JSON against the part of JSON Schema that is used to ask models for something. Pure.

Checked are types, required properties, enums, constants, lengths, bounds, items, `anyOf`, `oneOf`, `allOf` and local
`$ref`. Properties that a schema does not name are let through, also where it forbids them: models add some, and whoever
reads the value takes what it knows. Other keywords are not looked at.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from retentia.providers.chat.base import JsonSchema

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: _is_number(value) and value == int(value),
    "number": lambda value: _is_number(value),
}
_BOUNDS: Mapping[str, tuple[Callable[[Any], float | None], Callable[[float, float], bool], str]] = {
    "minimum": (lambda value: _number(value), lambda is_, bound: is_ >= bound, "smaller than allowed"),
    "maximum": (lambda value: _number(value), lambda is_, bound: is_ <= bound, "larger than allowed"),
    "exclusiveMinimum": (lambda value: _number(value), lambda is_, bound: is_ > bound, "smaller than allowed"),
    "exclusiveMaximum": (lambda value: _number(value), lambda is_, bound: is_ < bound, "larger than allowed"),
    "minLength": (lambda value: _length(value, str), lambda is_, bound: is_ >= bound, "shorter than allowed"),
    "maxLength": (lambda value: _length(value, str), lambda is_, bound: is_ <= bound, "longer than allowed"),
    "minItems": (lambda value: _length(value, list), lambda is_, bound: is_ >= bound, "shorter than allowed"),
    "maxItems": (lambda value: _length(value, list), lambda is_, bound: is_ <= bound, "longer than allowed"),
}


def problem(value: Any, schema: JsonSchema) -> str:
    """Return "" for a value that fits, or what is wrong and where; names of the schema only, nothing of the value."""
    return _problem(value, schema, schema, "the answer")


def is_object(schema: JsonSchema) -> bool:
    """Tell whether only an object fits."""
    return resolved(schema, schema).get("type") == "object"


def is_strict(schema: Any) -> bool:
    """Tell whether every object in the schema requires all of its properties and allows no other.

    That is what OpenAI's `strict` asks for; it refuses a schema that is not.
    """
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        named = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != named:
            return False
    return all(map(is_strict, schema.values()))


def resolved(schema: Any, root: JsonSchema) -> JsonSchema:
    """Follow local references, such as {"$ref": "#/$defs/Fact"}; what cannot be followed allows everything."""
    for _ in range(20):  # references may run in a circle
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            return schema
        schema = root
        for name in re.findall(r"/([^/]+)", reference) if reference.startswith("#") else ["", ""]:
            schema = schema.get(name, {}) if isinstance(schema, Mapping) else {}
    return {}


def _problem(value: Any, schema: Any, root: JsonSchema, place: str) -> str:
    if schema is False:
        return f"{place} is not allowed"
    schema = resolved(schema, root)
    return (
        _type_problem(value, schema, place)
        or _bound_problem(value, schema, place)
        or _choice_problem(value, schema, root, place)
        or _property_problem(value, schema, root, place)
        or _item_problem(value, schema, root, place)
    )


def _type_problem(value: Any, schema: JsonSchema, place: str) -> str:
    wanted = schema.get("type", [])
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if names and not any(name in _TYPES and _TYPES[name](value) for name in names):
        return f"{place} is not of type {' or '.join(map(str, names))}"
    if "enum" in schema and not any(_same(value, allowed) for allowed in schema["enum"]):
        return f"{place} is none of the allowed values"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{place} is not the one allowed value"
    return ""


def _bound_problem(value: Any, schema: JsonSchema, place: str) -> str:
    for name in schema.keys() & _BOUNDS.keys():
        measure, holds, wrong = _BOUNDS[name]
        measured = measure(value)
        if measured is not None and not holds(measured, schema[name]):
            return f"{place} is {wrong}"
    return ""


def _choice_problem(value: Any, schema: JsonSchema, root: JsonSchema, place: str) -> str:
    for name in ("anyOf", "oneOf"):
        choices = schema.get(name)
        if choices and all(_problem(value, choice, root, place) for choice in choices):
            return f"{place} fits none of the choices"
    return next(filter(None, (_problem(value, part, root, place) for part in schema.get("allOf", ()))), "")


def _property_problem(value: Any, schema: JsonSchema, root: JsonSchema, place: str) -> str:
    if not isinstance(value, dict):
        return ""
    for name in schema.get("required", ()):
        if name not in value:
            return f"{place} lacks {name!r}"
    properties = schema.get("properties", {})
    for name in properties.keys() & value.keys():
        if found := _problem(value[name], properties[name], root, f"{place}.{name}"):
            return found
    others = schema.get("additionalProperties")
    if isinstance(others, Mapping):
        for name in value.keys() - properties.keys():
            if found := _problem(value[name], others, root, f"{place}.*"):
                return found
    return ""


def _item_problem(value: Any, schema: JsonSchema, root: JsonSchema, place: str) -> str:
    if not isinstance(value, list) or "items" not in schema:
        return ""
    found = (_problem(item, schema["items"], root, f"{place}[{at}]") for at, item in enumerate(value))
    return next(filter(None, found), "")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    return value if _is_number(value) else None


def _length(value: Any, kind: type[str] | type[list[Any]]) -> float | None:
    return len(value) if isinstance(value, kind) else None


def _same(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)
